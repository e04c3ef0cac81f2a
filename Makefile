# warpsafe - see README.md. `make` builds build/warpsafe; `make demo`, `make check`, `make bench`, `make install`.
CC      ?= gcc
B       ?= build
# PTX of device code, the same for each build: tools/check makes it once for all
GEN     ?= $(B)/gen
PREFIX  ?= /usr/local
OPT     ?= -O2 -g
WARN     = -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
CPPFLAGS += -D_GNU_SOURCE -Isrc -I$(GEN)
# Contraction off: a fused multiply-add where PTX says mul and add would be a wrong result.
CFLAGS  += -std=c11 $(OPT) $(WARN) -fPIC -fvisibility=hidden -ffp-contract=off -fno-strict-aliasing -pthread $(SAN)
LDFLAGS += -pthread $(SAN)
LDLIBS  += -ljansson -lzstd -llz4 -liberty -ldw -lelf -lm -ldl

ROOMS   = base ptx rewrite gpu timing units detect report cuda real cli
ARCH   := $(shell uname -m)
# *.simd.c are compiled once an instruction set and chosen at run time (src/gpu/lanes.h)
ifeq ($(ARCH),x86_64)
ISAS    = base v3 v4
endif
ISAS   ?= base
# `make ISAS=base` builds for one instruction set alone: quicker to compile (sanitizer and fuzz builds)
ifeq ($(ISAS),base)
CPPFLAGS += -DWS_ONE_ISA
endif
ISA_base =
ISA_v3   = -march=x86-64-v3
ISA_v4   = -march=x86-64-v4 -mprefer-vector-width=512

