/* syscall.c - what device code calls and no module defines (CUDA C++ Programming Guide, "Formatted Output", "Dynamic
 * Global Memory Allocation and Operations", "Assertion"). */
#include "gpu/syscall.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gpu/mem.h"

#define EACH_LANE(call, l) \
	for (uint32_t m_ = (call)->mask, l; m_ && (l = (uint32_t)__builtin_ctz(m_), 1); m_ &= m_ - 1)

enum { MAX_STRING = 1 << 20, CHUNK = 16 };

/* Ends the kernel: code, and a line of text. Returns false. */
static bool WS_PRINTF(4, 5) fail(struct ws_syscall *call, uint32_t lane, enum ws_gpu_errcode code, const char *fmt, ...)
{
	va_list ap;
	call->lane = lane;
	call->err->code = code;
	va_start(ap, fmt);
	ws_buf_vprintf(&call->err->text, fmt, ap);
	va_end(ap);
	return false;
}

static bool fail_address(struct ws_syscall *call, uint32_t lane, const char *what, uint64_t addr)
{
	fail(call, lane, WS_GPU_BAD_ADDRESS, "%s at 0x%llx cannot be read: it is ", what, (unsigned long long)addr);
	ws_memmap_describe(call->map, addr, &call->err->text);
	ws_buf_puts(&call->err->text, "\n");
	return false;
}

/* Appends the NUL-terminated string at addr. Whole chunks are tried first; near the end of a stretch single bytes. */
static bool read_string(struct ws_syscall *call, uint32_t lane, uint64_t addr, struct ws_buf *out)
{
	char chunk[CHUNK];
	for (size_t n = 0; n < MAX_STRING;) {
		size_t want = CHUNK;
		if (!call->read(call->core, lane, addr + n, chunk, want)) {
			want = 1;
			if (!call->read(call->core, lane, addr + n, chunk, want))
				return false;
		}
		size_t len = strnlen(chunk, want);
		ws_buf_add(out, chunk, len);
		if (len < want)
			return true;
		n += len;
	}
	return true;
}

/* ---- printf ---- */

enum { MAX_ARGS = 32, MAX_WIDTH = 65535 };

struct printer {
	struct ws_syscall *call;
	uint32_t lane;
	uint64_t next;               /* address of the next argument */
	int parsed;                  /* arguments taken */
	struct ws_buf *out;
};

struct spec {                        /* one conversion: %[flags][width][.precision][size]type */
	char flags[8];
	int width, precision;        /* -1: not given */
	int size;                    /* -2 hh, -1 h, 0, 1 l and 64-bit ones */
	char type;
	const char *end;             /* after it */
};

/* The next argument: 4 or 8 bytes, aligned to its size. */
static bool next_arg(struct printer *p, unsigned bytes, uint64_t *v)
{
	uint64_t at = (p->next + bytes - 1) & ~(uint64_t)(bytes - 1);
	*v = 0;
	if (!p->call->read(p->call->core, p->lane, at, v, bytes))
		return fail_address(p->call, p->lane, "printf: argument", at);
	p->next = at + bytes;
	p->parsed++;
	return true;
}

/* A number in the format, or *: then the argument says it. */
static bool parse_number(struct printer *p, const char **s, int *value)
{
	uint64_t v = 0;
	if (**s == '*') {
		++*s;
		if (!next_arg(p, 4, &v))
			return false;
		*value = (int32_t)v;
	} else {
		for (*value = 0; isdigit((unsigned char)**s); ++*s)
			if (*value <= MAX_WIDTH)
				*value = *value * 10 + (**s - '0');
	}
	if (*value > MAX_WIDTH)
		*value = MAX_WIDTH;
	return true;
}

static const char *parse_size(const char *s, int *size)
{
	*size = 0;
	for (; *s && strchr("hlLqjzt", *s); s++) {
		if (*s == 'h')
			*size = *size < 0 ? -2 : -1;
		else
			*size = 1;
	}
	return s;
}

static bool parse_spec(struct printer *p, const char *s, struct spec *sp)
{
	size_t n = 0;
	memset(sp, 0, sizeof *sp);
	sp->width = sp->precision = -1;
	for (; *s && strchr("#0- +", *s); s++)
		if (!strchr(sp->flags, *s) && n < sizeof sp->flags - 2)
			sp->flags[n++] = *s;
	if (*s == '*' || isdigit((unsigned char)*s)) {
		if (!parse_number(p, &s, &sp->width))
			return false;
		if (sp->width < 0) {     /* "-" flag and the width (C11 7.21.6.1) */
			sp->flags[n++] = '-';
			sp->width = sp->width < -MAX_WIDTH ? MAX_WIDTH : -sp->width;
		}
	}
	if (*s == '.') {
		s++;
		if (!parse_number(p, &s, &sp->precision))
			return false;
	}
	s = parse_size(s, &sp->size);
	sp->type = *s;
	sp->end = *s ? s + 1 : s;
	return true;
}

