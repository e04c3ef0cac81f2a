/* demangle.h - C++ names of kernels and variables for people. */
#ifndef WS_DEMANGLE_H
#define WS_DEMANGLE_H

#include <stdbool.h>

/* "_Z3addPKfi" -> "add", "_Z6reduceILi256EEvPi" -> "reduce<256>": without parameter and result types. A name that is
 * not mangled is copied as it is. The caller frees the result; never NULL. */
char *ws_demangle(const char *name);
/* The same for a variable; of one in shared memory without the kernel's name: "_ZZ6kernelPiS_E4tile" -> "tile". Compilers
 * make variables of parts of an array or structure: "_ZZ6kernelPiS_E4tile_$_2" -> "tile.2". */
char *ws_plain_variable(const char *name, bool shared);

#endif
