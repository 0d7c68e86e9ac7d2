# `make run` and `make test` are all that a newcomer needs; `make help` lists the rest.
# Elsewhere than on Debian, install the packages that Scripts/setup lists and pass SETUP=: to skip it.

SWIFT   ?= swift
SETUP   ?= Scripts/setup
SCRATCH ?= .build
PREFIX  ?= /usr/local
ARGS    ?=
SECONDS  = 60

# What `make run` shows, and what `make install` puts into bin.
RUN         ?= stagedoord --demo
EXECUTABLES ?= stagedoord dbus-showcase private-bus

# The libraries whose documentation is built and whose examples are compiled.
DOCUMENTED = DBus DBusTestSupport StagedoorKit

# Every debug build is made with the same flags, so that `make check test` builds once.
BUILD   = --scratch-path $(SCRATCH) --explicit-target-dependency-import-check error
RELEASE = --scratch-path $(SCRATCH) --configuration release --static-swift-stdlib
SOURCES = Scripts/list-files '*.swift'

# Where Scripts/setup unpacks what it does not install; the tests and the benchmarks find it on their PATH.
export TOOLS = $(abspath $(SCRATCH))/tools
export PATH := $(PATH):$(TOOLS)/usr/bin

BIN = $(DESTDIR)$(PREFIX)/bin
DOC = $(DESTDIR)$(PREFIX)/share/doc/stagedoor

.DEFAULT_GOAL = help
.NOTPARALLEL:
.PHONY: help setup run demo build test check check-scripts check-format check-rules check-shell check-unit check-examples docs \
  format bench stress fuzz sanitize-thread sanitize-address install uninstall clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 20

run: ## set up what is missing, build, and show the house at work
	@$(SETUP) build run
	$(SWIFT) run $(BUILD) $(RUN) $(ARGS)

demo: ## set up what is missing, build, and show a drop find its window
	@$(SETUP) build run
	$(SWIFT) build $(BUILD) --product stagedoord
	$(SWIFT) build $(BUILD) --product private-bus
	@built="$$($(SWIFT) build $(BUILD) --show-bin-path)"; "$$built/private-bus" -- examples/shell/round "$$built/stagedoord"

test: ## set up what is missing, build, and run every test (ARGS="--filter Names")
	@$(SETUP) build test
	$(SWIFT) test $(BUILD) --disable-xctest $(ARGS)

check: check-scripts check-format check-rules check-shell check-unit check-examples docs ## format, rules, scripts, examples, documentation

docs: build ## check the documentation and build it as a site in .build/docs
	@for module in $(DOCUMENTED); do \
	  Scripts/build-docs $$module "$$($(SWIFT) build $(BUILD) --show-bin-path)" $(SCRATCH)/docs/$$module || exit 1; \
	done

bench: ## measure against C programs, on both buses and without one
	@$(SETUP) build run bench
	Benchmarks/run $(ARGS)

fuzz: ## give each parser made-up documents for a while (SECONDS=60, ARGS=predicate for one)
	@$(SETUP) build
	SWIFT="$(SWIFT)" Fuzz/run $(SECONDS) $(SCRATCH)/fuzz $(ARGS)

# One after the other: a long round takes all the machine that there is, and the others would meet their limits.
stress: ## run the tests optimised, with long rounds
	@$(SETUP) build test
	STAGEDOOR_STRESS=1 $(SWIFT) test --configuration release --scratch-path $(SCRATCH)/stress --disable-xctest \
	  --no-parallel $(ARGS)

sanitize-thread: ## run the tests under ThreadSanitizer
	@$(SETUP) build test
	$(SWIFT) test --sanitize thread --scratch-path $(SCRATCH)/tsan --disable-xctest -Xswiftc -use-ld=lld $(ARGS)

sanitize-address: ## run the tests under AddressSanitizer, which looks for leaks too
	@$(SETUP) build test
	LSAN_OPTIONS=print_suppressions=0:suppressions=$(abspath Scripts/leak-suppressions) \
	$(SWIFT) test --sanitize address --scratch-path $(SCRATCH)/asan --disable-xctest -Xswiftc -use-ld=lld $(ARGS)

install: ## build for release and install (PREFIX=/usr/local DESTDIR=)
	@$(SETUP) build
	for name in $(EXECUTABLES); do $(SWIFT) build $(RELEASE) --product $$name || exit 1; done
	install -d "$(BIN)" "$(DOC)"
	built="$$($(SWIFT) build $(RELEASE) --show-bin-path)"; \
	for name in $(EXECUTABLES); do install -m 755 "$$built/$$name" "$(BIN)" || exit 1; done
	install -m 644 $(wildcard README.md) LICENSE CHANGELOG.md "$(DOC)"
	find docs -type f -exec install -D -m 644 {} "$(DOC)/{}" \;

uninstall: ## remove what install put there (same PREFIX and DESTDIR)
	for name in $(EXECUTABLES); do rm -f "$(BIN)/$$name"; done
	rm -rf "$(DOC)"

setup: ## install every system package that any target needs
	@$(SETUP) build run test check bench

format: ## write the sources as check-format wants them
	@$(SOURCES) | xargs $(SWIFT) format format --in-place --parallel

clean: ## remove everything that was built
	rm -rf $(SCRATCH)

# The parts of `make check`, cheapest first. Each can be run by itself.

check-scripts:
	@$(SETUP) build check
	@Scripts/test-checks

check-format:
	@$(SOURCES) | xargs $(SWIFT) format lint --strict --parallel
	@echo "format: kept"

check-rules:
	@Scripts/check-rules

check-shell:
	@Scripts/check-shell

check-unit:
	@Scripts/check-unit

check-examples: build
	@Scripts/check-examples "$$($(SWIFT) build $(BUILD) --show-bin-path)"

build:
	@$(SETUP) build
	$(SWIFT) build --build-tests $(BUILD)
