# libwarpsafe-real.so: between a program and the installed driver (src/real/real.h). It is loaded into programs of all
# kinds, so it takes from the archive what it needs and no more, and exports one function.
REAL_LIBS := $(B)/lib/libwarpsafe-real.so
REAL_OBJ  := $(filter $(B)/obj/real/%,$(OBJ))

$(B)/lib/libwarpsafe-real.so: $(REAL_OBJ) $(B)/libwarpsafe.a
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS) $(if $(SAN),,-Wl,-z,defs) -Wl,-z,nodelete -Wl,-Bsymbolic -Wl,--exclude-libs,libiberty.a -Wl,--as-needed -Wl,-soname,$(@F) $^ $(LDLIBS) -o $@
