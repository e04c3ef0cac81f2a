/* base.h - what every room needs and no library gives: arenas, byte buffers, diagnostics.
 *
 * Nothing here prints or exits. Out of memory is reported as NULL/false by the ws_try_* forms; the plain forms
 * end the process with one line on stderr and status 2, which is the project's answer to "no memory left". */
#ifndef WS_BASE_H
#define WS_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WS_WARP 32                     /* lanes of a warp (PTX ISA 9.0, WARP_SZ) */
#define WS_COUNT(a) (sizeof(a) / sizeof *(a))
#define WS_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* ---- memory ---- */
void *ws_alloc(size_t size);                      /* zeroed; never NULL */
void *ws_realloc(void *p, size_t size);           /* never NULL */
char *ws_strdup(const char *s);
char *ws_strndup(const char *s, size_t n);

/* Grows the array *items of *cap elements of `size` bytes so that it holds at least `need`. */
void *ws_grow(void *items, size_t *cap, size_t need, size_t size);
void *ws_grow_zeroed(void *items, size_t *cap, size_t need, size_t size);    /* the elements more are zero */
#define WS_PUSH(items, n, cap) \
	((items) = ws_grow((items), &(cap), (n) + 1, sizeof *(items)), &(items)[(n)++])

/* An arena: objects that die together. All memory is zeroed and aligned to 16. */
struct ws_arena;
struct ws_arena *ws_arena_new(void);
void ws_arena_free(struct ws_arena *a);           /* NULL is fine */
void *ws_arena_alloc(struct ws_arena *a, size_t size);
char *ws_arena_strndup(struct ws_arena *a, const char *s, size_t n);
size_t ws_arena_bytes(const struct ws_arena *a);  /* memory held, for statistics */

/* ---- a growable byte string; data is always NUL-terminated once something was added ---- */
struct ws_buf {
	char *data;
	size_t len, cap;
};
void ws_buf_add(struct ws_buf *b, const void *bytes, size_t n);
void ws_buf_puts(struct ws_buf *b, const char *s);
void ws_buf_add_json(struct ws_buf *b, const char *s);       /* as a string of JSON, with its quotes */
void ws_buf_add_count(struct ws_buf *b, uint64_t n);         /* 12,345,678 */
void ws_buf_printf(struct ws_buf *b, const char *fmt, ...) WS_PRINTF(2, 3);
void ws_buf_vprintf(struct ws_buf *b, const char *fmt, va_list ap);
void ws_buf_free(struct ws_buf *b);
/* *s becomes this text; what it was is freed. */
void ws_replace_vtext(char **s, const char *fmt, va_list ap);

/* Reads a whole file ("-" is standard input) and adds a final NUL that *len does not count.
 * NULL with errno set when it cannot be read. The caller frees it. */
char *ws_read_file(const char *path, size_t *len);

/* 64-bit mixing hash of bytes; stable between runs (not between versions). */
uint64_t ws_hash(const void *bytes, size_t n);

/* ---- diagnostics ---- */
enum ws_severity { WS_NOTE, WS_WARNING, WS_ERROR };

struct ws_place {                                 /* where in a text; line and col count from 1, 0 = unknown */
	const char *path;
	uint32_t line, col;
	uint32_t len;                             /* bytes underlined from col on; 0 = a caret only */
};

struct ws_diag {
	enum ws_severity severity;
	struct ws_place place;
	const char *text;                         /* lower case, no full stop */
	const char *source_line;                  /* the line meant, not NUL-terminated; NULL = none */
	size_t source_len;
};

/* Receives diagnostics. The struct and its strings live only during the call. */
struct ws_sink {
	void (*emit)(void *user, const struct ws_diag *d);
	void *user;
};

/* "path:line:col: error: text", the line, and a caret under it; tabs of the prefix are copied so that the caret
 * stands right in any viewer. */
void ws_diag_format(struct ws_buf *out, const struct ws_diag *d);
/* A sink that appends ws_diag_format's text to a ws_buf (user = struct ws_buf *). */
void ws_sink_to_buf(void *user, const struct ws_diag *d);

#endif
