"""Each rule is shown to find what it forbids, and to leave alone what it allows."""

import pathlib
import shutil
import tempfile
import unittest

import calls
import clang
import formatting
import includes
import leftovers
import links
import locks
import public_surface
import shape
import snippets
from tree import Tree, strip


class RuleTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-style-"))
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def found(self, module, files):
        for path, text in files.items():
            self.write(path, text)
        findings = list(module.check(Tree(self.root)))
        for path in files:
            (self.root / path).unlink()
        return findings

    def bad(self, module, files, words):
        findings = self.found(module, files)
        self.assertTrue(findings, f"{module.RULE} found nothing in {files}")
        self.assertIn(words, "\n".join(map(str, findings)))

    def good(self, module, files):
        self.assertEqual([], list(map(str, self.found(module, files))))


class Includes(RuleTest):
    TARGETS = ("src/base/clock.hpp", "src/net/poller.hpp", "src/seam/store.hpp", "src/core/keeper.hpp", "src/runtime/loop.hpp",
               "src/api/session.hpp", "src/stores/memory/store.hpp", "src/stores/lease/rules.hpp",
               "src/cli/command.hpp", "include/holdfast/mutex.hpp", "tests/support/temp.hpp")

    def setUp(self):
        super().setUp()
        for target in self.TARGETS:
            self.write(target, "#pragma once\n")

    def edge(self, check, path, include, *words):
        check(includes, {path: f"#include {include}\n"}, *words)

    def test_wrong_directions(self):
        for path, include in [
                ("src/base/a.cpp", '"seam/store.hpp"'), ("src/base/a.cpp", "<holdfast/mutex.hpp>"),
                ("src/base/a.cpp", '"net/poller.hpp"'), ("src/net/a.cpp", '"seam/store.hpp"'),
                ("src/net/a.cpp", "<holdfast/mutex.hpp>"), ("src/net/a.cpp", '"stores/lease/rules.hpp"'),
                ("src/core/a.cpp", '"net/poller.hpp"'), ("src/runtime/a.cpp", '"net/poller.hpp"'),
                ("src/seam/a.cpp", '"core/keeper.hpp"'), ("src/seam/a.cpp", '"stores/memory/store.hpp"'),
                ("src/core/a.cpp", '"runtime/loop.hpp"'), ("src/core/a.cpp", '"stores/memory/store.hpp"'),
                ("src/core/a.cpp", '"../api/session.hpp"'), ("src/runtime/a.cpp", '"api/session.hpp"'),
                ("src/stores/file/a.cpp", '"core/keeper.hpp"'), ("src/stores/file/a.cpp", '"runtime/loop.hpp"'),
                ("src/stores/file/a.cpp", '"stores/memory/store.hpp"'), ("src/api/a.cpp", '"cli/command.hpp"'),
                ("src/cli/a.cpp", '"core/keeper.hpp"'), ("src/cli/a.cpp", '"api/session.hpp"'),
                ("include/holdfast/a.hpp", '"base/clock.hpp"'), ("examples/a.cpp", '"core/keeper.hpp"'),
                ("tests/conformance/a.cpp", '"core/keeper.hpp"'), ("tests/process/a.cpp", '"api/session.hpp"')]:
            self.edge(self.bad, path, include, "must not depend on")

    def test_right_directions(self):
        for path, include in [
                ("src/base/a.cpp", '"base/clock.hpp"'), ("src/base/a.cpp", "<vector>"),
                ("src/net/a.cpp", '"base/clock.hpp"'), ("src/stores/file/a.cpp", '"net/poller.hpp"'),
                ("src/net/tls.cpp", "<openssl/ssl.h>"),
                ("src/core/a.cpp", '"seam/store.hpp"'), ("src/stores/file/a.cpp", '"stores/lease/rules.hpp"'),
                ("src/stores/file/a.cpp", "<sqlite3.h>"), ("src/runtime/a.cpp", "<boost/asio/io_context.hpp>"),
                ("src/cli/a.cpp", '"command.hpp"'), ("src/cli/a.cpp", '"base/clock.hpp"'),
                ("src/cli/a.cpp", "<CLI/CLI.hpp>"),
                ("src/cli/a.cpp", "<sys/wait.h>"), ("include/holdfast/a.hpp", "<holdfast/mutex.hpp>"),
                ("include/holdfast/asio.hpp", "<boost/asio/async_result.hpp>"),
                ("tests/unit/a.cpp", '"core/keeper.hpp"'), ("tests/process/a.cpp", '"support/temp.hpp"')]:
            self.edge(self.good, path, include)

    def test_foreign_headers(self):
        for path, include in [
                ("include/holdfast/a.hpp", "<boost/asio.hpp>"), ("include/holdfast/a.hpp", "<sys/wait.h>"),
                ("src/core/a.cpp", "<boost/asio.hpp>"), ("src/core/a.cpp", "<sqlite3.h>"),
                ("src/api/a.cpp", "<nlohmann/json.hpp>"), ("src/core/a.cpp", "<gtest/gtest.h>"),
                ("src/stores/redis/a.cpp", "<openssl/ssl.h>")]:
            self.edge(self.bad, path, include, "must not be seen by")

    def test_public_headers_include_what_they_use(self):
        use = "inline int f(int x) { return std::exchange(x, 1); }  // std::vector\n"
        self.bad(includes, {"include/holdfast/a.hpp": use}, "a.hpp:1: [includes] std::exchange needs <utility>")
        self.good(includes, {"include/holdfast/a.hpp": "#include <utility>\n" + use, "src/core/a.hpp": use})

    def test_form(self):
        self.edge(self.bad, "src/core/a.cpp", '"core/none.hpp"', "names no file")
        self.edge(self.bad, "include/holdfast/a.hpp", '"mutex.hpp"', "as <holdfast/...>")


