# `make run` and `make test` are all that a newcomer needs; `make help` lists the rest.
# On systems other than Debian, install the packages that Scripts/setup lists and pass SETUP=: to skip it.

SWIFT   ?= swift
SETUP   ?= Scripts/setup
SCRATCH ?= .build
PREFIX  ?= /usr/local
ARGS    ?=
SECONDS  = 60

# `make install-built` installs the programs in BUILT, and makes them smaller with STRIP: without names they are less than half as large.
BUILT ?= $(SCRATCH)/release
STRIP ?= strip --strip-unneeded --remove-section=.comment

# `make run` starts RUN, and `make install` puts EXECUTABLES into bin.
RUN         ?= stagedoord --demo
EXECUTABLES ?= stagedoord stagedoor

# The libraries with documentation to build.
DOCUMENTED = DBus DBusTestSupport StagedoorKit StagedoorTestSupport

# Every debug build is made with the same flags, so that `make check test` builds once.
BUILD   = --scratch-path $(SCRATCH) --explicit-target-dependency-import-check error
# The C++ library of Swift's runtime, libdbus and SQLite are linked into the programs, which then start three milliseconds
# sooner (docs/decisions/0013). The linker takes the first library that it finds, and STATIC contains archives only, with
# the pkg-config files that name it.
STATIC  = $(abspath $(SCRATCH))/static
# The loader relocates the addresses in a program. Their packed form saves a quarter of a millisecond, but a C library
# before 2.36 cannot read it. Nobody looks up names in these programs, so they export none.
SHORT   = $(shell printf 'glibc 2.36\n%s\n' "$$(getconf GNU_LIBC_VERSION)" | sort -VC && \
  echo -Xlinker -z -Xlinker pack-relative-relocs)
# For a program whose code `Scripts/lay-out` moves once more. BOLT finds packed addresses only where the file has each
# segment at the place that the program has in memory.
MOVABLE = -Xlinker --emit-relocs -Xlinker -z -Xlinker separate-loadable-segments
# The linker places the functions that a drop executes side by side, so that the processor fetches fewer pages and lines.
ORDER   = -Xswiftc -Xfrontend -Xswiftc -function-sections \
  -Xlinker --symbol-ordering-file=$(abspath Benchmarks/functions.order) -Xlinker --no-warn-symbol-ordering \
  -Xlinker -T -Xlinker $(abspath Scripts/private-functions.ld)
# Otherwise Swift makes the metadata of a generic type from a name, and searches all conformances of the program for each
# argument of the type: a start executed half as much again.
DIRECT  = -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors
# valgrind cannot read all the debug information, and `make install` removes it anyway.
RELEASE = --scratch-path $(SCRATCH) --configuration release --static-swift-stdlib --disable-local-rpath \
  -Xlinker "-L$(STATIC)" -Xswiftc -Xclang-linker -Xswiftc -static-libgcc -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic -Xlinker --strip-debug $(DIRECT) $(ORDER)
SOURCES = Scripts/list-files '*.swift'
# SwiftPM warns about flags of these GTK packages that it does not pass on. It finds our copies without these flags first.
WARNED  = gmodule-no-export-2.0 graphene-1.0
COPIES  = $(abspath $(SCRATCH))/pkgconfig
WITHGTK = PKG_CONFIG_PATH="$(COPIES)$${PKG_CONFIG_PATH:+:$$PKG_CONFIG_PATH}" $(SWIFT)

# Scripts/setup unpacks packages here that it does not install. The tests and the benchmarks find them on their PATH.
export TOOLS = $(abspath $(SCRATCH))/tools
export PATH := $(PATH):$(TOOLS)/usr/bin

# In words of a command line like PREFIX=~/.local, not every shell replaces the tilde.
override PREFIX := $(patsubst ~/%,$(HOME)/%,$(PREFIX))

