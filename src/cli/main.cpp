// holdfast: locks between processes and machines, for the shell.

#include <cerrno>
#include <exception>
#include <new>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "error_text.hpp"
#include "exit_status.hpp"
#include "invocation.hpp"
#include "secrets.hpp"
#include "terminal.hpp"

namespace {

// A standard stream that we were started without (`>&-`) must not become the number of a socket or of a
// store's file, which would then be given our output. The command of `run` is started without it, too.
void keep_standard_streams() {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
        if (::fcntl(stream, F_GETFD) >= 0) continue;
        // The wrong way round, so that using it fails as before.
        auto const how = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (::open("/dev/null", how | O_CLOEXEC) != stream)
            throw std::system_error{errno, std::system_category(), "/dev/null"};
    }
}

}  // namespace

int main(int count, char** arguments) {
    namespace cli = holdfast::cli;
    try {
        keep_standard_streams();
        std::span<char*> const words{arguments + 1,
                                     count > 0 ? static_cast<std::size_t>(count - 1) : 0};
        auto invocation = cli::read_arguments(words);
        // Before anything slow: everybody on the machine can read our arguments until then.
        cli::blank_secrets(words);
        return cli::perform(invocation);
    } catch (cli::failure const& error) {
        cli::complain(error.what());
        return error.status();
    } catch (std::system_error const& error) {
        cli::complain(cli::text_of(error));
        return cli::status_of(error.code());
    } catch (std::exception const& error) {
        cli::complain(error.what());
        return cli::exit_status::internal;
    }
}