SRC     := $(filter-out %.simd.c,$(foreach r,$(ROOMS),$(wildcard src/$(r)/*.c)))
SIMD    := $(if $(filter gpu,$(ROOMS)),$(wildcard src/gpu/*.simd.c))
# entry points of the libraries that stand in for NVIDIA's: linked into those, not into the archive
SHIMS   := $(wildcard src/cuda/shim_*.c)
MAINS   := src/cli/main.c
OBJ     := $(patsubst src/%.c,$(B)/obj/%.o,$(filter-out $(SHIMS) $(MAINS),$(SRC)))
OBJ     += $(foreach i,$(ISAS),$(patsubst src/%.simd.c,$(B)/obj/%.$(i).o,$(SIMD)))
# src/device/*.cu: device code that src/rewrite places into programs, in the archive as the text of its PTX
DEVICE  := $(if $(filter rewrite,$(ROOMS)),$(wildcard src/device/*.cu))
OBJ     += $(patsubst src/%.cu,$(B)/obj/%.o,$(DEVICE))
DEVICE_CC ?= clang
DEVICE_FLAGS = -x cuda --cuda-path=/nonexistent -nocudainc -nocudalib --cuda-device-only --cuda-gpu-arch=sm_70 \
               -Wno-unknown-cuda-version -Wall -Wextra -Werror -O2

all: $(B)/warpsafe libs

$(B)/obj/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

# -Wno-pass-failed: a loop that clang leaves scalar is slow, not wrong
define SIMD_RULE
$(B)/obj/%.$(1).o: src/%.simd.c
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS) $$(CFLAGS) $(if $(SAN),,-O3) -fno-math-errno -fno-trapping-math -Wno-pass-failed $$(ISA_$(1)) -DWS_ISA=$(1) -MMD -MP -c $$< -o $$@
endef
$(foreach i,$(ISAS),$(eval $(call SIMD_RULE,$(i))))
# who chooses among them is compiled anew when others are built than the last time
$(B)/isas: FORCE
	@mkdir -p $(@D)
	@echo '$(ISAS)' | cmp -s - $@ || echo '$(ISAS)' > $@
FORCE:
$(B)/obj/gpu/lanes.o $(B)/obj/gpu/exec_mem.o: $(B)/isas

$(GEN)/device/%.ptx: src/device/%.cu $(wildcard src/device/*.cuh src/device/*.h include/warpsafe/tm.cuh include/warpsafe/tm/*)
	@mkdir -p $(@D)
	$(DEVICE_CC) $(DEVICE_FLAGS) -S $< -o $@

$(GEN)/device/race_sm90.ptx $(GEN)/device/race_remote.ptx $(GEN)/device/race_tensor.ptx: src/device/race.cu
$(GEN)/device/tm_logged.ptx: src/device/tm.cu
$(GEN)/device/%.c: $(GEN)/device/%.ptx
	{ echo '#include "rewrite/rewrite.h"'; echo 'const char ws_device_$*[] ='; \
	  sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $<; echo ';'; } > $@

.PRECIOUS: $(GEN)/device/%.ptx $(GEN)/device/%.c
$(B)/obj/device/%.o: $(GEN)/device/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(B)/libwarpsafe.a: $(OBJ)
	@rm -f $@
	ar rcs $@ $^

$(B)/warpsafe: $(B)/obj/cli/main.o $(B)/libwarpsafe.a
	$(CC) $(LDFLAGS) -rdynamic $^ $(LDLIBS) -o $@

-include src/cuda/libs.mk src/real/libs.mk
libs: $(CUDA_LIBS) $(REAL_LIBS)

# ---- tests ----
# A test of one source, which is compiled anew when a header changes.
MAKE_TEST = $(CC) $(CPPFLAGS) -I. $(CFLAGS) -MMD -MP -MT $@ $(LDFLAGS) $< $(B)/libwarpsafe.a $(LDLIBS) -o $@
UNIT    := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
$(B)/tests/unit/%: tests/unit/%.c $(B)/libwarpsafe.a
	@mkdir -p $(@D)
	$(MAKE_TEST) -lcmocka
tests: $(UNIT)
-include $(wildcard $(B)/tests/*.d $(B)/tests/unit/*.d)

-include tests/tests.mk

# ---- for people ----
# Installs what is missing from Debian's packages (as root), builds, compiles an example, finds its race.
demo:
	@tools/install-packages
	@B=$(B) tools/demo

# The speed of the simulated GPU: docs/PERFORMANCE.md.
$(B)/bench/%: bench/%.c $(B)/libwarpsafe.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $< $(B)/libwarpsafe.a $(LDLIBS) -o $@
bench: $(B)/bench/sim_speed
	$< $(BENCH_FLAGS)

# `make install PREFIX=/usr/local [DESTDIR=]`; warpsafe finds its libraries and headers relative to itself.
TO = $(DESTDIR)$(PREFIX)
install: all
	install -d $(TO)/bin $(TO)/lib/warpsafe $(TO)/include $(TO)/share/man/man1 $(TO)/share/doc/warpsafe
	install $(B)/warpsafe $(TO)/bin/
	cp -P $(B)/lib/*.so* $(TO)/lib/warpsafe/
	cp -R include/warpsafe $(TO)/include/
	install -d $(TO)/share/warpsafe/bench
	cp -R bench/workloads bench/tm bench/locks bench/common.cuh $(TO)/share/warpsafe/bench/
	install -d $(TO)/share/warpsafe/configs
	install -m 644 src/timing/configs/*.conf $(TO)/share/warpsafe/configs/
	install -m 644 docs/warpsafe.1 $(TO)/share/man/man1/
	install -m 644 README.md CHANGELOG.md LICENSE docs/*.md docs/*.json $(TO)/share/doc/warpsafe/

uninstall:
	rm -rf $(TO)/bin/warpsafe $(TO)/lib/warpsafe $(TO)/include/warpsafe $(TO)/share/doc/warpsafe $(TO)/share/warpsafe
	rm -f $(TO)/share/man/man1/warpsafe.1

# docs/warpsafe.1 comes from the option table, docs/PTX.md from the instruction table.
man: $(B)/warpsafe
	$(B)/warpsafe help --man > docs/warpsafe.1

clean:
	rm -rf $(B) $(B)-clang $(B)-asan $(B)-fuzz

-include $(OBJ:.o=.d) $(B)/obj/cli/main.d
.PHONY: FORCE all libs tests demo bench install uninstall man clean
.SECONDARY:
