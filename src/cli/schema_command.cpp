// holdfast schema: what has to be made in a database beforehand.

#include <CLI/App.hpp>
#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "exit_status.hpp"
#include "invocation.hpp"
#include "secrets.hpp"
#include "store_choice.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* schema_examples =
    "Examples:\n"
    "  holdfast --store postgres://app@db.internal/app schema\n"
    "  holdfast --store postgres://app@db.internal/app schema | psql "
    "postgres://owner@db.internal/app";

int schema(invocation const& invocation) {
    auto const store = choose_store(invocation).url;
    auto const text = store_schema(store);
    if (text.empty())
        complain(fmt::format("{} needs nothing to be made beforehand", without_secrets(store)));
    print_out(text);
    return exit_status::success;
}

}  // namespace

void define_schema(CLI::App& parent, invocation& invocation) {
    auto* app = parent.add_subcommand("schema", "Print the SQL that makes a database's tables");
    app->footer(schema_examples);
    app->callback(
        [&invocation] { invocation.action = [&invocation] { return schema(invocation); }; });
}

}  // namespace holdfast::cli