/* The conversion for the host's printf, with the given size and type. */
static void host_format(const struct spec *sp, const char *type, char *fmt, size_t size)
{
	int n = snprintf(fmt, size, "%%%s", sp->flags);
	if (sp->width >= 0)
		n += snprintf(fmt + n, size - (size_t)n, "%d", sp->width);
	if (sp->precision >= 0)
		n += snprintf(fmt + n, size - (size_t)n, ".%d", sp->precision);
	snprintf(fmt + n, size - (size_t)n, "%s", type);
}

static bool print_integer(struct printer *p, const struct spec *sp)
{
	char fmt[64], type[4] = {'l', 'l', sp->type, 0};
	uint64_t v;
	if (!next_arg(p, sp->size > 0 ? 8 : 4, &v))
		return false;
	bool is_signed = sp->type == 'd' || sp->type == 'i';
	if (sp->size == 0)
		v = is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
	else if (sp->size == -1)
		v = is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
	else if (sp->size == -2)
		v = is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
	host_format(sp, type, fmt, sizeof fmt);
	ws_buf_printf(p->out, fmt, (unsigned long long)v);
	return true;
}

static bool print_double(struct printer *p, const struct spec *sp)
{
	char fmt[64], type[2] = {sp->type, 0};
	uint64_t v;
	double d;
	if (!next_arg(p, 8, &v))
		return false;
	memcpy(&d, &v, sizeof d);
	host_format(sp, type, fmt, sizeof fmt);
	ws_buf_printf(p->out, fmt, d);
	return true;
}

static bool print_string(struct printer *p, const struct spec *sp)
{
	char fmt[64];
	struct ws_buf s = {0};
	uint64_t v;
	if (!next_arg(p, 8, &v))
		return false;
	ws_buf_puts(&s, v ? "" : "(null)");
	bool ok = !v || read_string(p->call, p->lane, v, &s);
	if (ok) {
		host_format(sp, "s", fmt, sizeof fmt);
		ws_buf_printf(p->out, fmt, s.data);
	} else {
		fail_address(p->call, p->lane, "printf: string of a %s", v);
	}
	ws_buf_free(&s);
	return ok;
}

static bool print_char_or_pointer(struct printer *p, const struct spec *sp)
{
	char fmt[64], type[2] = {sp->type, 0};
	uint64_t v;
	if (!next_arg(p, sp->type == 'p' ? 8 : 4, &v))
		return false;
	host_format(sp, type, fmt, sizeof fmt);
	if (sp->type == 'p')
		ws_buf_printf(p->out, fmt, (void *)(uintptr_t)v);
	else if (sp->width < 0 && !(v & 0xff))
		ws_buf_add(p->out, "", 1);
	else
		ws_buf_printf(p->out, fmt, (int)(v & 0xff));
	return true;
}

/* Prints one conversion; s is after the '%', *end is set to what follows. */
static bool print_spec(struct printer *p, const char *s, const char **end)
{
	struct spec sp;
	if (!parse_spec(p, s, &sp))
		return false;
	*end = sp.end;
	switch (sp.type) {
	case '%':
		ws_buf_puts(p->out, "%");
		if (sp.end - s > 1)      /* "%5%" is no conversion: printed as it stands, as on a GPU */
			ws_buf_add(p->out, s, (size_t)(sp.end - s));
		return true;
	case 'd': case 'i': case 'o': case 'u': case 'x': case 'X':
		return print_integer(p, &sp);
	case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A':
		return print_double(p, &sp);
	case 's':
		return print_string(p, &sp);
	case 'c': case 'p':
		return print_char_or_pointer(p, &sp);
	default:                     /* not a conversion: as it stands */
		ws_buf_puts(p->out, "%");
		ws_buf_add(p->out, s, (size_t)(sp.end - s));
		return true;
	}
}

static bool print_lane(struct printer *p, const char *format)
{
	for (const char *s = format; *s;) {
		size_t n = strcspn(s, "%");
		ws_buf_add(p->out, s, n);
		s += n;
		/* "can accept at most 32 arguments in addition to the format string": others are left as they are */
		if (*s && p->parsed >= MAX_ARGS) {
			ws_buf_puts(p->out, s);
			return true;
		}
		if (*s && !print_spec(p, s + 1, &s))
			return false;
	}
	return true;
}

static void emit(int fd, const struct ws_buf *out)
{
	if (!out->len)
		return;
	if (fd < 0) {
		fwrite(out->data, 1, out->len, stdout);
		return;
	}
	for (size_t done = 0; done < out->len;) {
		ssize_t n = write(fd, out->data + done, out->len - done);
		if (n <= 0)
			return;          /* nobody reads any more; the kernel goes on, as on a GPU */
		done += (size_t)n;
	}
}

/* int vprintf(const char *format, void *arguments). "CUDA's printf() returns the number of arguments parsed [...] If
 * the format string is NULL, -1 is returned." */
