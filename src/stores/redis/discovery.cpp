#include "stores/redis/discovery.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "stores/redis/fault.hpp"

namespace holdfast::stores::redis {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::chrono::seconds calm_pause{5};
constexpr milliseconds troubled_pause{200};
constexpr milliseconds shortest_pause{30};
// For a subscription, before it is tried at another sentinel.
constexpr milliseconds news_patience{1500};

constexpr char const* switch_channel = "+switch-master";

enum part : std::size_t { address, epoch, others, slot_ranges };

}  // namespace

discovery::discovery(std::shared_ptr<settings const> of, std::string const& name, listener& to,
                     net::poller& events, tags about)
    : of_{std::move(of)},
      listener_{to},
      about_{about},
      random_{base::entropy()},
      line_{of_, name + "-discovery", *this, events, about.questions, base::entropy()} {
    for (auto const& each : of_->hosts)
        guides_.push_back({each.host, each.port});
    // Clients that begin together do not all begin with the same one.
    current_ = static_cast<std::size_t>(random_.below(guides_.size()));
    line_.lead_to(guide());
    if (of_->kind != deployment::sentinel) return;
    subscription::listener& heard_by = *this;
    news_.emplace(guide(), name + "-switches", switch_channel, heard_by, events, about.news,
                  base::entropy());
    news_->start();
}

std::shared_ptr<settings const> discovery::guide() const {
    auto const& where = guides_[current_];
    return std::make_shared<settings const>(
        of_->at_guide({.host = where.host, .port = where.port}));
}

// --- when ----------------------------------------------------------------------------------------

void discovery::hurry(base::instant now) noexcept {
    now_ = std::max(now_, now);
    hurried_ = true;
}

base::instant discovery::ask_at(bool troubled) const noexcept {
    if (unanswered_ > 0) return base::never;
    if (hurried_) return base::after(asked_at_, shortest_pause);
    if (failing_)
        return base::after(asked_at_,
                           std::max<milliseconds>(shortest_pause, troubled_pause / guides_.size()));
    return base::after(asked_at_, troubled ? nanoseconds{troubled_pause} : nanoseconds{calm_pause});
}

void discovery::tend(base::instant now, bool troubled) {
    now_ = now;
    if (now >= ask_at(troubled)) ask(troubled || hurried_);
    line_.tend(now);
    line_.flush(now);
    if (!news_) return;
    follow_news();
    news_->tend(now);
    news_->flush(now);
}

base::instant discovery::next_due(bool troubled) const noexcept {
    auto due = std::min(line_.next_due(), ask_at(troubled));
    if (news_) due = std::min({due, news_->next_due(), news_elsewhere_at_});
    return due;
}

void discovery::follow_news() {
    if (news_->is_heard()) {
        news_elsewhere_at_ = base::never;
    } else if (news_elsewhere_at_ == base::never) {
        news_elsewhere_at_ = now_ + news_patience;
    } else if (now_ >= news_elsewhere_at_) {
        news_->lead_to(guide(), now_);
        news_elsewhere_at_ = now_ + news_patience;
    }
}

// --- questions -----------------------------------------------------------------------------------

void discovery::turn_to_next() {
    current_ = (current_ + 1) % guides_.size();
    line_.cut({errc::store_unavailable, "another one is asked"}, now_);
    line_.lead_to(guide());
}

void discovery::ask(bool troubled) {
    // Where there is trouble, and the last one saw no change, another one may.
    if (failing_ || (troubled && unchanged_)) turn_to_next();
    hurried_ = failing_ = false;
    asked_at_ = now_;
    failed_.reset();
    found_ = {};
    auto const send = [this](command what, part which) {
        ++unanswered_;
        line_.send(std::move(what), *this, which, now_);
    };
    if (of_->kind == deployment::cluster) {
        command out{"CLUSTER"};
        out << "SLOTS";
        return send(std::move(out), slot_ranges);
    }
    // Answered in one go, so that the epoch is that of the address.
    for (auto const& [word, which] : {std::pair{"GET-MASTER-ADDR-BY-NAME", address},
                                      std::pair{"MASTER", epoch}, std::pair{"SENTINELS", others}}) {
        command out{"SENTINEL"};
        out << word << of_->master_name;
        send(std::move(out), which);
    }
}

void discovery::on_answer(std::size_t which, answer const& what, seam::clock_id) {
    take_part(which, what);
    count_answer();
}

void discovery::take_part(std::size_t which, answer const& what) {
    auto const& here = guides_[current_];
    switch (which) {
    case slot_ranges: found_ = read_slots(what, here); break;
    case address: found_.masters = read_master_address(what); break;
    case epoch: found_.epoch = read_epoch(what); break;
    case others:
        found_.guides = read_sentinels(what);
        found_.guides.push_back(here);
        break;
    default: break;
    }
}

