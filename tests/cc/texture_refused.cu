// error: textures and surfaces are not supported; use plain memory
#include <texture_fetch_functions.h>
int main() { return 0; }