class Calls(RuleTest):
    def test_forbidden(self):
        for path, code, words in [
                ("src/core/a.cpp", "std::this_thread::sleep_for(1s);", "only src/runtime sleeps"),
                ("src/core/a.cpp", "std::this_thread::sleep_until(t);", "only src/runtime sleeps"),
                ("src/stores/file/a.cpp", "usleep(3);", "only src/runtime sleeps"),
                ("src/api/a.cpp", "::nanosleep(&t, nullptr);", "only src/runtime sleeps"),
                ("src/cli/a.cpp", "sleep(1);", "only src/runtime sleeps"),
                ("src/runtime/a.cpp", "std::chrono::system_clock::now();", "only src/base reads"),
                ("src/runtime/a.cpp", "std::chrono::steady_clock::now();", "only src/base reads"),
                ("src/stores/file/a.cpp", "clock_gettime(CLOCK_BOOTTIME, &t);", "only src/base reads"),
                ("src/cli/a.cpp", "auto now = time(nullptr);", "only src/base reads"),
                ("src/cli/clock.cpp", "std::chrono::steady_clock::now();", "only src/base reads"),
                ("src/core/a.cpp", "int x = rand();", "only src/base asks"),
                ("src/runtime/a.cpp", "std::random_device d;", "only src/base asks"),
                ("src/core/a.cpp", "auto now = base::boot_clock::now();", "are given time"),
                ("tests/simulation/a.cpp", "auto seed = base::entropy();", "are given time")]:
            self.bad(calls, {path: f"void f() {{ {code} }}\n"}, words)

    def test_allowed(self):
        for path, code in [
                ("src/runtime/a.cpp", "std::this_thread::sleep_for(1s);"),
                ("src/base/a.cpp", "clock_gettime(CLOCK_BOOTTIME, &t); std::random_device d;"),
                ("src/core/a.cpp", '// steady_clock::now() is read elsewhere\nchar const* s = "sleep_for";'),
                ("src/core/a.cpp", "store.time(); x->sleep(); operand(1); Clock::now(); renew_time(2);"),
                ("tests/process/a.cpp", "std::this_thread::sleep_for(1s);")]:
            self.good(calls, {path: f"void f() {{ {code} }}\n"})


