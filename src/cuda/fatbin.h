/* fatbin.h - fat binaries: the container in which nvcc and clang put PTX and machine code into a program.
 *
 * Nothing is trusted: every size and offset is checked against the bytes that are known to be there. Layout as seen in
 * the output of nvcc 13 (all little-endian):
 *   container  u32 magic 0xBA55ED50, u16 version, u16 header bytes, u64 bytes of all entries
 *   entry      u16 kind (1 PTX, 2 ELF), u16 version, u32 header bytes, u64 payload bytes (padded),
 *              u32 compressed bytes, u32 offset of options, u16 minor, u16 major, u32 architecture, u32 name offset,
 *              u32 name bytes, u64 flags (0x2000 LZ4 block, 0x8000 zstd frame), u64 0, u64 uncompressed bytes */
#ifndef WS_FATBIN_H
#define WS_FATBIN_H

#include "base/base.h"

#define WS_FATBIN_MAGIC 0xBA55ED50u

/* What a program registers. Version 1: data is the container. Version 2 (relocatable device code): parts is a NULL-ended
 * array of containers that belong together; data, linked machine code, is of no use to us. */
#define WS_FATBIN_WRAPPER_MAGIC 0x466243b1u
struct ws_fatbin_wrapper {
	uint32_t magic, version;
	const void *data;
	const void *const *parts;
};
enum { WS_FATBIN_MAX_PARTS = 1 << 16 };

/* Bytes of the container at data, as it says itself, and at most the `there` that can be read; 0: it is none. */
size_t ws_fatbin_size(const void *data, size_t there);

enum ws_image_kind { WS_IMAGE_PTX = 1, WS_IMAGE_ELF = 2 };

struct ws_image {
	enum ws_image_kind kind;
	uint32_t sm; /* 90 = sm_90 */
	uint64_t flags;
	const uint8_t *data; /* in the container; maybe compressed */
	size_t len;
	size_t plain_len; /* as the entry says; 0 = not compressed */
};

struct ws_fatbin {
	struct ws_image *images;
	size_t n, cap;
};

/* Adds the images of one container of at most len bytes at data. false: *why (static text) says what is wrong with it;
 * images found before the fault stay. Raw PTX text and a raw ELF file are taken for a container of one image. */
bool ws_fatbin_read(struct ws_fatbin *f, const void *data, size_t len, const char **why);
void ws_fatbin_free(struct ws_fatbin *f);

/* The newest PTX for at most compute capability cc (10 * major + minor), else the oldest newer one. NULL if none. */
const struct ws_image *ws_fatbin_ptx(const struct ws_fatbin *f, uint32_t cc);
bool ws_fatbin_has_elf(const struct ws_fatbin *f);

/* The text of a PTX image, decompressed, NUL-terminated; *len does not count the NUL. NULL: *why. The caller frees it.
 */
char *ws_image_text(const struct ws_image *i, size_t *len, const char **why);

#endif
