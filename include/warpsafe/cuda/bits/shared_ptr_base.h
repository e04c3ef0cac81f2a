/* Keeps CUDA's word __noinline__ from libstdc++'s attribute of the same name (clang before 15 knows it as a macro
 * only). Stands before libstdc++'s own header of this name. */
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
