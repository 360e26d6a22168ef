// holdfast: locks between processes and machines, for the shell.

#include <exception>
#include <new>
#include <system_error>

#include "exit_status.hpp"
#include "invocation.hpp"
#include "secrets.hpp"
#include "terminal.hpp"

int main(int count, char** arguments) {
    namespace cli = holdfast::cli;
    try {
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
        cli::complain(error.what());
        return cli::status_of(error.code());
    } catch (std::exception const& error) {
        cli::complain(error.what());
        return cli::exit_status::internal;
    }
}
