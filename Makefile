# Hythe: one plain Makefile. `make help` lists what it can do.
#
# A flavour is a set of flags with a build folder of its own (build/release, build/asan, ...), so that
# the sanitizers never mix with the program that is installed.

SHELL    := /bin/bash
CC       ?= gcc
FLAVOUR  ?= release
O        := build/$(FLAVOUR)
Q        := $(if $(V),,@)

# libunistring has no pkg-config file in Debian 12.
PACKAGES := sqlite3 libmicrohttpd gnutls libcrypto libargon2 zlib
WARN     := -Wall -Wextra -Wshadow -Wimplicit-fallthrough -Wvla -Wconversion -Wstrict-prototypes \
            -Wmissing-prototypes -Wformat=2 -Wwrite-strings -Wcast-qual -Wpointer-arith -Wundef \
            $(if $(WERROR),-Werror)
HARDEN   := -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -fPIE

flags_release := -O2 -g $(HARDEN)
link_release  := -pie -Wl,-z,relro,-z,now
flags_asan    := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
link_asan     := -fsanitize=address,undefined
flags_tsan    := -O1 -g -fno-omit-frame-pointer -fsanitize=thread
link_tsan     := -fsanitize=thread
flags_fuzz    := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
link_fuzz     := -fsanitize=fuzzer,address,undefined
flags_clang   := -O1 -g $(HARDEN)
link_clang    := -pie

CFLAGS  ?=
LIBS     := $(shell pkg-config --libs $(PACKAGES)) -lunistring -lpthread -lm
PKG_CFLAGS := $(shell pkg-config --cflags $(PACKAGES))
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(WARN) $(flags_$(FLAVOUR)) -Iinclude -Isrc -MMD -MP \
             $(PKG_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(link_$(FLAVOUR)) $(LDFLAGS)

LIB_SRC  := $(filter-out src/panel/main.c,$(wildcard src/*/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$(O)/%.o) $(O)/embedded.o
TESTS    := $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/*/test_*.c))
FUZZERS  := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
EMBEDDED := $(sort $(wildcard web/*.yaml web/*.html web/*.css web/*.txt migrations/*.sql))

.PHONY: all
all: build/hythe

build/hythe: $(O)/hythe
	$(Q)cp $< $@

$(O)/hythe: $(O)/src/panel/main.o $(O)/libhythe.a
	@echo "  LINK $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(O)/libhythe.a: $(LIB_OBJ)
	$(Q)rm -f $@ && ar qcs $@ $^

$(O)/%.o: %.c
	@mkdir -p $(@D); echo "  CC   $<"
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# web/ and migrations/ become arrays in the binary.
build/embed: web/embed.c
	@mkdir -p $(@D)
	$(Q)cc -std=c11 -O1 -D_GNU_SOURCE -o $@ $<
$(O)/embedded.c: build/embed $(EMBEDDED)
	@mkdir -p $(@D)
	$(Q)build/embed $(EMBEDDED) > $@.tmp && mv $@.tmp $@
$(O)/embedded.o: $(O)/embedded.c
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(O)/tests/%: tests/%.c $(O)/libhythe.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests $(ALL_LDFLAGS) -o $@ $< $(O)/libhythe.a $(LIBS)
$(O)/fuzz/%: tests/fuzz/%.c $(O)/libhythe.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests $(ALL_LDFLAGS) -o $@ $< $(O)/libhythe.a $(LIBS)

$(O)/bench/%: bench/%.c $(O)/libhythe.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(O)/libhythe.a $(LIBS)

# --- Tests -------------------------------------------------------------------------------------------
.PHONY: tests unit fuzzers replay
tests: $(TESTS)
fuzzers: $(FUZZERS)

# Builds and runs the unit tests of one flavour: `make unit FLAVOUR=asan`.
unit: tests
	@tests/unit.sh $(O)
# Every kept input once more through its fuzzer (FLAVOUR=fuzz, clang).
replay: fuzzers
	@tests/replay.sh $(O)

.PHONY: check asan tsan fuzz bench check-source
check: deps-check
	@tests/run.sh
asan: deps-check
	@$(MAKE) --no-print-directory FLAVOUR=asan unit build/asan/hythe
	@HYTHE=build/asan/hythe python3 tests/api/run.py --quick
tsan: deps-check
	@$(MAKE) --no-print-directory FLAVOUR=tsan CC=clang unit
# FUZZ_S seconds a target, from its kept inputs on; what is found stays in build/fuzz/found.
FUZZ_S ?= 60
fuzz: deps-check
	@$(MAKE) --no-print-directory FLAVOUR=fuzz CC=clang fuzzers
	@tests/fuzz.sh build/fuzz $(FUZZ_S)
check-source:
	@python3 tests/source.py
bench: deps-bench all $(O)/bench/user_list
	@python3 bench/run.py $(BENCH)

# --- What Debian 12 has to bring ---------------------------------------------------------------------
DEPS       := gcc libc6-dev pkg-config libsqlite3-dev libmicrohttpd-dev libgnutls28-dev libssl-dev \
              libargon2-dev zlib1g-dev libunistring-dev tzdata
BENCH_DEPS := python3 wrk nginx-light valgrind
CHECK_DEPS := clang libclang-rt-14-dev python3 python3-venv curl groff-base

.PHONY: deps deps-check deps-bench
deps:
	@tests/deps.sh $(DEPS)
deps-check:
	@tests/deps.sh $(DEPS) $(CHECK_DEPS)
deps-bench:
	@tests/deps.sh $(DEPS) $(BENCH_DEPS)

# --- Running and installing ----------------------------------------------------------------------------
.PHONY: run install
run: deps
	@$(MAKE) --no-print-directory -j$$(nproc) all
	@exec build/hythe serve --dev

PREFIX  ?= /usr/local
UNITDIR ?= $(PREFIX)/lib/systemd/system
install: all
	install -D -m 755 build/hythe $(DESTDIR)$(PREFIX)/bin/hythe
	install -D -m 644 packaging/man/hythe.1 $(DESTDIR)$(PREFIX)/share/man/man1/hythe.1
	install -d $(DESTDIR)$(UNITDIR)
	sed 's|@PREFIX@|$(PREFIX)|' packaging/hythe.service > $(DESTDIR)$(UNITDIR)/hythe.service

.PHONY: help clean
help:
	@echo 'make           build/hythe, optimised and hardened'
	@echo 'make run       what is needed, build, and a demo panel on loopback (data in ./.data)'
	@echo 'make check     everything: both compilers, all tests, sanitizers, fuzz corpora, the API description'
	@echo 'make asan      unit and black-box tests under AddressSanitizer and UBSan'
	@echo 'make tsan      unit tests under ThreadSanitizer'
	@echo 'make unit      unit tests of one flavour (FLAVOUR=release, asan, tsan)'
	@echo 'make fuzz      every fuzz target for FUZZ_S seconds (60)'
	@echo 'make bench     the figures of bench/README.md'
	@echo 'make check-source   include direction, banned calls, white space'
	@echo 'make deps      Debian packages that are missing (as root)'
	@echo 'make install   to DESTDIR and PREFIX (/usr/local): program, manual, systemd unit'
	@echo 'V=1 shows the commands.'
clean:
	rm -rf build

-include $(shell find build $(O) -name '*.d' 2>/dev/null)
.SECONDARY:
