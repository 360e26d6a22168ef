#include "redis/leaks.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace holdfast::redis_faults {

namespace {

/// The names of our connections at a server: holdfast-CLIENT-KIND.
std::multiset<std::string> names_of_ours(redis_server const& server) {
    std::istringstream words{server.ask({"CLIENT", "LIST"})};
    std::multiset<std::string> out;
    constexpr std::string_view label = "name=";
    for (std::string word; words >> word;)
        if (word.starts_with("name=holdfast-")) out.insert(word.substr(label.size()));
    return out;
}

/// Collects what is wrong, in words.
class inspection {
public:
    void visit(redis_server const& server, bool is_master, bool is_guide) {
        auto const connections = names_of_ours(server);
        for (auto const& name : connections) {
            auto const kind = name.substr(name.rfind('-') + 1);
            bool const finds = kind == "discovery" || kind == "switches";
            if (!(finds ? is_guide : is_master)) complain(name + " where it has nothing to do");
            if (connections.count(name) > 1) complain(name + " twice at one server");
            if (finds || kind == "messages") ++single_[name];
        }
        std::istringstream channels{server.ask({"PUBSUB", "CHANNELS", "holdfast:client:*"})};
        for (std::string channel; std::getline(channels, channel);) {
            if (channel.starts_with('-'))
                break;  // a sentinel has none of ours, and does not know the word
            auto const said = server.ask({"PUBSUB", "NUMSUB", channel});
            listeners_[channel] += std::stoul(said.substr(said.rfind('\n') + 1));
        }
    }

    [[nodiscard]] std::string complaints(std::size_t clients) {
        for (auto const& [name, count] : single_)
            if (count > 1) complain(name + " at several servers");
        for (auto const& [channel, count] : listeners_)
            if (count != 1) complain(std::to_string(count) + " listeners of " + channel);
        if (listeners_.size() != clients)
            complain(std::to_string(listeners_.size()) + " clients listen");
        return std::move(words_);
    }

private:
    void complain(std::string const& words) { words_ += words + "\n"; }

    std::map<std::string, std::size_t> single_;  ///< of which a client has one only
    std::map<std::string, std::size_t> listeners_;
    std::string words_;
};

bool has(std::vector<redis_server const*> const& all, redis_server const* one) {
    return std::ranges::find(all, one) != all.end();
}

}  // namespace

used_servers in_use(support::redis_sentinels& servers) {
    used_servers out{.masters = {&servers.master()}, .guides = {}};
    for (std::size_t i = 0; i < 3; ++i) {
        out.guides.push_back(&servers.sentinel(i));
        out.others.push_back(&servers.server(i));
    }
    return out;
}

used_servers in_use(support::redis_cluster& nodes, redis_server const* removed) {
    used_servers out;
    for (auto const* const each : nodes.masters())
        out.masters.push_back(each);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        (&nodes.node(i) == removed ? out.others : out.guides).push_back(&nodes.node(i));
    return out;
}

void expect_no_leaks(used_servers const& at, std::size_t clients) {
    std::set<redis_server const*> all;
    for (auto const* const some : {&at.masters, &at.guides, &at.others})
        all.insert(some->begin(), some->end());
    std::string wrong;
    EXPECT_TRUE(eventually([&] {
        inspection here;
        for (auto const* const each : all)
            if (each->is_alive()) here.visit(*each, has(at.masters, each), has(at.guides, each));
        wrong = here.complaints(clients);
        return wrong.empty();
    })) << wrong;
}

std::size_t connections_of_ours(redis_server const& server) { return names_of_ours(server).size(); }

}  // namespace holdfast::redis_faults
