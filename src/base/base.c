/* base.c - arenas, buffers, diagnostics; see base.h. */
#include "base/base.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void out_of_memory(size_t size)
{
	fprintf(stderr, "warpsafe: no memory left (%zu bytes wanted); close other programs or use a smaller input\n", size);
	_exit(2);
}

void *ws_alloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		out_of_memory(size);
	return p;
}

void *ws_realloc(void *p, size_t size)
{
	void *q = realloc(p, size ? size : 1);

	if (!q)
		out_of_memory(size);
	return q;
}

char *ws_strndup(const char *s, size_t n)
{
	char *p = ws_alloc(n + 1);

	memcpy(p, s, n);
	return p;
}

char *ws_strdup(const char *s)
{
	return ws_strndup(s, strlen(s));
}

void *ws_grow(void *items, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap ? *cap : 8;

	if (need <= *cap)
		return items;
	while (n < need)
		n *= 2;
	if (n > SIZE_MAX / size)
		out_of_memory(SIZE_MAX);
	*cap = n;
	return ws_realloc(items, n * size);
}

void *ws_grow_zeroed(void *items, size_t *cap, size_t need, size_t size)
{
	size_t had = *cap;
	char *grown = ws_grow(items, cap, need, size);

	if (*cap > had)
		memset(grown + had * size, 0, (*cap - had) * size);
	return grown;
}

/* ---- arena ---- */
struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(16) unsigned char data[];
};

struct ws_arena {
	struct chunk *head;
	size_t bytes;
};

enum { CHUNK = 64 * 1024 };

struct ws_arena *ws_arena_new(void)
{
	return ws_alloc(sizeof(struct ws_arena));
}

void ws_arena_free(struct ws_arena *a)
{
	if (!a)
		return;
	for (struct chunk *c = a->head, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

void *ws_arena_alloc(struct ws_arena *a, size_t size)
{
	struct chunk *c = a->head;

	if (size > SIZE_MAX - CHUNK)
		out_of_memory(size);
	size = (size + 15) & ~(size_t)15;
	if (!c || c->size - c->used < size) {
		size_t room = size > CHUNK / 4 ? size : CHUNK;
		struct chunk *n = ws_alloc(sizeof *n + room);

		n->size = room;
		a->bytes += room;
		if (c && room == size && room != CHUNK) {  /* a large object of its own must not end the open chunk */
			n->next = c->next;
			c->next = n;
			n->used = size;
			return n->data;
		}
		n->next = c;
		a->head = c = n;
	}
	c->used += size;
	return c->data + c->used - size;
}

char *ws_arena_strndup(struct ws_arena *a, const char *s, size_t n)
{
	char *p = ws_arena_alloc(a, n + 1);

	memcpy(p, s, n);
	return p;
}

size_t ws_arena_bytes(const struct ws_arena *a)
{
	return a->bytes;
}

/* ---- buffer ---- */
void ws_buf_add(struct ws_buf *b, const void *bytes, size_t n)
{
	b->data = ws_grow(b->data, &b->cap, b->len + n + 1, 1);
	if (n)
		memcpy(b->data + b->len, bytes, n);
	b->len += n;
	b->data[b->len] = 0;
}

void ws_buf_puts(struct ws_buf *b, const char *s)
{
	ws_buf_add(b, s, strlen(s));
}

void ws_buf_add_json(struct ws_buf *b, const char *s)
{
	ws_buf_puts(b, "\"");
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			ws_buf_printf(b, "\\%c", *s);
		else if ((unsigned char)*s < ' ')
			ws_buf_printf(b, "\\u%04x", (unsigned)*s);
		else
			ws_buf_add(b, s, 1);
	ws_buf_puts(b, "\"");
}

void ws_buf_add_count(struct ws_buf *out, uint64_t n)
{
	char digits[32];
	int len = snprintf(digits, sizeof digits, "%" PRIu64, n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			ws_buf_puts(out, ",");
		ws_buf_add(out, digits + i, 1);
	}
}

void ws_buf_vprintf(struct ws_buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n > 0) {
		b->data = ws_grow(b->data, &b->cap, b->len + (size_t)n + 1, 1);
		vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void ws_buf_printf(struct ws_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ws_buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void ws_buf_free(struct ws_buf *b)
{
	free(b->data);
	*b = (struct ws_buf){ 0 };
}

void ws_replace_vtext(char **s, const char *fmt, va_list ap)
{
	struct ws_buf b = { 0 };

	ws_buf_vprintf(&b, fmt, ap);
	free(*s);
	*s = b.data;
}

char *ws_read_file(const char *path, size_t *len)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
	struct ws_buf b = { 0 };
	char part[65536];
	size_t n;
	int failed;

	if (!f)
		return NULL;
	while ((n = fread(part, 1, sizeof part, f)) > 0)
		ws_buf_add(&b, part, n);
	failed = ferror(f) ? (errno ? errno : EIO) : 0;
	if (f != stdin)
		fclose(f);
	if (failed) {
		ws_buf_free(&b);
		errno = failed;
		return NULL;
	}
	ws_buf_add(&b, "", 0);
	*len = b.len;
	return b.data;
}

uint64_t ws_hash(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t h = 0x9e3779b97f4a7c15u ^ n;
	uint64_t w;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = (h ^ w) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	w = 0;
	memcpy(&w, p, n);
	h = (h ^ w) * 0xff51afd7ed558ccdu;
	h ^= h >> 29;
	h *= 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 32;
}

/* ---- diagnostics ---- */
static void add_caret(struct ws_buf *out, const struct ws_diag *d)
{
	size_t col = d->place.col ? d->place.col - 1 : 0;
	size_t len = d->place.len ? d->place.len : 1;

	if (col > d->source_len)
		col = d->source_len;
	if (len > d->source_len - col)
		len = d->source_len - col ? d->source_len - col : 1;
	ws_buf_puts(out, "  ");
	for (size_t i = 0; i < col; i++)
		ws_buf_add(out, d->source_line[i] == '\t' ? "\t" : " ", 1);
	ws_buf_puts(out, "^");
	for (size_t i = 1; i < len; i++)
		ws_buf_puts(out, "~");
	ws_buf_puts(out, "\n");
}

void ws_diag_format(struct ws_buf *out, const struct ws_diag *d)
{
	static const char *const name[] = { "note", "warning", "error" };

	if (d->place.path)
		ws_buf_printf(out, "%s:", d->place.path);
	if (d->place.line)
		ws_buf_printf(out, "%u:", d->place.line);
	if (d->place.line && d->place.col)
		ws_buf_printf(out, "%u:", d->place.col);
	ws_buf_printf(out, "%s%s: %s\n", d->place.path ? " " : "", name[d->severity], d->text);
	if (!d->source_line)
		return;
	ws_buf_puts(out, "  ");
	for (size_t i = 0; i < d->source_len; i++) {  /* untrusted bytes must not steer the terminal */
		unsigned char c = (unsigned char)d->source_line[i];
		char shown = c < 32 && c != '\t' ? '?' : (char)c;

		ws_buf_add(out, &shown, 1);
	}
	ws_buf_puts(out, "\n");
	add_caret(out, d);
}

void ws_sink_to_buf(void *user, const struct ws_diag *d)
{
	ws_diag_format(user, d);
}
