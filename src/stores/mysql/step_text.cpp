// A step as statements of one packet: guard, conditions, both branches. What a step lacks is left out.
#include <string>

#include "stores/mysql/statements.hpp"

namespace holdfast::stores::mysql {

namespace {

// The lock is held to the end of the transaction, and a new generation waits for it.
std::string guard_of(compare::step const& what, std::string const& found, char const* condition) {
    std::string out{"START TRANSACTION;SELECT COUNT(*)" + found + " FROM %session WHERE id=" +
                    number(what.self) + " AND generation=" + number(what.of) + " AND expires>^"};
    if (what.not_after) out += " AND ^<=" + number(what.not_after->time_since_epoch().count());
    return out + condition + " LOCK IN SHARE MODE;";
}

std::string append(compare::step const& what, std::vector<compare::line_item> const& items,
                   char const* condition) {
    std::string rows;
    for (auto const& each : items)
        rows += (rows.empty() ? "" : " UNION ALL ") + ("SELECT " + literal(what.key.name)) +
                (what.key.condition ? ",1," : ",0,") + literal(each.id) + "," +
                number(each.session) + "," + literal(each.body) + " FROM DUAL WHERE " + condition;
    return "INSERT INTO %line (name,kind,claim,session,body) " + rows +
           " ON DUPLICATE KEY UPDATE place=%line.place;";
}

// The head first, then the line: whoever locks several rows of a name locks them in the same order.
std::string conditions_of(compare::step const& what) {
    auto const name = of_name(what.key);
    bool const absent = what.expected == compare::stamp{};
    std::string out;
    if (absent)
        out += "INSERT INTO %head (name,kind,stamp,erased) SELECT " + literal(what.key.name) +
               (what.key.condition ? ",1" : ",0") +
               ",0,^ FROM DUAL WHERE @g ON DUPLICATE KEY UPDATE stamp=%head.stamp;";
    // Most steps want nobody in the line at all: then the head's statement tells everything.
    bool const empty = what.nobody_behind && *what.nobody_behind == 0;
    bool const more = !what.present.empty() || (what.nobody_behind && !empty);
    out += std::string{"$SELECT GREATEST(stamp+1,#)"} + (more ? " INTO @s" : ",1 INTO @s,@d") +
           " FROM %head WHERE " + name + " AND " +
           (absent ? "body IS NULL" : "body IS NOT NULL AND stamp=" + number(what.expected)) +
           " AND @g";
    if (what.not_after) out += " AND ~<=" + number(what.not_after->time_since_epoch().count());
    if (empty) out += " AND NOT EXISTS (SELECT 1 FROM %line WHERE " + name + ")";
    out += " FOR UPDATE;";
    if (!more) return out;
    std::string all{"@s IS NOT NULL"};
    if (!what.present.empty()) {
        std::string items;
        for (auto const& each : what.present)
            items += (items.empty() ? "" : " OR ") + ("place=" + number(each.place)) +
                     " AND claim=" + literal(each.id);
        out += "SELECT COUNT(*) INTO @p FROM %line WHERE @s IS NOT NULL AND " + name + " AND (" +
               items + ") FOR UPDATE;";
        all += " AND @p=" + std::to_string(what.present.size());
    }
    if (what.nobody_behind && !empty) {
        out +=
            "SELECT GROUP_CONCAT(place),COALESCE(MAX(place),0) INTO @seen,@last FROM %line WHERE " +
            name + ";";
        all += " AND @last<=" + number(*what.nobody_behind);
    }
    return out + "SET @d=(" + all + ");";
}

std::string changes_of(compare::step const& what) {
    auto const name = of_name(what.key);
    std::string out;
    std::string const stamps =
        what.head && what.head->announced ? "stamp=@s,announced=@s" : "stamp=@s";
    if (what.head && what.head->erase) {
        out += "UPDATE %head SET " + stamps +
               ",body=NULL,sessions=NULL,bound=NULL,erased=^ WHERE " + name + " AND @d;";
    } else if (what.head) {
        std::string sessions;
        for (auto const id : what.head->sessions)
            sessions += base::hex(static_cast<std::uint64_t>(id));
        out += "UPDATE %head SET " + stamps + ",body=" + literal(what.head->body) + ",sessions=X'" +
               sessions + "',bound=" + (what.head->bound ? number(*what.head->bound) : "NULL") +
               ",erased=NULL WHERE " + name + " AND @d;";
    }
    if (!what.leave.empty())
        out += "DELETE FROM %line WHERE @d AND " + name + " AND claim IN (" +
               list_of(what.leave, [](auto const& each) { return literal(each.id); }) + ");";
    if (!what.append.empty()) out += append(what, what.append, "@d");
    std::string letters;
    for (auto const& each : what.letters)
        letters += (letters.empty() ? "" : " UNION ALL ") + ("SELECT " + number(each.to)) + ",@s," +
                   literal(each.body) + " FROM DUAL WHERE @d";
    if (!letters.empty()) out += "INSERT INTO %mail (session,stamp,body) " + letters + ";";
    return out;
}

}  // namespace

std::string packets::first_branch(compare::step const& what) {
    std::string behind{"NULL"};
    if (what.nobody_behind) {
        // One is enough where nobody was there.
        behind = std::string{"(SELECT "} +
                 (*what.nobody_behind == 0 ? "place" : "GROUP_CONCAT(place)") +
                 " FROM %line WHERE " + of_name(what.key);
        // Those who join by the step itself are not behind.
        if (!what.append.empty())
            behind += " AND claim NOT IN (" +
                      list_of(what.append, [](auto const& each) { return literal(each.id); }) + ")";
        behind += *what.nobody_behind == 0 ? " LIMIT 1)" : ")";
    }
    return guard_of(what, ",NULL,NULL,0 INTO @g,@s,@seen,@d", "") + conditions_of(what) +
           changes_of(what) + "COMMIT;SELECT ^,@g,IF(@d,@s,NULL),@seen," + behind;
}

std::string packets::second_branch(compare::step const& what, bool along) {
    if (what.append_otherwise.empty()) return look(what.otherwise);
    return guard_of(what, " INTO @g", along ? " AND NOT @d" : "") +
           append(what, what.append_otherwise, "@g") + "COMMIT;SELECT ^,@g;" + look(what.otherwise);
}

}  // namespace holdfast::stores::mysql