BIN        = $(DESTDIR)$(PREFIX)/bin
DOC        = $(DESTDIR)$(PREFIX)/share/doc/stagedoor
MAN        = $(DESTDIR)$(PREFIX)/share/man/man1
INTERFACES = $(DESTDIR)$(PREFIX)/share/dbus-1/interfaces
SERVICES   = $(DESTDIR)$(PREFIX)/share/dbus-1/services
SHARE      = $(DESTDIR)$(PREFIX)/share
# systemd reads the units of users in lib for these two prefixes, and for others in share: that of XDG_DATA_HOME and XDG_DATA_DIRS.
UNIT_PLACE = $(if $(filter /usr /usr/local,$(PREFIX)),lib,share)/systemd/user
UNITS      = $(DESTDIR)$(PREFIX)/$(UNIT_PLACE)
EXAMPLES   = $(DOC)/examples
LIBEXEC    = $(DESTDIR)$(PREFIX)/libexec/stagedoor

# The places where each shell looks for completions, each file manager for its menu entries, and the desktop for handlers.
COMPLETIONS = bash:bash-completion/completions/stagedoor zsh:zsh/site-functions/_stagedoor \
  fish:fish/vendor_completions.d/stagedoor.fish
MENUS       = thunar.desktop:Thunar/sendto/stagedoor.desktop kde.desktop:kio/servicemenus/stagedoor.desktop \
  nemo.nemo_action:nemo/actions/stagedoor.nemo_action stagedoor-open.desktop:applications/stagedoor-open.desktop
NAUTILUS    = stagedoor/nautilus/Send to scene…

# Links of the pages to files that are not installed become plain words.
UNLINK      = sed -Ezi 's,!?\[([^][]*)\]\((\.\./)*(Sources|CONTRIBUTING|Benchmarks|Fuzz|Scripts|Tests|dbus|examples/(gtk|journal|greeter))[^)]*\),\1,g'

# The directories that `make install` may have made. `make uninstall` removes those that are empty, and keeps the first of each path.
OWN_DIRECTORIES = $(foreach pair,$(COMPLETIONS) $(MENUS) $(SEARCH),share/$(patsubst %/,%,$(dir $(lastword $(subst :, ,$(pair)))))) \
  share/stagedoor share/dbus-1/interfaces share/dbus-1/services share/man/man1 $(UNIT_PLACE)/graphical-session.target.wants \
  $(UNIT_PLACE)

# The activation file and the unit, by which the bus starts the service, with the path of the program filled in.
ACTIVATED = org.stagedoor.Interchange1.service
UNIT      = stagedoord.service
# The understudy is a package of its own, because it needs the libraries of displays.
UNDERSTUDY = stagedoor-understudy
UNDERSTUDY_XML = dbus/org.stagedoor.Understudy1.xml
UNDERSTUDY_SERVICE = org.stagedoor.Understudy1.service
# The files by which GNOME Shell and KRunner find its windows, and by which KWin lets it see them.
SEARCH    = gnome-search.ini:gnome-shell/search-providers/org.stagedoor.Understudy.search-provider.ini \
  krunner.desktop:krunner/dbusplugins/stagedoor.desktop understudy.desktop.in:applications/stagedoor-understudy.desktop
# The graphical session wants it.
WANTED    = $(UNITS)/graphical-session.target.wants
FILL      = sed -e 's|@bindir@|$(PREFIX)/bin|' -e 's|@libexecdir@|$(PREFIX)/libexec/stagedoor|'

.DEFAULT_GOAL = help
.NOTPARALLEL:
.PHONY: help setup run run-open demo build test gtk-packages examples install-drag test-examples test-understudy try-windows pictures check check-scripts check-format check-rules check-shell check-unit check-manual \
  check-examples check-install check-deb check-cost docs format bench order stress test-release fuzz simulate mutate sanitize-thread sanitize-address release \
  check-prefix install install-built install-understudy install-understudy-built uninstall deb clean

help: ## list the targets
	@sed -n 's/^\([a-z%-]*\):.*## /\1\t/p' Makefile | expand -t 20

run: ## start the service with a small application to try (ARGS=--replace takes over from a running service)
	@$(SETUP) build run
	$(SWIFT) build $(BUILD) --product stagedoor
	$(SWIFT) run $(BUILD) $(RUN) $(ARGS)

demo: ## show how a drop finds its session, on a bus of its own
	@$(SETUP) build run
	for name in stagedoord stagedoor private-bus; do $(SWIFT) build $(BUILD) --product $$name || exit 1; done
	@built="$$($(SWIFT) build $(BUILD) --show-bin-path)"; \
	  PATH="$$built:$$PATH" "$$built/private-bus" -- examples/shell/round stagedoord

