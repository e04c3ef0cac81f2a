/* texture_types.h - texture and surface references are not supported: said once, by name. */
#error "textures and surfaces are not supported; use plain memory"
