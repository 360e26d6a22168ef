// Options become terms, or bad_option with words that name the option.
#include "core/terms.hpp"

#include <system_error>

#include <gtest/gtest.h>

#include <holdfast/error.hpp>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

terms of(lock_options const& options) { return make_terms({.name = "n"}, options); }

void expect_refused(lock_options const& options, std::string_view word) {
    try {
        (void)of(options);
        FAIL() << word << " was taken";
    } catch (std::system_error const& error) {
        EXPECT_EQ(error.code(), make_error_code(errc::bad_option));
        EXPECT_NE(std::string_view{error.what()}.find(word), std::string_view::npos)
            << error.what();
    }
}

TEST(terms, defaults) {
    auto const it = of({});
    EXPECT_EQ(it.spec->lease, 30s);
    EXPECT_TRUE(it.renew);
    EXPECT_EQ(it.renew_every, 10s);
    EXPECT_FALSE(it.max_hold);
    EXPECT_EQ(it.min_hold, 0ms);
    EXPECT_EQ(it.grace, 0ms);
    EXPECT_EQ(it.spec->order, ordering::barging);
    EXPECT_FALSE(it.retry);
    EXPECT_EQ(it.local_passes, 64);
    EXPECT_TRUE(it.sharable());
}

TEST(terms, keep_what_was_asked_for) {
    auto const it = of({.lease = 5s,
                        .renew = false,
                        .renew_every = 1s,
                        .max_hold = 9s,
                        .min_hold = 2s,
                        .grace = 500ms,
                        .order = ordering::fair,
                        .retry = retry::never(),
                        .local_passes = 7,
                        .label = "l",
                        .owner = "o"});
    EXPECT_EQ(it.spec->lease, 5s);
    EXPECT_FALSE(it.renew);
    EXPECT_EQ(it.renew_every, 1s);
    EXPECT_EQ(it.max_hold, 9s);
    EXPECT_EQ(it.min_hold, 2s);
    EXPECT_EQ(it.grace, 500ms);
    EXPECT_EQ(it.spec->order, ordering::fair);
    EXPECT_TRUE(it.single_attempt);
    EXPECT_EQ(it.local_passes, 7);
    EXPECT_EQ(it.spec->label, "l");
    EXPECT_EQ(it.spec->owner, "o");
}

TEST(terms, ranges) {
    expect_refused({.lease = 19ms}, "lease");
    expect_refused({.lease = -1s}, "lease");
    expect_refused({.lease = std::chrono::hours{24 * 366}}, "lease");
    expect_refused({.renew_every = 0ms}, "renew_every");
    expect_refused({.renew_every = 30s}, "renew_every");
    expect_refused({.max_hold = 0ms}, "max_hold");
    expect_refused({.min_hold = -1ms}, "min_hold");
    expect_refused({.min_hold = std::chrono::hours{24 * 366}}, "min_hold");
    expect_refused({.max_hold = 1s, .min_hold = 2s}, "min_hold");
    expect_refused({.grace = -1ms}, "grace");
    expect_refused({.grace = 30s}, "grace");
    expect_refused({.local_passes = -1}, "local_passes");
    expect_refused({.local_passes = 256}, "local_passes");
    EXPECT_NO_THROW((void)of({.lease = 20ms}));
    EXPECT_NO_THROW((void)of({.lease = 20ms, .grace = 7ms}));
    EXPECT_NO_THROW((void)of({.lease = std::chrono::hours{24 * 365}, .grace = 1h}));
    EXPECT_NO_THROW((void)of({.local_passes = 255}));
}

TEST(terms, a_grace_leaves_time_to_renew) {
    expect_refused({.lease = 4s, .grace = 3'949ms}, "grace");
    EXPECT_NO_THROW((void)of({.lease = 4s, .grace = 3'948ms}));
    for (auto const grace : {0ms, 1'000ms, 2'000ms, 2'700ms, 3'000ms, 3'900ms, 3'948ms}) {
        auto const its = of({.lease = 4s, .grace = grace});
        EXPECT_LE(2 * its.renew_every, usable_time(4s, grace)) << grace.count();
        EXPECT_GT(its.renew_every, 0ms);
    }
    EXPECT_EQ(of({.lease = 3s}).renew_every, 1s);
    expect_refused({.lease = 4s, .renew_every = 1'300ms, .grace = 2'700ms}, "renew_every");
    expect_refused({.lease = 4s, .renew_every = 3'958ms}, "renew_every");
    EXPECT_NO_THROW((void)of({.lease = 4s, .renew_every = 1'100ms, .grace = 2'700ms}));
}

TEST(terms, who_may_share_a_line) {
    EXPECT_FALSE(of({.order = ordering::fair}).sharable());
    EXPECT_FALSE(of({.retry = retry::never()}).sharable());
    EXPECT_FALSE(of({.renew = false}).sharable()) << "the next would get what is left of the lease";
    EXPECT_FALSE(make_terms({.name = "n", .mode = claim_mode::shared}, {}).sharable());
    EXPECT_FALSE(make_terms({.name = "n", .joins = true}, {.owner = "o"}).sharable());
    EXPECT_TRUE(of({}).same_queue(of({})));
    for (auto const& other :
         {lock_options{.lease = 29s}, lock_options{.max_hold = 1s}, lock_options{.min_hold = 1s},
          lock_options{.grace = 1s}, lock_options{.local_passes = 1}, lock_options{.label = "x"},
          lock_options{.owner = "x"}, lock_options{.renew_every = 1s}})
        EXPECT_FALSE(of({}).same_queue(of(other)));
}

}  // namespace
}  // namespace holdfast::core
