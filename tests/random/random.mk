# tests/random: random kernels under two race detectors.
$(B)/tests/random-kernels: tests/random/kernels.c $(B)/libwarpsafe.a
	@mkdir -p $(@D)
	$(MAKE_TEST)

tests: $(B)/tests/random-kernels
