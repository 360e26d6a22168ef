// Requests about many names: renewals and listings.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stores/compare/client_state.hpp"
#include "stores/compare/name_work.hpp"

namespace holdfast::stores::compare {

/// Thread-safety: none; it belongs to its machine.
class gatherings {
public:
    using continuation = std::function<void(seam::reply_body)>;

    gatherings(client_state& client, name_work& work) : client_{client}, work_{work} {}

    /// Keeps the sessions of the claims alive. Claims that wait, and those that may have ended unheard, are
    /// looked at; of the others the life of their session says all.
    void renew(seam::renew const& what, continuation done);

    void inspect(seam::inspect const& what, continuation done);

    /// Those that come while a name is being read are answered together by the next look.
    void read(seam::read what, continuation done);

    /// Looks at the next few names of the store, and clears away what time has ended there.
    void sweep();

    using receiver = std::function<void(std::vector<view>*, base::error const&)>;
    void fetch(std::vector<name_query> names, receiver then);

private:
    struct renewal_run;
    struct inspection_run;
    /// Claims of one name that are looked for together.
    struct look_group {
        name_key key;
        std::vector<std::size_t> items;  ///< of the renewal
    };
    struct reader {
        seam::read what;
        continuation done;
    };
    struct name_reads {
        std::vector<reader> waiting{};
        bool busy{false};
    };
    using renewal = std::shared_ptr<renewal_run>;
    using inspection = std::shared_ptr<inspection_run>;

    void on_kept(renewal const& run, std::vector<kept> const& found);
    void look(renewal const& run);
    void look_at(renewal const& run, std::vector<look_group> groups);
    void judge(renewal const& run, std::vector<std::size_t> const& items, view seen,
               std::uint64_t stretch);
    void finish_one(renewal const& run);
    void list(inspection const& run, listing wanted);
    void begin_reads(name_key const& key);
    void look_for(name_query asked, std::shared_ptr<std::vector<reader>> const& readers);
    [[nodiscard]] judging looking() const;
    void look_at(inspection const& run, std::vector<std::string> const& names);
    void describe(inspection const& run, view const& seen);
    static void order_waiters(lock_info& name, view const& seen);

    client_state& client_;
    name_work& work_;
    std::map<name_key, name_reads> reads_;
    std::string swept_{};  ///< up to this name
    bool sweeping_{false};
};

}  // namespace holdfast::stores::compare
