# tests/random: random kernels under two race detectors.
$(B)/tests/random-kernels: tests/random/kernels.c $(B)/libwarpsafe.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -I. $(CFLAGS) $(LDFLAGS) $< $(B)/libwarpsafe.a $(LDLIBS) -o $@

tests: $(B)/tests/random-kernels
