/* fatbin.c - reads the containers of fat binaries; see fatbin.h for the layout. */
#include "cuda/fatbin.h"

#include <stdlib.h>
#include <string.h>

#include <lz4.h>
#include <zstd.h>

enum { CONTAINER_HEADER = 16, ENTRY_HEADER = 64, FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };
/* the largest PTX that we are ready to unpack; nvcc's largest seen is 30 MB, a damaged size must not eat the machine */
#define MAX_PLAIN ((size_t)1 << 30)

static uint16_t u16(const uint8_t *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof v);
	return v;
}
static uint32_t u32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return v;
}
static uint64_t u64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static void add(struct ws_fatbin *f, struct ws_image i)
{
	*WS_PUSH(f->images, f->n, f->cap) = i;
}

/* Reads the entry at p, of which `left` bytes are there; its whole size goes to *size. */
static bool read_entry(struct ws_fatbin *f, const uint8_t *p, size_t left, size_t *size, const char **why)
{
	uint64_t header, payload, packed, plain, flags;
	uint16_t kind;

	if (left < ENTRY_HEADER)
		return *why = "the header of an entry is cut off", false;
	kind = u16(p);
	header = u32(p + 4);
	payload = u64(p + 8);
	packed = u32(p + 16);
	flags = u64(p + 40);
	plain = u64(p + 56);
	if (header < ENTRY_HEADER || header > left || payload > left - header)
		return *why = "an entry is longer than its container", false;
	*size = header + payload;
	if (kind != WS_IMAGE_PTX && kind != WS_IMAGE_ELF)
		return true; /* options and the like: nothing to run */
	if (!(flags & (FLAG_LZ4 | FLAG_ZSTD)))
		packed = plain = 0;
	if (packed > payload)
		return *why = "compressed bytes are cut off", false;
	if (plain > MAX_PLAIN)
		return *why = "an entry says that it unpacks to more than 1 GiB", false;
	add(f, (struct ws_image){.kind = kind,
				 .sm = u32(p + 28),
				 .flags = flags,
				 .data = p + header,
				 .len = packed ? packed : payload,
				 .plain_len = plain});
	return true;
}

static bool read_container(struct ws_fatbin *f, const uint8_t *p, size_t len, const char **why)
{
	size_t at, end, size;
	uint64_t header, body;

	if (len < CONTAINER_HEADER)
		return *why = "the container is cut off", false;
	header = u16(p + 6);
	body = u64(p + 8);
	if (header < CONTAINER_HEADER || header > len || body > len - header)
		return *why = "the container is longer than the section it is in", false;
	end = header + body;
	for (at = header; at < end; at += size)
		if (!read_entry(f, p + at, end - at, &size, why))
			return false;
	return true;
}

/* The architecture of PTX that stands alone: the digits of its ".target sm_NN". 0 if there is none. */
static uint32_t target_of(const char *text, size_t len)
{
	const char *t = memmem(text, len, ".target", 7), *end = text + len, *sm;
	uint32_t v = 0;

	sm = t ? memmem(t, (size_t)(end - t), "sm_", 3) : NULL;
	for (sm = sm ? sm + 3 : end; sm < end && *sm >= '0' && *sm <= '9' && v < 1000; sm++)
		v = v * 10 + (uint32_t)(*sm - '0');
	return v;
}

static bool looks_like_text(const uint8_t *p, size_t len)
{
	enum { SHORTEST = 16 }; /* the three directives that PTX begins with are longer */
	size_t i;

	for (i = 0; i < SHORTEST && i < len && p[i]; i++)
		if (p[i] >= 0x7f || (p[i] < 0x20 && !(p[i] >= '\t' && p[i] <= '\r')))
			return false;
	return i == SHORTEST;
}

size_t ws_fatbin_size(const void *data, size_t there)
{
	uint32_t magic;
	uint64_t body;

	if (there < 16)
		return 0;
	memcpy(&magic, data, sizeof magic);
	memcpy(&body, (const uint8_t *)data + 8, sizeof body);
	if (magic != WS_FATBIN_MAGIC)
		return 0;
	return body > there - 16 ? there : (size_t)body + 16;
}

bool ws_fatbin_read(struct ws_fatbin *f, const void *data, size_t len, const char **why)
{
	const uint8_t *p = data;

	if (len >= 4 && u32(p) == WS_FATBIN_MAGIC)
		return read_container(f, p, len, why);
	if (len >= 4 && memcmp(p, "\177ELF", 4) == 0) {
		add(f, (struct ws_image){.kind = WS_IMAGE_ELF, .data = p, .len = len});
		return true;
	}
	if (looks_like_text(p, len)) {
		size_t n = strnlen(data, len);

		add(f, (struct ws_image){.kind = WS_IMAGE_PTX, .sm = target_of(data, n), .data = p, .len = n});
		return true;
	}
	*why = "it is neither a fat binary, nor PTX, nor an ELF file";
	return false;
}

void ws_fatbin_free(struct ws_fatbin *f)
{
	free(f->images);
	*f = (struct ws_fatbin){0};
}

static bool better(const struct ws_image *a, const struct ws_image *b, uint32_t cc)
{
	bool fits = a->sm <= cc;

	if (fits != (b->sm <= cc))
		return fits;
	return fits ? a->sm > b->sm : a->sm < b->sm;
}

const struct ws_image *ws_fatbin_ptx(const struct ws_fatbin *f, uint32_t cc)
{
	const struct ws_image *best = NULL;
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->images[i].kind == WS_IMAGE_PTX && (!best || better(&f->images[i], best, cc)))
			best = &f->images[i];
	return best;
}

bool ws_fatbin_has_elf(const struct ws_fatbin *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->images[i].kind == WS_IMAGE_ELF)
			return true;
	return false;
}

static bool unpack(const struct ws_image *i, char *out, const char **why)
{
	if (i->flags & FLAG_ZSTD) {
		size_t n = ZSTD_decompress(out, i->plain_len, i->data, i->len);

		if (ZSTD_isError(n) || n != i->plain_len)
			return *why = "its zstd data is damaged", false;
		return true;
	}
	if (i->len > LZ4_MAX_INPUT_SIZE ||
	    LZ4_decompress_safe((const char *)i->data, out, (int)i->len, (int)i->plain_len) != (int)i->plain_len)
		return *why = "its LZ4 data is damaged", false;
	return true;
}

char *ws_image_text(const struct ws_image *i, size_t *len, const char **why)
{
	bool packed = i->flags & (FLAG_LZ4 | FLAG_ZSTD);
	size_t n = packed ? i->plain_len : i->len;
	char *text = malloc(n + 1);

	if (!text)
		return *why = "there is not enough memory to unpack it", NULL;
	if (!packed)
		memcpy(text, i->data, n);
	else if (!unpack(i, text, why)) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	*len = strlen(text); /* payloads are padded with NULs */
	return text;
}
