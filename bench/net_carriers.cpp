// The same exchange with Redis over three carriers: a blocking socket, net::poller with net::stream, and Boost.Asio
// in two styles. Without deadlines and without TLS. See decision 20.
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "duel.hpp"
#include "net/stream.hpp"
#include "net_exchange.hpp"

namespace {

namespace asio = boost::asio;
namespace net = holdfast::net;

constexpr std::size_t read_size = 64U << 10;
constexpr int rounds = 61;  // short ones: what disturbs them then disturbs few

std::uint16_t port_of(std::string const& url) {
    return static_cast<std::uint16_t>(std::atoi(url.c_str() + url.rfind(':') + 1));
}

/// The limit: a socket that waits by reading.
class blocking_carrier {
public:
    explicit blocking_carrier(std::string const& url) : socket_{context_} {
        socket_.connect({asio::ip::address_v4::loopback(), port_of(url)});
        socket_.set_option(asio::ip::tcp::no_delay{true});
    }
    void run(bench::exchange& what) {
        while (!what.is_over()) {
            if (!what.output.empty()) asio::write(socket_, asio::buffer(what.output));
            what.output.clear();
            what.take({buffer_.data(), socket_.read_some(asio::buffer(buffer_))});
        }
    }

private:
    asio::io_context context_{1};
    asio::ip::tcp::socket socket_;
    std::array<char, read_size> buffer_{};
};

class our_carrier {
public:
    explicit our_carrier(std::string const& url)
        : to_{.host = "127.0.0.1", .port = port_of(url)}, stream_{events_, 0, to_} {
        for (stream_.advance(); !stream_.is_open(); stream_.advance())
            (void)events_.wait();
    }
    void run(bench::exchange& what) {
        while (!what.is_over()) {
            what.output.erase(0, what.output.empty() ? 0 : stream_.write(what.output));
            (void)events_.wait();
            what.take({buffer_.data(), stream_.read(buffer_)});
        }
    }

private:
    net::endpoint to_;
    net::poller events_;
    net::stream stream_;
    std::array<char, read_size> buffer_{};
};

/// As its documentation shows it: a completion for each read and write.
class asio_carrier {
public:
    explicit asio_carrier(std::string const& url) : socket_{context_} {
        socket_.connect({asio::ip::address_v4::loopback(), port_of(url)});
        socket_.set_option(asio::ip::tcp::no_delay{true});
    }
    void run(bench::exchange& what) {
        context_.restart();
        write(what);
        read(what);
        while (!what.is_over())
            context_.run_one();
        context_.run();
    }

private:
    void read(bench::exchange& what) {
        socket_.async_read_some(asio::buffer(buffer_),
                                [&](boost::system::error_code why, std::size_t count) {
                                    if (why) throw boost::system::system_error{why};
                                    what.take({buffer_.data(), count});
                                    if (!what.is_over()) read(what);
                                    write(what);
                                });
    }
    void write(bench::exchange& what) {
        if (writing_ || what.output.empty()) return;
        writing_ = true;
        sent_.swap(what.output);
        asio::async_write(socket_, asio::buffer(sent_),
                          [&](boost::system::error_code why, std::size_t) {
                              if (why) throw boost::system::system_error{why};
                              writing_ = false;
                              sent_.clear();
                              write(what);
                          });
    }

    asio::io_context context_{1};
    asio::ip::tcp::socket socket_;
    std::array<char, read_size> buffer_{};
    std::string sent_;
    bool writing_{false};
};

/// As lean as it can be: Asio only tells that the socket is ready, the rest is done by hand.
class ready_asio_carrier {
public:
    explicit ready_asio_carrier(std::string const& url) : socket_{context_} {
        socket_.connect({asio::ip::address_v4::loopback(), port_of(url)});
        socket_.set_option(asio::ip::tcp::no_delay{true});
        socket_.non_blocking(true);
    }
    void run(bench::exchange& what) {
        context_.restart();
        step(what);
        context_.run();
    }

private:
    void step(bench::exchange& what) {
        if (!what.output.empty()) what.output.erase(0, write(what.output));
        socket_.async_wait(asio::ip::tcp::socket::wait_read, [&](boost::system::error_code why) {
            if (!why) what.take({buffer_.data(), read()});
            if (!what.is_over()) step(what);
        });
    }
    std::size_t write(std::string const& bytes) {
        boost::system::error_code why;
        return socket_.write_some(asio::buffer(bytes), why);
    }
    std::size_t read() {
        boost::system::error_code why;
        auto const count = socket_.read_some(asio::buffer(buffer_), why);
        if (why && why != asio::error::would_block) throw boost::system::system_error{why};
        return count;
    }

    asio::io_context context_{1};
    asio::ip::tcp::socket socket_;
    std::array<char, read_size> buffer_{};
};

template <class Carrier>
double rate(Carrier& over, std::vector<bench::pair_of_calls> const& owners, std::size_t pairs) {
    return static_cast<double>(pairs) / bench::seconds([&] {
               bench::exchange all{owners, 2 * pairs};
               over.run(all);
           });
}

std::vector<bench::pair_of_calls> locks(std::size_t owner_count) {
    std::vector<bench::pair_of_calls> out;
    bench::caller caller;
    for (std::size_t i = 0; i < owner_count; ++i)
        out.push_back(caller.calls("bench/carrier/" + std::to_string(i)));
    return out;
}

/// What the server answers with the least work, so that the carrier's part is largest.
std::vector<bench::pair_of_calls> pings(std::size_t owner_count) {
    return std::vector<bench::pair_of_calls>(owner_count, {"PING\r\n", "PING\r\n"});
}

/// All sides by turns; each beside the blocking socket, and Asio beside ours.
void contest(char const* row, std::string const& url,
             std::vector<bench::pair_of_calls> const& owners, std::size_t pairs) {
    blocking_carrier blocking{url};
    our_carrier ours{url};
    asio_carrier completions{url};
    ready_asio_carrier readiness{url};
    std::vector<bench::side> const sides{
        {"a blocking socket", [&] { return rate(blocking, owners, pairs); }},
        {"net::poller and net::stream", [&] { return rate(ours, owners, pairs); }},
        {"Boost.Asio, async_read_some and async_write",
         [&] { return rate(completions, owners, pairs); }},
        {"Boost.Asio, async_wait and plain reads", [&] { return rate(readiness, owners, pairs); }}};
    std::vector<std::vector<double>> rates(sides.size());
    for (auto const& each : sides)
        (void)each.rate();  // warm
    for (int i = 0; i < rounds; ++i)
        for (std::size_t k = 0; k < sides.size(); ++k)
            rates[k].push_back(sides[k].rate());
    auto const beside = [&](std::size_t one, std::size_t other) {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < rounds; ++i)
            ratios.push_back(rates[one][i] / rates[other][i]);
        return bench::spread_of(ratios).median;
    };
    std::printf("redis: %s, one thread, one socket, %zu under way\n", row, owners.size());
    for (std::size_t k = 0; k < sides.size(); ++k) {
        std::printf("  %-44s %9.0f /s  %.3f of the limit, %.3f of ours\n", sides[k].name.c_str(),
                    bench::spread_of(rates[k]).median, beside(k, 0), beside(k, 1));
    }
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: net_carriers redis://127.0.0.1:PORT\n", stderr);
        return 2;
    }
    std::string const url = argv[1];
    bench::wire wire{url};
    bench::caller::load(wire);
    contest("acquire + release", url, locks(1), 1'000);
    contest("acquire + release", url, locks(256), 256 * 20);
    contest("two pings", url, pings(1), 4'000);
    contest("two pings", url, pings(256), 256 * 80);
}
