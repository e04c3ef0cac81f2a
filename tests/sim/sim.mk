# tests/sim: PTX kernels with expectations in their heads, run under both divergence models; see simtest.c.
$(B)/tests/simtest: tests/sim/simtest.c $(B)/libwarpsafe.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $< $(B)/libwarpsafe.a $(LDLIBS) -o $@

sim-tests: $(B)/tests/simtest
	$< tests/sim
.PHONY: sim-tests
