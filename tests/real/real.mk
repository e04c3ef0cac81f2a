# A stub calls ws_real_bind, which test_stub has in place of the library's.
$(B)/tests/unit/test_stub: LDFLAGS += -rdynamic

# On a machine with an NVIDIA GPU and nvcc.
check-gpu: all
	B=$(B) tests/real/gpu
	B=$(B) tests/verdicts/run --gpu
.PHONY: check-gpu
