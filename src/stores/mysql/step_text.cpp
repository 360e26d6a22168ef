// A step as statements of one packet: guard, conditions, both branches. What a step lacks is left out.
#include <string>

#include "stores/mysql/statements.hpp"

namespace holdfast::stores::mysql {

namespace {

// In a statement behind one that may have waited for a lock: a statement's time is that of its beginning.
std::string in_time(compare::step const& what) {
    return what.not_after ? " AND ^<=" + number(what.not_after->time_since_epoch().count()) : "";
}

// The lock is held to the end of the transaction, and a new generation waits for it.
std::string guard_of(compare::step const& what, std::string const& found, char const* condition) {
    std::string out{"START TRANSACTION;SELECT COUNT(*)" + found + " FROM %session WHERE id=" +
                    number(what.self) + " AND generation=" + number(what.of) + " AND expires>^"};
    return out + in_time(what) + condition + " LOCK IN SHARE MODE;";
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

// Those in the line whom the step's client has not seen. A place is drawn before others can see who has it, so they may
// stand before those whom it has.
std::string unseen(compare::step const& what) {
    std::string out{"(SELECT 1 FROM %line WHERE " + of_name(what.key)};
    if (!what.seen_places.empty())
        out += " AND place NOT IN (" +
               list_of(what.seen_places, [](auto place) { return number(place); }) + ")";
    return out;
}

// Read when the head is locked: whoever else lets somebody leave the line has to lock it, too.
std::string line_conditions_of(compare::step const& what) {
    std::string out{"SELECT @s IS NOT NULL" + in_time(what)};
    if (!what.present.empty()) {
        std::string items;
        for (auto const& each : what.present)
            items += (items.empty() ? "" : " OR ") + ("place=" + number(each.place)) +
                     " AND claim=" + literal(each.id);
        out += " AND (SELECT COUNT(*) FROM %line WHERE " + of_name(what.key) + " AND (" + items +
               "))=" + std::to_string(what.present.size());
    }
    if (what.nobody_behind) out += " AND NOT EXISTS " + unseen(what) + ")";
    return out + " INTO @d;";
}

// The head first: whoever changes a name locks it before anything else of the name.
std::string conditions_of(compare::step const& what) {
    auto const name = of_name(what.key);
    bool const absent = what.expected == compare::stamp{};
    std::string out;
    if (absent)
        out += "INSERT INTO %head (name,kind,stamp,erased) SELECT " + literal(what.key.name) +
               (what.key.condition ? ",1" : ",0") +
               ",0,^ FROM DUAL WHERE @g ON DUPLICATE KEY UPDATE stamp=%head.stamp;";
    // Most steps want nobody in the line at all: then the head's statement tells everything. It may have looked at the
    // line before it got its lock, which the look after the end makes good.
    bool const more = !what.present.empty() || !what.seen_places.empty();
    out += std::string{"$SELECT GREATEST(stamp+1,#)"} + (more ? " INTO @s" : ",1 INTO @s,@d") +
           " FROM %head WHERE " + name + " AND " +
           (absent ? "body IS NULL" : "body IS NOT NULL AND stamp=" + number(what.expected)) +
           " AND @g";
    if (what.nobody_behind && !more) out += " AND NOT EXISTS " + unseen(what) + ")";
    out += " FOR UPDATE;";
    if (more) return out + line_conditions_of(what);
    return what.not_after ? out + "SET @d=@d" + in_time(what) + ";" : out;
}

// Read when the head is locked, as the line is: whoever else proposes has to lock it, too.
std::string ballot_condition_of(compare::step const& what) {
    if (!what.ballot || !what.ballot->compared) return {};
    return "SET @d=@d AND " + number(what.ballot->number) + ">" +
           packets::ballot_to_exceed(what.key) + ";";
}

std::string ballot_of(compare::step const& what) {
    if (!what.ballot) return {};
    auto const ballot = number(what.ballot->number);
    return "INSERT INTO %ballot (name,kind,ballot,granted) SELECT " + literal(what.key.name) +
           (what.key.condition ? ",1," : ",0,") + ballot +
           ",^ FROM DUAL WHERE @d ON DUPLICATE KEY UPDATE ballot=GREATEST(%ballot.ballot," +
           ballot + "),granted=VALUES(granted);";
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
        out += "DELETE FROM %line WHERE @d AND " + name + " AND place IN (" +
               list_of(what.leave, [](auto const& each) { return number(each.place); }) + ");";
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
        behind = "EXISTS " + unseen(what);
        // Those who join by the step itself are not behind.
        if (!what.append.empty())
            behind += " AND claim NOT IN (" +
                      list_of(what.append, [](auto const& each) { return literal(each.id); }) + ")";
        behind += ")";
    }
    return guard_of(what, ",NULL,0 INTO @g,@s,@d", "") + conditions_of(what) +
           ballot_condition_of(what) + changes_of(what) + ballot_of(what) +
           "COMMIT;SELECT ^,@g,IF(@d,@s,NULL)," + behind;
}

std::string packets::second_branch(compare::step const& what, bool along) {
    if (what.append_otherwise.empty()) return look(what.otherwise);
    return guard_of(what, " INTO @g", along ? " AND NOT @d" : "") +
           (what.not_after ? "SET @g=@g" + in_time(what) + ";" : "") +
           append(what, what.append_otherwise, "@g") + "COMMIT;SELECT ^,@g;" + look(what.otherwise);
}

}  // namespace holdfast::stores::mysql
