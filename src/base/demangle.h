/* demangle.h - C++ names of kernels and variables for people. */
#ifndef WS_DEMANGLE_H
#define WS_DEMANGLE_H

/* "_Z3addPKfi" -> "add", "_Z6reduceILi256EEvPi" -> "reduce<256>": without parameter and result types. A name that is
 * not mangled is copied as it is. The caller frees the result; never NULL. */
char *ws_demangle(const char *name);

#endif