class Locks(RuleTest):
    def test_forbidden(self):
        for path, code, words in [
                ("src/api/a.cpp", "void f() { std::lock_guard const g{client_->loop().mutex()}; }", "only src/runtime"),
                ("src/api/a.cpp", "void f() { std::lock_guard const g{loop_->mutex()}; }", "only src/runtime"),
                ("src/api/a.cpp", "void f(loop& loop) { base::lock_guard const g{loop.mutex}; }", "only src/runtime"),
                ("src/cli/a.cpp", '#include "runtime/engine_runner.hpp"', "only src/runtime"),
                ("tests/conformance/a.cpp", "void f() { runner_.mutex.lock(); }", "only src/runtime"),
                ("src/runtime/a.hpp", "class a { std::mutex& mutex() noexcept { return mutex_; } };", "hands out no"),
                ("src/api/a.hpp", "class a { [[nodiscard]] base::mutex* lock_of(int name); };", "hands out no"),
                ("src/api/a.cpp", "std::shared_mutex const& a::of() const { return m_; }", "hands out no"),
                ("src/stores/memory/a.hpp", "class a { std::mutex m_; };", "Clang can follow"),
                ("src/api/a.cpp", "void f() { std::lock_guard const g{m_}; }", "Clang can follow")]:
            self.bad(locks, {path: f"{code}\n"}, words)

    def test_allowed(self):
        for path, code in [
                ("src/runtime/a.cpp", "void f() { base::lock_guard const g{runner_.mutex}; }"),
                ("tests/unit/a.cpp", '#include "runtime/engine_runner.hpp"'),
                ("src/runtime/a.hpp", "void wait(base::mutex& held, int until) HOLDFAST_REQUIRES(held);"),
                ("src/api/a.cpp", "// loop().mutex() is not ours\nvoid f() { base::lock_guard const g{mutex_}; }"),
                ("src/api/a.cpp", "bool f(std::unique_lock<mutex>& lock) { return lock.mutex()->owns(); }"),
                ("src/stores/file/forks.cpp", "std::mutex opening;"),
                ("tests/unit/a.cpp", "std::mutex m;")]:
            self.good(locks, {path: f"{code}\n"})


class Leftovers(RuleTest):
    def test_forbidden(self):
        for text, words in [
                ("// TODO: later\n", "unfinished"), ("// FIXME\n", "unfinished"), ("// XXX why\n", "unfinished"),
                ("#if 0\nint x;\n#endif\n", "never compiled"), ("TEST(A, DISABLED_b) {}\n", "does not run"),
                ("TEST(A, b) { GTEST_SKIP(); }\n", "does not run"), ('auto p = "/home/me/x";\n', "one machine"),
                ("<<<<<<< ours\n", "merge"), ("int x; \n", "blanks"), ("int x;", "no end of line")]:
            self.bad(leftovers, {"docs/a.txt": text}, words)
        for folder in ["work", "home", "root"]:
            self.bad(leftovers, {"docs/a.txt": f"see /{folder}/x\n"}, "one machine")

    def test_allowed(self):
        self.good(leftovers, {"tools/a": "mktemp -d /tmp/x.XXXXXX # $HOME/x and homework/ ~/home/x\n"})


class Shape(RuleTest):
    def body(self, lines):
        return "int f(int x) {\n" + "    ++x;\n" * lines + "    return x;\n}\n"

    def listed(self, text):
        return {"src/core/a.cpp": text, "src/core/CMakeLists.txt": "target_sources(x PRIVATE\n    a.cpp\n)\n"}

    def test_pages_for_newcomers_fit_a_window(self):
        self.bad(shape, {"README.md": "x" * 120 + "\n"}, "120 columns")
        self.bad(shape, {"docs/migrating.md": "\n" + "ü" * 120}, "docs/migrating.md:2")
        self.good(shape, {"README.md": "ü" * 119 + "\n| " + "x" * 200, "docs/semantics.md": "x" * 200})

    def test_files(self):
        self.bad(shape, self.listed("int x;\n" * 301), "at most 300")
        self.good(shape, self.listed("int x;\n" * 300))
        test = {"tests/CMakeLists.txt": "a.cpp\n"}
        self.bad(shape, {**test, "tests/a.cpp": "int x;\n" * 451}, "at most 450")
        self.good(shape, {**test, "tests/a.cpp": "int x;\n" * 450})
        example = {"examples/a.cpp": "int x;\n" * 81, "examples/CMakeLists.txt": "a.cpp\n"}
        self.bad(shape, example, "at most 80")

    def test_functions(self):
        wrap = "namespace a::b {{\nclass c final : public d {{\n    {}}};\n}}\n".format
        self.good(shape, self.listed(self.body(67)))
        self.bad(shape, self.listed(self.body(68)), "a function of 71 lines")
        self.bad(shape, self.listed(wrap(self.body(68))), "a function of 71 lines")
        self.bad(shape, self.listed("template <class T>\n" + self.body(67)), "a function of 71 lines")
        self.bad(shape, self.listed("TEST(a, b) {\n" + "    { ++x; }\n" * 80 + "}\n"), "a function of 82 lines")
        self.bad(shape, self.listed("struct s make() {\n" + "    g(1);\n" * 80 + "}\n"), "a function of 82 lines")
        self.good(shape, self.listed("struct s {\n" + "    void g(int x) {\n        ++x;\n    }\n" * 35 + "};\n"))
        self.good(shape, self.listed("namespace {\n" + "void g(int x) { ++x; }\n" * 80 + "}\n"))
        self.good(shape, self.listed("int const table[] = {\n" + "    g(1),\n" * 80 + "};\n"))

    def test_classes(self):
        wrap = "namespace a {{\nclass c final : public d {{\npublic:\n    c() = default;\n    c(c const&) = delete;\n{}private:\n" \
               "    std::function<void(int)> f_{{}};\n    int x_ HOLDFAST_GUARDED_BY(m_){{g(1)}};\n    struct inner {{\n" \
               "        int a() {{ return b(); }}\n    }};\n}};\n}}\n".format
        one = "    [[nodiscard]] std::vector<int> g(int x) const;\n"
        body = "    c(int x) : c{g(x)}, d{1} {\n        if (x) h();\n        i();\n    }\n"
        self.good(shape, self.listed(wrap(one * 35)))
        self.bad(shape, self.listed(wrap(one * 36)), "c has 36 functions")
        self.good(shape, self.listed(wrap(body * 17 + one * 18)))
        self.bad(shape, self.listed(wrap(body * 18 + one * 18)), "c has 36 functions")
        self.good(shape, self.listed("namespace a {\n" + "void g();\n" * 80 + "}\n"))

    def test_sources_are_listed(self):
        self.bad(shape, {"src/core/b.cpp": "int x;\n", "src/core/CMakeLists.txt": "a.cpp ab.cpp\n"}, "no CMakeLists")
        self.good(shape, {"src/core/x/b.cpp": "int x;\n", "src/core/CMakeLists.txt": "a.cpp x/b.cpp\n"})