# What the first picture of the README shows, by the command. A double click needs the desktop file that `make install` installs.
run-open: ## bring the windows of your own files to the front, with nothing of Stagedoor installed (needs a display)
	@[ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || { echo "There is no display, and without one there are no windows to find." >&2; exit 1; }
	@$(SETUP) build run
	for name in stagedoor stagedoor-understudy; do $(SWIFT) build $(BUILD) --product $$name || exit 1; done
	@built="$$($(SWIFT) build $(BUILD) --show-bin-path)"; \
	  printf '%s\n' '' 'In another terminal, type these lines, with a document of yours. Type the last line twice: the second time the' \
	    'window of the first comes to the front. Ctrl-C ends it all.' '' "  export PATH='$$built':\"\$$PATH\"" '  stagedoor open report.pdf' ''; \
	  exec "$$built/stagedoor-understudy"

gtk-packages:
	@$(SETUP) build run examples
	@mkdir -p "$(COPIES)" && for name in $(WARNED); do \
	  file="$$(pkg-config --variable=pcfiledir $$name)/$$name.pc"; \
	  [ ! -f "$$file" ] || sed '/^Cflags:/s/ -pthread\| -m[^ ]*//g' "$$file" >"$(COPIES)/$$name.pc"; \
	done

examples: gtk-packages ## build the applications with windows, in examples/gtk
	$(WITHGTK) build --package-path examples/gtk
	for name in stagedoord stagedoor; do $(WITHGTK) build --package-path examples/gtk --product $$name || exit 1; done

# Starts one of them on a bus of its own: `make run-gallery`. All data is deleted on exit.
run-%: ## start an application with windows (run-gallery, run-journalyst, run-cats …)
	@examples/gtk/run --check $* $(ARGS)
	@$(MAKE) --no-print-directory examples
	@examples/gtk/run "$$($(WITHGTK) build --package-path examples/gtk --show-bin-path)" $* $(ARGS)

test-examples: examples ## test the applications with windows, on virtual displays (ARGS="--filter Cats")
	@$(SETUP) test-examples
	@$(WITHGTK) test --package-path examples/gtk --disable-xctest $(ARGS)
	@Scripts/check-examples "$$($(WITHGTK) build --package-path examples/gtk --show-bin-path)" \
	  $$(Scripts/list-files 'examples/gtk/Sources/*.swift' 'examples/gtk/*.md')

pictures: build ## take the pictures in the pages again, docs/double-click.gif and docs/drop.gif among them
	@$(SETUP) test test-examples
	Scripts/record-double-click "$(SCRATCH)/debug"
	@STAGE_PICTURES=1 $(MAKE) --no-print-directory test-examples

test: ## run every test (ARGS="--filter Names")
	@$(SETUP) build test
	@Scripts/repeat-failures $(SCRATCH)/test.log $(SWIFT) test $(BUILD) --disable-xctest $(ARGS)

test-understudy: build ## test the windows of other applications on sway, behind XWayland, and on KWin too
	@$(SETUP) test test-examples test-understudy
	@STAGEDOOR_UNDERSTUDY=1 $(SWIFT) test --skip-build $(BUILD) --disable-xctest --filter UnderstudyTests $(ARGS)

try-windows: build ## open files in real applications, and compare which window comes (ARGS="--record", "mousepad gvim")
	@Scripts/try-windows "$$($(SWIFT) build $(BUILD) --show-bin-path)" $(ARGS)

check: check-scripts check-format check-rules check-shell check-unit check-manual check-examples check-install check-deb docs check-cost check-release ## check format, rules, scripts, examples, installation, package, documentation, cost

docs: build ## check the documentation of the libraries, and build it as a site in .build/docs
	@for module in $(DOCUMENTED); do \
	  Scripts/build-docs $$module "$$($(SWIFT) build $(BUILD) --show-bin-path)" $(SCRATCH)/docs/$$module || exit 1; \
	done

bench: ## measure against C programs, on both buses and without one, and write docs/benchmarks.md (ARGS="--only service --page" for a part)
	@$(SETUP) build run bench
	Benchmarks/run $(ARGS)

order: ## measure anew which functions a drop executes, for the linker (Benchmarks/functions.order)
	@$(SETUP) build run bench order
	Benchmarks/order.py

fuzz: ## give each parser made-up documents for some time (SECONDS=60, ARGS=predicate for one parser)
	@$(SETUP) build
	SWIFT="$(SWIFT)" Fuzz/run $(SECONDS) $(SCRATCH)/fuzz $(ARGS)

simulate: ## play the service in made-up worlds for some time (SECONDS=60, SEED=17 for a seed that failed)
	@$(MAKE) --no-print-directory release EXECUTABLES=theatre
	@"$(BUILT)/theatre" --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(ARGS)

mutate: ## break the core on purpose, and let the theatre find the faults (SECONDS=60, ARGS="3 17" for some)
	@$(SETUP) build
	Scripts/mutate $(SECONDS) $(ARGS)

# The release's own programs take the place of those for debugging until the next build. MemoryTests replace functions of a shared
# libdbus, which a release has not got.
test-release: build release ## run the tests of the programs with those of the release
	@built="$$($(SWIFT) build $(BUILD) --show-bin-path)"; \
	  trap 'rm -f "$$built/stagedoord" "$$built/stagedoor"' EXIT; cp "$(BUILT)/stagedoord" "$(BUILT)/stagedoor" "$$built" && \
	  STAGEDOOR_RELEASE=1 $(SWIFT) test --skip-build $(BUILD) --disable-xctest \
	    --filter 'DaemonTests|CommandTests|HostileTests|StagedoorKitTests' --skip MemoryTests $(ARGS)

# One test after another: a long round takes the whole machine, and other tests would exceed their limits.
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

release: ## build the programs to install (EXECUTABLES="stagedoord")
	@$(SETUP) build release
	@Scripts/static-library libstdc++.a "$(STATIC)"
	@Scripts/static-library libdbus-1.a "$(STATIC)" dbus-1
	@Scripts/static-library libsqlite3.a "$(STATIC)" sqlite3
	@for name in $(EXECUTABLES); do \
	  if Scripts/lay-out "$$name" --can; then flags="$(MOVABLE) $(SHORT)"; else flags="$(SHORT)"; fi; \
	  PKG_CONFIG_PATH="$(STATIC)$${PKG_CONFIG_PATH:+:$$PKG_CONFIG_PATH}" $(SWIFT) build $(RELEASE) $$flags --product $$name && \
	  Scripts/lay-out "$(BUILT)/$$name" || exit 1; \
	done

install: check-prefix release install-built ## build for release and install (PREFIX=/usr/local DESTDIR=)

# Checks before minutes of building that the files can name the place, and that the user may write into it.
AS_ROOT = \`make release\`, then \`sudo make install-built\`
install-understudy install-understudy-built: AS_ROOT = \`make release EXECUTABLES=$(UNDERSTUDY)\`, then \`sudo make install-understudy-built\`
check-prefix:
	@case '$(PREFIX)' in \
	  [!/]* | *[!A-Za-z0-9/._+~-]*) \
	    echo 'PREFIX must begin with a slash, have letters, digits and ./_+~- only, and not be $(PREFIX)' >&2; exit 1; \
	esac
	@place="$(BIN)"; while [ ! -e "$$place" ]; do place="$$(dirname "$$place")"; done; \
	  if [ ! -w "$$place" ]; then \
	    echo "You may not write into $$place. Type $(AS_ROOT); or choose another PREFIX." >&2; \
	    exit 1; \
	  fi

# $(call have-built,PROGRAMS,COMMAND): fails if a program is not built, and names the command that builds it.
have-built = @for name in $(1); do \
  [ -x "$(BUILT)/$$name" ] || { echo "There is no $(BUILT)/$$name. Type \`$(2)\` first." >&2; exit 1; }; \
done

install-built: check-prefix ## install the programs that `make release` has built
	$(call have-built,$(EXECUTABLES),make release)
	install -d "$(BIN)" "$(DOC)" "$(MAN)" "$(INTERFACES)" "$(SERVICES)" "$(UNITS)"
	for name in $(EXECUTABLES); do \
	  install -m 755 "$(BUILT)/$$name" "$(BIN)" && $(STRIP) "$(BIN)/$$name" || exit 1; \
	done
	install -m 644 $(wildcard README.md) LICENSE CHANGELOG.md "$(DOC)"
	find docs -type f ! -name '*.1' -exec install -D -m 644 {} "$(DOC)/{}" \;
	find "$(DOC)" -name '*.md' -exec $(UNLINK) {} +
	install -m 644 $(filter-out docs/$(UNDERSTUDY).1,$(wildcard docs/*.1)) "$(MAN)"
	for pair in $(COMPLETIONS); do \
	  install -D -m 644 "Sources/stagedoor/Completions/$${pair%%:*}" "$(SHARE)/$${pair#*:}" || exit 1; \
	done
	install -D -m 755 examples/shell/send-to-scene "$(LIBEXEC)/send-to-scene"
	for pair in $(MENUS); do \
	  install -d "$$(dirname "$(SHARE)/$${pair#*:}")" || exit 1; \
	  $(FILL) "desktop/$${pair%%:*}.in" >"$(SHARE)/$${pair#*:}" && chmod 644 "$(SHARE)/$${pair#*:}" || exit 1; \
	done
	install -d "$(SHARE)/stagedoor/nautilus"
	$(FILL) desktop/nautilus.in >"$(SHARE)/$(NAUTILUS)" && chmod 755 "$(SHARE)/$(NAUTILUS)"
	install -d "$(EXAMPLES)/shell" "$(EXAMPLES)/python"
	install -m 755 $(filter-out examples/shell/gallery.json,$(wildcard examples/shell/*)) "$(EXAMPLES)/shell"
	install -m 644 examples/shell/gallery.json "$(EXAMPLES)/shell"
	install -m 755 examples/python/* "$(EXAMPLES)/python"
	install -m 644 $(filter-out $(UNDERSTUDY_XML),$(wildcard dbus/*.xml)) "$(INTERFACES)"
	for name in $(ACTIVATED); do $(FILL) dbus/$$name.in >"$(SERVICES)/$$name" || exit 1; done
	for name in $(UNIT); do $(FILL) dbus/$$name.in >"$(UNITS)/$$name" || exit 1; done
	chmod 644 $(foreach name,$(ACTIVATED),"$(SERVICES)/$(name)") $(foreach name,$(UNIT),"$(UNITS)/$(name)")

install-understudy: check-prefix ## build for release and install the program that finds the windows of other applications (needs libxcb)
	@$(MAKE) --no-print-directory release install-understudy-built EXECUTABLES=$(UNDERSTUDY)

install-understudy-built: check-prefix
	$(call have-built,$(UNDERSTUDY),make release EXECUTABLES=$(UNDERSTUDY))
	install -d "$(BIN)" "$(MAN)" "$(INTERFACES)" "$(SERVICES)" "$(UNITS)" "$(WANTED)"
	install -m 755 "$(BUILT)/$(UNDERSTUDY)" "$(BIN)" && $(STRIP) "$(BIN)/$(UNDERSTUDY)"
	install -m 644 docs/$(UNDERSTUDY).1 "$(MAN)"
	install -m 644 $(UNDERSTUDY_XML) "$(INTERFACES)"
	$(FILL) dbus/$(UNDERSTUDY_SERVICE).in >"$(SERVICES)/$(UNDERSTUDY_SERVICE)"
	$(FILL) dbus/$(UNDERSTUDY).service.in >"$(UNITS)/$(UNDERSTUDY).service"
	chmod 644 "$(SERVICES)/$(UNDERSTUDY_SERVICE)" "$(UNITS)/$(UNDERSTUDY).service"
	ln -sf ../$(UNDERSTUDY).service "$(WANTED)"
	for pair in $(SEARCH); do \
	  install -d "$$(dirname "$(SHARE)/$${pair#*:}")" || exit 1; \
	  $(FILL) "desktop/$${pair%%:*}" >"$(SHARE)/$${pair#*:}" && chmod 644 "$(SHARE)/$${pair#*:}" || exit 1; \
	done

install-drag: check-prefix gtk-packages ## build and install `stagedoor drag`, a small window to drag files from (needs GTK 4)
	$(WITHGTK) build --package-path examples/gtk --configuration release --static-swift-stdlib --product stagedoor-drag
	install -d "$(BIN)" "$(MAN)"
	install -m 755 "$$($(WITHGTK) build --package-path examples/gtk --configuration release --show-bin-path)/stagedoor-drag" "$(BIN)"
	$(STRIP) "$(BIN)/stagedoor-drag"
	install -m 644 examples/gtk/Drag/stagedoor-drag.1 "$(MAN)"

uninstall: ## remove what `make install` installed (same PREFIX and DESTDIR)
	for name in $(EXECUTABLES) $(UNDERSTUDY) stagedoor-drag; do rm -f "$(BIN)/$$name"; done
	for file in dbus/*.xml; do rm -f "$(INTERFACES)/$${file##*/}"; done
	for name in $(ACTIVATED) $(UNDERSTUDY_SERVICE); do rm -f "$(SERVICES)/$$name"; done
	for name in $(UNIT) $(UNDERSTUDY).service; do rm -f "$(UNITS)/$$name" "$(WANTED)/$$name"; done
	for page in docs/*.1 stagedoor-drag.1; do rm -f "$(MAN)/$${page##*/}"; done
	for pair in $(COMPLETIONS) $(MENUS) $(SEARCH); do rm -f "$(SHARE)/$${pair#*:}"; done
	rm -rf "$(LIBEXEC)" "$(SHARE)/stagedoor/nautilus" "$(DOC)"
	for path in $(OWN_DIRECTORIES); do \
	  cd "$(DESTDIR)$(PREFIX)/$${path%%/*}" 2>/dev/null && rmdir -p --ignore-fail-on-non-empty "$${path#*/}" 2>/dev/null; \
	done; true

deb: release ## build the Debian packages in .build (DEBFULLNAME, DEBEMAIL: their maintainer), and check them where lintian is installed
	@$(MAKE) --no-print-directory release EXECUTABLES=$(UNDERSTUDY)
	packages="$$(STATIC="$(STATIC)" Scripts/make-deb $(BUILT) $(SCRATCH))" && Scripts/check-deb $$packages

setup: ## install every system package that any target needs
	@$(SETUP) build run test check bench examples test-examples test-understudy

format: ## format the sources as check-format demands
	@$(SOURCES) | xargs $(SWIFT) format format --in-place --parallel

clean: ## remove all built files
	rm -rf $(SCRATCH) examples/gtk/.build Benchmarks/.build

# The parts of `make check`, the cheapest first. Each can run by itself.

check-scripts:
	@$(SETUP) build check
	@Scripts/test-checks

check-format:
	@$(SOURCES) | xargs $(SWIFT) format lint --strict --parallel
	@echo "format: kept"

check-rules:
	@Scripts/check-rules
	@Scripts/mutate --check

check-shell:
	@Scripts/check-shell

check-unit:
	@Scripts/check-unit

check-manual:
	@Scripts/check-manual docs/*.1 examples/gtk/Drag/*.1

# The release is built for it, so `make check` takes some minutes longer.
check-cost: ## count what a drop, a batch, a delivery and a start execute, and compare with Benchmarks/cost.json
	@$(SETUP) bench order
	@$(MAKE) --no-print-directory release EXECUTABLES=stagedoord
	@Benchmarks/cost.py --built "$(BUILT)"

# The tests run what is built for debugging. Once only the optimised core wrote texts that nobody could read.
check-release: ## play some thousand steps with the core as it is built for release
	@$(MAKE) --no-print-directory release EXECUTABLES=theatre
	@"$(BUILT)/theatre" --seconds 3600 --plays 80 --seed 1

check-install: build
	@$(SETUP) run check
	@Scripts/check-install "$$($(SWIFT) build $(BUILD) --show-bin-path)"

# The package of debug builds, which search for Swift's libraries where the toolchain has them. Release builds contain these libraries.
check-deb: build
	@[ -z "$$CI" ] || $(SETUP) deb
	@place="$$(mktemp -d)" && trap 'rm -rf "$$place"' EXIT && \
	  packages="$$(Scripts/make-deb "$$($(SWIFT) build $(BUILD) --show-bin-path)" "$$place" -Zgzip -z1)" && \
	  IGNORED=custom-library-search-path Scripts/check-deb $$packages

check-examples: build
	@Scripts/check-examples "$$($(SWIFT) build $(BUILD) --show-bin-path)"

build:
	@$(SETUP) build
	$(SWIFT) build --build-tests $(BUILD)
