# tests/arith: every arithmetic form against the results of an H200 (h200.bin.zst); see forms.h and run.
# To record a GPU's results: build gen here, `gen DIR`, on the machine with the GPU `cc run_device.c -ldl` and
# `run_device DIR/arith.ptx DIR/arith.in DIR/arith.list results`, here `check --pack results h200.bin.zst`.
ARITH_LIB = tests/arith/forms.c $(B)/libwarpsafe.a
$(B)/tests/arith/check: tests/arith/check.c tests/arith/harness.h tests/arith/forms.h $(ARITH_LIB)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -I. $(CFLAGS) $(LDFLAGS) tests/arith/check.c $(ARITH_LIB) $(LDLIBS) -o $@
$(B)/tests/arith/gen: tests/arith/gen.c tests/arith/forms.h $(ARITH_LIB)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -I. $(CFLAGS) $(LDFLAGS) tests/arith/gen.c $(ARITH_LIB) $(LDLIBS) -o $@

arith-tests: $(B)/tests/arith/check
	B=$(B) tests/arith/run
.PHONY: arith-tests
