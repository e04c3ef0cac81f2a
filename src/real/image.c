/* image.c - device code taken apart: which PTX of it runs on the GPU. The forms are those of
 * src/cuda/fatbin.h. */
#include <stdlib.h>
#include <string.h>

#include "base/readable.h"
#include "cuda/fatbin.h"
#include "real/real_priv.h"

static void refuse(struct ws_real_image *i, const char *fmt, ...) WS_PRINTF(2, 3);
static void refuse(struct ws_real_image *i, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ws_replace_vtext(&i->why, fmt, ap);
	va_end(ap);
}

/* PTX for "sm_90a" runs on 9.0 alone, for "sm_100f" on later ones of the same family, else on all later ones
 * (PTX ISA 9.0, 11.1.2 ".target"). */
static bool runs_on(const char *text, uint32_t sm, uint32_t cc)
{
	const char *t = strstr(text, ".target"), *s = t ? strstr(t, "sm_") : NULL;

	s = s ? s + 3 + strspn(s + 3, "0123456789") : "";
	return *s == 'a' ? sm == cc : *s == 'f' ? sm <= cc && sm / 10 == cc / 10 : sm <= cc;
}

/* The text for the GPU in f: that for the newest capability which it can run. NULL: refused. */
static char *choose(struct ws_real_image *i, const struct ws_fatbin *f, uint32_t cc, size_t *len)
{
	uint32_t below = UINT32_MAX, any = 0;

	for (;;) {
		const struct ws_image *best = NULL;
		const char *why = NULL;
		char *text;

		for (size_t k = 0; k < f->n; k++) {
			const struct ws_image *m = &f->images[k];

			if (m->kind == WS_IMAGE_PTX && m->sm < below && m->sm <= cc && (!best || m->sm > best->sm))
				best = m;
			if (m->kind == WS_IMAGE_PTX && (!any || m->sm < any))
				any = m->sm;
		}
		if (!best)
			break;
		text = ws_image_text(best, len, &why);
		if (!text) {
			refuse(i, "PTX that cannot be unpacked: %s", why);
			return NULL;
		}
		if (runs_on(text, best->sm, cc))
			return text;
		free(text);
		below = best->sm;
	}
	if (any)
		refuse(i, "PTX for sm_%u only, the GPU is sm_%u", any, cc);
	else
		refuse(i, "no PTX in the program");
	return NULL;
}

/* Bytes of the code at data of which `there` can be read. */
static size_t extent(const uint8_t *data, size_t there)
{
	size_t container = ws_fatbin_size(data, there);

	if (container)
		return container;
	return memcmp(data, "\177ELF", 4) == 0 ? there : strnlen((const char *)data, there);
}

static void add_part(struct ws_real_image *i, const void *data, size_t there, uint32_t cc)
{
	struct ws_real_part p = { .binary = data };
	struct ws_fatbin f = { 0 };
	const char *why = NULL;
	size_t cap = i->n;

	if (there >= 4)
		p.binary_len = extent(data, there);
	if (there < 4)
		refuse(i, "the device code is not readable");
	else if (!ws_fatbin_read(&f, data, p.binary_len, &why) && !f.n)
		refuse(i, "device code that warpsafe cannot read: %s", why);
	else
		p.text = choose(i, &f, cc, &p.len);
	ws_fatbin_free(&f);
	i->ntexts += p.text != NULL;
	*WS_PUSH(i->parts, i->n, cap) = p;
}

void ws_real_image_read(struct ws_real_image *i, const void *data, size_t len, uint32_t cc)
{
	size_t there = !data ? 0 : len ? len : ws_readable_bytes(data);
	struct ws_fatbin_wrapper w = { 0 };

	*i = (struct ws_real_image){ 0 };
	if (there >= sizeof w)
		memcpy(&w, data, sizeof w);  /* code may stand anywhere, only a wrapper is aligned */
	if (w.magic != WS_FATBIN_WRAPPER_MAGIC) {
		add_part(i, data, there, cc);
		return;
	}
	if (w.version >= 2 && w.parts) {
		size_t most = ws_readable_bytes(w.parts) / sizeof *w.parts;

		for (size_t k = 0; k < most && k < WS_FATBIN_MAX_PARTS && w.parts[k]; k++)
			add_part(i, w.parts[k], ws_readable_bytes(w.parts[k]), cc);
	}
	if (!i->n)
		add_part(i, w.data, w.data ? ws_readable_bytes(w.data) : 0, cc);
}

void ws_real_image_free(struct ws_real_image *i)
{
	for (size_t k = 0; k < i->n; k++)
		free(i->parts[k].text);
	free(i->parts);
	free(i->why);
	*i = (struct ws_real_image){ 0 };
}