class Links(RuleTest):
    def test_links(self):
        self.bad(links, {"README.md": "see [this](docs/none.md)\n"}, "not there")
        self.bad(links, {"README.md": "see [this](b.md#two)\n", "b.md": "# One\n"}, "no heading #two")
        self.bad(links, {"README.md": "# A\nsee [this](#b)\n"}, "no heading #b")
        self.bad(links, {"docs/a.md": "see `core/none.hpp`\n", "src/core/some.hpp": ""}, "core/none.hpp is not there")
        self.bad(links, {"docs/a.md": "see `src/none`\n", "src/core/some.hpp": ""}, "src/none is not there")
        self.good(links, {"docs/a.md": "see `core/some.hpp`, `some.hpp`, `src/core/some.hpp`, `src/core/`, `NAME.hpp`\n",
                          "src/core/some.hpp": ""})
        self.good(links, {"README.md": "[x](docs/b.md#a-long-one) [y](https://example.org/x) `[z](none)`\n",
                          "docs/b.md": "# A `long` one\n[up](../README.md)\n```\n[q](none)\n```\n"})


    def test_decisions(self):
        self.bad(links, {"docs/decisions/0001-a.md": "# 1. A\n\n**Question.** B?\n"}, "a decision has a line")
        self.bad(links, {"docs/decisions/0001-a.md": "# 1. A\n\nAccepted.\n"}, "a decision has a line")
        self.good(links, {"docs/decisions/0001-a.md": "# 1. A\n\nSuperseded by [2](0002-b.md), 2026-01-02.\n",
                          "docs/decisions/0002-b.md": "# 2. B\n\nAccepted, 2026-01-02.\n"})


class Snippets(RuleTest):
    SOURCE = "int f() {\n    int x = 1;\n    g(x);\n    return x;\n}\n"

    def document(self, block):
        return {"examples/a.cpp": self.SOURCE, "docs/a.md": f"text\n```{block}```\nmore\n"}

    def test_extracts(self):
        for block in ["cpp examples/a.cpp\nint x = 1;\ng(x);\n", "cpp examples/a.cpp\n" + self.SOURCE,
                      "cpp examples/a.cpp\nint f() {\n    // …\n    return x;\n}\n", "sh\nmake test\n"]:
            self.good(snippets, self.document(block))

    def test_what_is_not_in_the_file(self):
        for block, words in [
                ("cpp\nint x;\n", "names no file"), ("cpp examples/b.cpp\nint x;\n", "is not there"),
                ("cpp examples/a.cpp\nint x = 2;\n", "no such lines"),
                ("cpp examples/a.cpp\nint x = 1;\nreturn x;\n", "no such lines"),
                ("cpp examples/a.cpp\nreturn x;\n// …\nint x = 1;\n", "no such lines")]:
            self.bad(snippets, self.document(block), words)


