# tests/sim: kernels for the simulated GPU, with expectations in their heads (simtest.c) or random (randtest.c).
$(B)/tests/simtest: tests/sim/simtest.c $(B)/libwarpsafe.a
	@mkdir -p $(@D)
	$(MAKE_TEST)

$(B)/tests/randtest: tests/sim/randtest.c $(B)/libwarpsafe.a
	@mkdir -p $(@D)
	$(MAKE_TEST)

tests: $(B)/tests/simtest $(B)/tests/randtest

# The same tests on a real GPU: run it there on the tests that expect no error. real_gpu.c comes before the library, whose
# detectors bring the simulator's functions of the same names.
$(B)/tests/simtest-real: tests/sim/simtest.c tests/sim/real_gpu.c $(B)/libwarpsafe.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -I. $(CFLAGS) -Wno-strict-prototypes $(LDFLAGS) -Wl,--as-needed,--allow-multiple-definition \
	      tests/sim/simtest.c tests/sim/real_gpu.c $(B)/libwarpsafe.a \
	      $(LDLIBS) -o $@
