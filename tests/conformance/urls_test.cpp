// Store URLs: what is wrong with one is said, its password is not.
#include <string>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class urls_test : public store_test {};
HOLDFAST_OVER_ALL_ROWS(urls_test);

/// Expects `errc::bad_url` with `words` in its text.
void expect_bad(std::string const& url, std::string const& words) {
    auto const make = [&] { return client{url}; };
    EXPECT_EQ(failure_of(make), errc::bad_url) << url;
    auto const text = words_of(make);
    EXPECT_NE(text.find(words), std::string::npos) << url << ": " << text;
    EXPECT_EQ(text.find("s3cret"), std::string::npos) << text;
}

std::string scheme_of(std::string const& url) { return url.substr(0, url.find(':')); }

TEST_P(urls_test, a_misspelt_scheme_is_told_the_near_one) {
    auto const scheme = scheme_of(store().url());
    auto misspelt = scheme;
    std::swap(misspelt[2], misspelt[3]);
    expect_bad(misspelt + ":x", "'" + scheme + ":'");
}

TEST_P(urls_test, an_unknown_option_is_told_the_near_one) {
    expect_bad(store().url_with("leese=3s"), "'lease'");
    expect_bad(store().url_with("lease=3s&leases=4s"), "'lease'");
}

TEST_P(urls_test, an_option_must_make_sense) {
    expect_bad(store().url_with("lease=soon"), "'lease'");
    expect_bad(store().url_with("lease="), "'lease'");
    expect_bad(store().url_with("lease=-3s"), "'lease'");
    expect_bad(store().url_with("lease"), "key=value");
    expect_bad(store().url_with("lease=3s&lease=4s"), "twice");
}

TEST_P(urls_test, what_the_client_shows_opens_the_same_store) {
    auto ours = connect();
    client theirs{ours.url()};
    auto const held = mutex{ours, "q"}.acquire();
    EXPECT_EQ(theirs.locks().size(), 1U);
}

class url_text_test : public testing::Test {};

TEST_F(url_text_test, nonsense_is_refused) {
    for (auto const* const url : {"", ":", "memory", "/var/lib/locks", "me mory:", "1:"})
        EXPECT_EQ(failure_of([&] { return client{url}; }), errc::bad_url) << url;
}

TEST_F(url_text_test, passwords_are_never_repeated) {
    expect_bad("memory://user:s3cret@host/x", "memory:");
    expect_bad("rediss+nothing://user:s3cret@host:70000", "");
    expect_bad("rdis://user:s3cret@host", "rdis");
    expect_bad("redis://user:s3cret%zz@host", "");
    expect_bad("redis://user:s3cret@host:port", "");
    expect_bad("s3cret", "scheme");
    expect_bad("nothing://user:s3cret@host?password=s3cret", "nothing");
}

}  // namespace

}  // namespace holdfast::conformance
