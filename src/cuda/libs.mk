# The libraries that catch a CUDA program (see docs/ARCHITECTURE.md). All code is in libwarpsafe.so; the others are names
# for it: libcudart.so.N for programs with the shared runtime, libcuda.so.1 for the driver API, and the preload for
# programs with the runtime linked in.
L         := $(B)/lib
CUDART    := 13 12 11.0
CUDA_LIBS := $(L)/libwarpsafe.so $(CUDART:%=$(L)/libcudart.so.%) $(L)/libcudart.so $(L)/libcuda.so.1 $(L)/libcuda.so \
             $(L)/libwarpsafe-preload.so
SHARED     = $(CC) -shared $(LDFLAGS) -Wl,-rpath,'$$ORIGIN' $(if $(SAN),,-Wl,-z,defs)

$(L)/libwarpsafe.so: $(filter-out $(B)/obj/cli/% $(B)/obj/real/%,$(OBJ))
	@mkdir -p $(@D)
	$(SHARED) -Wl,-soname,$(@F) -Wl,-Bsymbolic $^ $(LDLIBS) -o $@

# One version node a release, named like the library: what programs ask for.
$(B)/obj/cuda/cudart.%.map:
	@mkdir -p $(@D)
	echo 'libcudart.so.$* { global: cuda*; __cuda*; ws_stand_in; local: *; };' > $@

$(B)/obj/cuda/shim_cudart.13.o: src/cuda/shim_cudart.c src/cuda/rt_api.def
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@
$(B)/obj/cuda/shim_cudart.12.o $(B)/obj/cuda/shim_cudart.11.0.o: src/cuda/shim_cudart.c src/cuda/rt_api.def
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -DWS_BEFORE_13 -c $< -o $@

$(L)/libcudart.so.%: $(B)/obj/cuda/shim_cudart.%.o $(B)/obj/cuda/cudart.%.map $(L)/libwarpsafe.so
	$(SHARED) -Wl,-soname,$(@F) -Wl,--version-script,$(B)/obj/cuda/cudart.$*.map $< -L$(L) -lwarpsafe -o $@
$(L)/libcudart.so: $(L)/libcudart.so.13
	ln -sf $(<F) $@

$(L)/libcuda.so.1: $(B)/obj/cuda/shim_cuda.o $(L)/libwarpsafe.so
	$(SHARED) -Wl,-soname,$(@F) $< -L$(L) -lwarpsafe -o $@
$(L)/libcuda.so: $(L)/libcuda.so.1
	ln -sf $(<F) $@

# INITFIRST: its constructor runs before those of every other library and of the program
$(L)/libwarpsafe-preload.so: $(B)/obj/cuda/shim_preload.o $(B)/obj/cuda/shim_calls.o $(L)/libwarpsafe.so
	$(SHARED) -Wl,-soname,$(@F) -Wl,-z,initfirst $(filter %.o,$^) -L$(L) -lwarpsafe -ldl -o $@

$(B)/obj/cuda/shim_cuda.o: src/cuda/drv_api.def
.SECONDARY: $(CUDART:%=$(B)/obj/cuda/cudart.%.map)
