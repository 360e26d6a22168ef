#include "interruption.hpp"

#include <array>
#include <csignal>

#include <poll.h>

namespace holdfast::cli {

interruption::interruption() : thread_{[this] { listen(); }} {}

interruption::~interruption() {
    over_.set();
    thread_.join();
}

void interruption::listen() {
    for (;;) {
        std::array<pollfd, 2> sources{
            {{signals_.descriptor(), POLLIN, 0}, {over_.number(), POLLIN, 0}}};
        ::poll(sources.data(), sources.size(), -1);
        if (sources[1].revents != 0) return;
        while (auto const signal = signals_.next()) {
            if (*signal == SIGTSTP) signals_.stop_group();
            if (!ends_a_process(*signal)) continue;
            signal_.store(*signal);
            signals_.restore();  // for this thread, which hears the next one by dying of it
            stop_.request_stop();
            return;
        }
    }
}

}  // namespace holdfast::cli
