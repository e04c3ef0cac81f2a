# tests.mk - test programs beyond the unit tests, and the targets that run them; all found by walking.
# Fuzz targets: tests/fuzz/fuzz_NAME.c (LLVMFuzzerTestOneInput) with tests/fuzz/corpus_NAME.
FUZZ    := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SAN = -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined

$(B)/tests/fuzz/replay_%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c $(B)/libwarpsafe.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-missing-prototypes $(LDFLAGS) $^ $(LDLIBS) -o $@
tests: $(B)/tests/simtest

replays: $(FUZZ:%=$(B)/tests/fuzz/replay_%)

# in a build folder of its own (B=build-fuzz): everything is compiled with clang's coverage
fuzzers:
	$(MAKE) --no-print-directory CC=clang B=$(B) GEN=$(GEN) ISAS=base SAN='$(FUZZ_SAN)' OPT='-O1 -gline-tables-only' $(FUZZ:%=$(B)/tests/fuzz/fuzz_%)
$(B)/tests/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(B)/libwarpsafe.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-missing-prototypes $(LDFLAGS) -fsanitize=fuzzer $^ $(LDLIBS) -o $@
# `make fuzz-NAME FUZZ_SECONDS=3600`
fuzz-%:
	$(MAKE) --no-print-directory B=$(B)-fuzz fuzzers
	B=$(B)-fuzz $(if $(FUZZ_SECONDS),FUZZ_SECONDS=$(FUZZ_SECONDS)) tools/fuzz $*

-include $(wildcard tests/*/*.mk)

check:
	@tools/install-packages
	@B=$(B) $(if $(FUZZ_SECONDS),FUZZ_SECONDS=$(FUZZ_SECONDS)) tools/check

.PHONY: check replays fuzzers
.PRECIOUS: $(B)/tests/fuzz/replay_% $(B)/tests/fuzz/fuzz_%