static bool call_vprintf(struct ws_syscall *call)
{
	struct ws_buf out = {0}, format = {0};
	uint64_t at = 0;
	bool ok = true;
	EACH_LANE(call, l) {
		struct printer p = {.call = call, .lane = l, .next = call->arg[1][l], .out = &out};
		if (!call->arg[0][l]) {
			call->ret[l] = UINT32_MAX;
			continue;
		}
		if (call->arg[0][l] != at) {     /* lanes mostly print by the same format */
			at = call->arg[0][l];
			format.len = 0;
			ws_buf_puts(&format, "");
			if (!read_string(call, l, at, &format))
				ok = fail_address(call, l, "printf: the format string", at);
		}
		ok = ok && print_lane(&p, format.data);
		if (!ok)
			break;
		call->ret[l] = (uint32_t)p.parsed;
	}
	emit(call->printf_fd, &out);     /* of a warp at once: lines of warps do not mix */
	ws_buf_free(&out);
	ws_buf_free(&format);
	return ok;
}

/* ---- malloc, free ---- */

static bool call_malloc(struct ws_syscall *call)
{
	EACH_LANE(call, l) {
		const struct ws_mem *m = ws_memmap_heap_alloc(call->map, call->arg[0][l], call->origin);
		call->ret[l] = m ? m->addr : 0;
	}
	return true;
}

static bool call_free(struct ws_syscall *call)
{
	EACH_LANE(call, l) {
		uint64_t addr = call->arg[0][l];
		enum ws_heap_result r = addr ? ws_memmap_heap_free(call->map, addr) : WS_HEAP_OK;
		if (r == WS_HEAP_OK)
			continue;
		fail(call, l, WS_GPU_BAD_ADDRESS, r == WS_HEAP_DOUBLE_FREE
		     ? "free(0x%llx): this block was freed before: it is "
		     : "free(0x%llx): no block that malloc gave starts there: it is ", (unsigned long long)addr);
		ws_memmap_describe(call->map, addr, &call->err->text);
		ws_buf_puts(&call->err->text, "\n");
		return false;
	}
	return true;
}

/* ---- assert ---- */

static void add_string(struct ws_syscall *call, uint32_t lane, uint64_t addr, struct ws_buf *out)
{
	size_t before = out->len;
	if (addr && read_string(call, lane, addr, out))
		return;
	out->len = before;
	ws_buf_puts(out, "?");
}

/* void __assertfail(const char *expression, const char *file, unsigned line, const char *function, size_t charsize) */
static bool call_assertfail(struct ws_syscall *call)
{
	struct ws_buf *t = &call->err->text;
	call->err->code = WS_GPU_ASSERT;
	call->lane = (uint32_t)__builtin_ctz(call->mask);
	EACH_LANE(call, l) {
		const uint32_t *b = call->ctaid, *d = call->tid[l];
		add_string(call, l, call->arg[1][l], t);
		ws_buf_printf(t, ":%u: ", (unsigned)call->arg[2][l]);
		add_string(call, l, call->arg[3][l], t);
		ws_buf_printf(t, ": block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `", b[0], b[1], b[2], d[0], d[1], d[2]);
		add_string(call, l, call->arg[0][l], t);
		ws_buf_puts(t, "` failed.\n");
	}
	return false;
}

/* ---- the table ---- */

static const struct ws_syscall_info table[] = {
	{"vprintf", call_vprintf, 2, 1, {8, 8}, 4, NULL},
	{"malloc", call_malloc, 1, 1, {8}, 8, NULL},
	{"free", call_free, 1, 0, {8}, 0, NULL},
	{"__assertfail", call_assertfail, 5, 0, {8, 8, 4, 8, 8}, 0, NULL},
	{"__assert_fail", call_assertfail, 4, 0, {8, 8, 4, 8}, 0, NULL},
};

static const char device_runtime[] =
	"the simulated GPU does not run the CUDA device runtime: kernels cannot launch kernels (dynamic parallelism), "
	"allocate with cudaMalloc or use streams and events";

/* What libcudadevrt would define, by the beginning of its names. */
static const struct ws_syscall_info refused[] = {
	{"__cudaCDP2", NULL, 0, 0, {0}, 0, device_runtime},
	{"__cuda_syscall", NULL, 0, 0, {0}, 0, "the simulated GPU does not have this internal call of NVIDIA's compiler"},
	{"__cudaDeviceSynchronize", NULL, 0, 0, {0}, 0, device_runtime},
	{"cudaCG", NULL, 0, 0, {0}, 0, "the simulated GPU does not have grid synchronization through the device runtime; "
	                              "compile without relocatable device code"},
	{"cuda", NULL, 0, 0, {0}, 0, device_runtime},
	{"__ws_", NULL, 0, 0, {0}, 0, "it is an instruction of a proposed hardware unit; run with 'warpsafe sim --unit=...'"},
};

const struct ws_syscall_info *ws_syscall_find(const char *name)
{
	for (size_t i = 0; i < WS_COUNT(table); i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	for (size_t i = 0; i < WS_COUNT(refused); i++)
		if (!strncmp(refused[i].name, name, strlen(refused[i].name)))
			return &refused[i];
	return NULL;
}
