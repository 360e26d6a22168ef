# The front door. Everything is done by CMake (see CMakePresets.json) and by the scripts in tools/.
# `make` alone lists the targets.

PREFIX ?= /usr/local
BUILD ?= release
SEEDS ?= 20000
SECONDS ?= 1800
STORE ?= all
SEED ?=
JOBS := $(shell nproc 2>/dev/null || echo 2)
MULTIARCH = $(shell dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help demo test test-all asan tsan simulate histories bench bench-peers install package tidy format check-format surface clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## watch processes share an account under one lock while some are killed or stopped: STORE=redis for a server
	@tools/setup demo $(if $(filter redis,$(STORE)),demo-redis)
	@cmake --preset release --log-level=WARNING
	@tools/build_line cmake --build --preset release --parallel $(JOBS) --target holdfast_demo
	@tools/demo $(if $(filter redis,$(STORE)),--store redis)

test: ## what every change must pass, with unit tests and some seeds under the sanitizers
	@tools/setup test
	@tools/test change

test-all: ## everything, in full counts and under the sanitizers: before a release
	@tools/setup test
	@tools/test release

asan: ## all tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/setup test
	@tools/test asan

tsan: ## all tests under ThreadSanitizer
	@tools/setup test
	@tools/test tsan

simulate: ## a long simulation: SEEDS=100000
	@tools/setup test
	@cmake --preset dev --log-level=WARNING
	@tools/simulate $(SEEDS)

histories: ## processes under faults, judged by what they saw: SECONDS=1800 STORE=redis SEED=1
	@tools/setup test
	@cmake --preset dev --log-level=WARNING
	@tools/histories $(SECONDS) $(STORE) $(SEED)

bench: ## measure; see docs/performance.md
	@tools/setup bench
	@cmake --preset bench --log-level=WARNING
	@cmake --build --preset bench --parallel $(JOBS)
	@tools/bench

bench-peers: ## measure beside other lock libraries on Redis; see docs/comparison.md
	@tools/setup peers
	@cmake --preset bench --log-level=WARNING
	@cmake --build --preset bench --parallel $(JOBS) --target bench_peer_holdfast
	@tools/bench_peers

install: ## headers, libraries, command, man page, completions: PREFIX=/usr/local
	@tools/setup build
	@cmake --preset $(BUILD) --log-level=WARNING -DCMAKE_INSTALL_LIBDIR=lib
	@cmake --build --preset $(BUILD) --parallel $(JOBS)
	@cmake --install build/$(BUILD) --prefix "$(PREFIX)"

package: ## the .deb files of library, stores, headers and command, in build/package
	@tools/setup build package
	@cmake --preset release --log-level=WARNING -DCMAKE_INSTALL_LIBDIR=lib/$(MULTIARCH)
	@cmake --build --preset release --parallel $(JOBS)
	@rm -rf build/package
	@cpack --config build/release/CPackConfig.cmake -B build/package
	@rm -rf build/package/_CPack_Packages

tidy: ## clang-tidy over all sources
	@tools/setup tidy
	@cmake --preset dev -B build/tidy -DCMAKE_UNITY_BUILD=OFF --log-level=WARNING
	@cmake --build build/tidy --target holdfast_generated
	@tools/tidy $(JOBS)

format: ## rewrite the sources in the style of .clang-format
	@tools/setup test
	@git ls-files -co --exclude-standard '*.cpp' '*.hpp' | xargs -r clang-format -i

check-format: ## say which sources are not in that style
	@tools/setup test
	@git ls-files -co --exclude-standard '*.cpp' '*.hpp' | xargs -r clang-format --dry-run -Werror

surface: ## accept the public headers as they are now (tests/style/public_surface.txt)
	@tools/setup test
	@/usr/bin/python3 tests/style/public_surface.py --write

clean: ## remove everything that was built
	@rm -rf build