// A sentinel that does not know the name says so to each question in its way: the first one tells.
void discovery::on_failure(std::size_t which, base::error const& why) {
    if (which == epoch || which == others) return count_answer();
    on_cut(which, why);
}

void discovery::on_cut(std::size_t, base::error const& why) {
    if (!failed_) failed_ = why;
    count_answer();
}

void discovery::count_answer() {
    if (--unanswered_ == 0) conclude();
}

void discovery::conclude() {
    asked_at_ = now_;
    if (!failed_ && found_.masters.empty()) {
        auto const who = line_.target().shown();
        failed_ = {errc::store_unavailable,
                   of_->kind == deployment::sentinel
                       ? "the sentinel at " + who + " knows no master of the name '" +
                             of_->master_name + "'; see the name behind the hosts of the store URL"
                       : "the node at " + who + " knows of nobody who serves any slot"};
    }
    if (failed_) {
        older_.forget(guides_[current_]);
        return fail(*failed_);
    }
    // To whom it may not name the others those of the URL are all there are.
    if (found_.guides.empty()) found_.guides = with_seeds({guides_[current_]});
    found_.epoch < epoch_ ? doubt(std::move(found_)) : follow(std::move(found_));
}

void discovery::follow(topology found) {
    older_.clear();
    epoch_ = found.epoch;
    failures_ = 0;
    unchanged_ = known_ == found.masters;
    known_ = std::move(found.masters);
    sentinels_ = found.guides.size();
    followed_ = with_seeds(std::move(found.guides));
    turn_to(followed_);
    listener_.on_topology({known_, {}, epoch_, std::move(found.remark)});
}

// One that was cut off still tells of the master before, and is not followed. Where all do, and nobody is left who
// might know better, that is the truth, and whatever they do from now on is told with low epochs.
void discovery::doubt(topology found) {
    base::error why{errc::store_unavailable,
                    "the sentinel at " + line_.target().shown() + " tells of configuration " +
                        std::to_string(found.epoch) + ", after " + std::to_string(epoch_) +
                        " was followed: it was cut off, or the sentinels were made anew"};
    older_.add(guides_[current_], std::move(found));
    if (auto const* const agreed = older_.agreed(sentinels_)) {
        auto believed = *agreed;
        believed.remark = why.text + "; all tell so now, and are followed";
        return follow(std::move(believed));
    }
    auto all = followed_;
    for (auto& each : older_.guides())
        if (std::ranges::find(all, each) == all.end()) all.push_back(std::move(each));
    turn_to(std::move(all));
    fail(std::move(why));
}

void discovery::fail(base::error why) {
    failing_ = true;
    if (++failures_ < guides_.size()) return;
    failures_ = 0;
    if (of_->kind == deployment::sentinel && why.is(errc::access_denied))
        why.text +=
            "; a sentinel has its own: see the options 'sentineluser' and "
            "'sentinelpasswordfile' of the store URL";
    listener_.on_no_topology(why);
}

std::vector<server_address> discovery::with_seeds(std::vector<server_address> found) const {
    for (auto const& each : of_->hosts)
        if (server_address const seed{each.host, each.port};
            std::ranges::find(found, seed) == found.end())
            found.push_back(seed);
    return found;
}

void discovery::turn_to(std::vector<server_address> guides) {
    auto const here = guides_[current_];
    guides_ = std::move(guides);
    auto const place = std::ranges::find(guides_, here);
    if (place == guides_.end()) {
        failing_ = true;
        current_ = 0;
    } else {
        current_ = static_cast<std::size_t>(place - guides_.begin());
    }
}

// --- what comes ----------------------------------------------------------------------------------

void discovery::take(net::poller::tag ready, base::instant now) {
    now_ = now;
    if (ready == about_.questions) line_.on_ready(now);
    if (ready == about_.news && news_) news_->on_ready(now);
}

bool discovery::has_more() const noexcept {
    return line_.has_more() || (news_ && news_->line().has_more());
}

void discovery::on_push(answer const&) { throw garbled{"an answer came that nobody asked for"}; }

// The name, the old address and the new one: a hint, after which somebody is asked.
void discovery::on_message(std::string_view message) {
    if (message.substr(0, message.find(' ')) == of_->master_name) hurry(now_);
}

void discovery::cut(base::error const& why, base::instant now) {
    line_.cut(why, now);
    if (news_) news_->line().cut(why, now);
}

void discovery::abandon() noexcept {
    line_.abandon();
    if (news_) news_->line().abandon();
}

}  // namespace holdfast::stores::redis