class Formatting(RuleTest):
    def test_formatting(self):
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.bad(formatting, {"src/a.cpp": "int  x ;\n"}, "src/a.cpp:1: [formatting] not formatted")
        self.good(formatting, {"src/a.cpp": "int x;\n"})
        self.write(".clang-format", "NoSuchKey: 1\n")
        self.bad(formatting, {"src/a.cpp": "int x;\n"}, "NoSuchKey")


class Clang(RuleTest):
    MUTEX = "struct __attribute__((capability(\"mutex\"))) mutex { void lock() __attribute__((acquire_capability())); };\n"

    def setUp(self):
        super().setUp()
        self.write(clang.WARNINGS, "    target_compile_options(x INTERFACE\n        -Wshadow\n        $<$<CXX_COMPILER_ID:GNU>:-Wx>\n")
        self.write("src/base/thread_annotations.hpp", self.MUTEX)
        self.write("src/runtime/a.hpp", '#include "base/thread_annotations.hpp"\n'
                   "struct a { mutex m; int x __attribute__((guarded_by(m))); };\n")

    def test_warnings_of_the_command_and_base(self):
        for path in ("src/cli/a.cpp", "src/base/a.cpp"):
            self.bad(clang, {path: "int f(int x) {\n    { int x = 1; (void)x; }\n    return x;\n}\n"}, f"{path}:2: [clang]")
            self.good(clang, {path: "int f(int x) { return x; }\n"})

    def test_what_a_mutex_guards(self):
        self.bad(clang, {"src/runtime/a.cpp": '#include "runtime/a.hpp"\nint f(a& of) { return of.x; }\n'},
                 "reading variable 'x' requires holding mutex")

    def test_what_is_not_looked_at(self):
        self.good(clang, {"src/runtime/b.cpp": "int f(int x) { { int x = 1; (void)x; } return x; }\n"})


class Surface(RuleTest):
    HEADER = "include/holdfast/a.hpp"

    def freeze(self, text):
        self.write(self.HEADER, text)
        self.write(public_surface.SNAPSHOT, public_surface.surface(Tree(self.root)))

    def test_changes_are_seen(self):
        self.freeze("class a {\npublic:\n    int f(int x, int y = {});\n};\n")
        for changed in ["class a {\npublic:\n    int f(int x);\n};\n",
                        "class a {\npublic:\n    int f(int x, int y = {});\n    int g();\n};\n",
                        "class a {\nprivate:\n    int f(int x, int y = {});\n};\n", ""]:
            self.bad(public_surface, {self.HEADER: changed}, "the public headers differ")
        self.write(self.HEADER, "class a {\npublic:\n    int f(int x, int y = {});\n};\n")
        self.bad(public_surface, {"include/holdfast/b.hpp": "class b;\n"}, "the public headers differ")

    def test_layout_is_not_a_change(self):
        self.freeze("class a {\npublic:\n    int f(int x, int y = {});\n};\nenum class e { one, two };\n")
        self.good(public_surface, {self.HEADER: "#pragma once\n/* word */ class a { public: // word\nint f(\n"
                                   "  int x,\n  int y = {}\n); };\nenum class e {\n    one,\n    two };\n"})

    def test_one_declaration_per_line(self):
        lines = public_surface.normalized("namespace n { struct a { a() : x_{1} {} int x_{2}; }; void f() { g(); }\n"
                                          "namespace detail { class b { int x; }; int h(); } int i(); }\n")
        self.assertEqual(["namespace n {", "  struct a {", "    a() : x_{1} {...}", "    int x_{2};", "  };",
                          "  void f() {...}", "  int i();", "}"], lines)


class Strip(unittest.TestCase):
    def test_strip(self):
        self.assertEqual('x = "";  \ny', strip('x = "a // b"; // c\ny'))
        self.assertEqual("a \n b", strip("a /* x\n */ b"))
        self.assertEqual("n = 1'000'000; c = ' ';", strip("n = 1'000'000; c = '\"';"))
        self.assertEqual('r = "";', strip('r = R"x(a " b)x";'))


if __name__ == "__main__":
    unittest.main()
