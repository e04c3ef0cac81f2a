# libwarpsafe-real.so: between a program and the installed driver (src/real/real.h). It is loaded into programs of all
# kinds, so it takes from the archive what it needs and no more, exports one function, and has zstd and LZ4 inside where
# their archives are installed: a program may bring versions of its own.
REAL_LIBS := $(B)/lib/libwarpsafe-real.so
REAL_OBJ  := $(filter $(B)/obj/real/%,$(OBJ))
# -print-file-name gives a path when there is such a file
archive    = $(if $(findstring /,$(shell $(CC) -print-file-name=lib$(1).a)),-l:lib$(1).a,-l$(1))
REAL_LINK  = $(call archive,zstd) $(call archive,lz4) $(filter-out -lzstd -llz4,$(LDLIBS))

$(B)/lib/libwarpsafe-real.so: $(REAL_OBJ) $(B)/libwarpsafe.a
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS) $(if $(SAN),,-Wl,-z,defs) -Wl,-z,nodelete -Wl,-Bsymbolic -Wl,--exclude-libs,ALL -Wl,--as-needed \
	      -Wl,-soname,$(@F) $^ $(REAL_LINK) -o $@
