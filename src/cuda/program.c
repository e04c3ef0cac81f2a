/* program.c - what the program has registered or loaded, and its way into the simulated GPU; see program.h.
 *
 * Registration happens before main, in any order, and must be cheap: nothing is parsed then. */
#include "cuda/program.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/readable.h"
#include "cuda/instrument.h"
#include "cuda/map.h"
#include "cuda/sync.h"
#include "report/keep.h"

static pthread_mutex_t front = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t loading = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct ws_map functions, variables, binaries;
static unsigned nbinaries;

void ws_front_lock(void)
{
	pthread_mutex_lock(&front);
}

void ws_front_unlock(void)
{
	pthread_mutex_unlock(&front);
}

/* ---- registration ---- */
static struct ws_binary *new_binary(void)
{
	struct ws_binary *b = ws_alloc(sizeof *b);
	struct ws_buf label = {0};

	b->self = b;
	ws_front_lock();
	ws_buf_printf(&label, "%s.%u.ptx", program_invocation_short_name, ++nbinaries);
	b->label = label.data;
	ws_map_put(&binaries, b, b);
	ws_front_unlock();
	return b;
}

static void add_part(struct ws_binary *b, const void *data, size_t len)
{
	const char *why = NULL;
	struct ws_fatbin *part;

	b->parts = ws_realloc(b->parts, (b->nparts + 1) * sizeof *b->parts);
	part = &b->parts[b->nparts++];
	*part = (struct ws_fatbin){0};
	if (!ws_fatbin_read(part, data, len, &why))
		ws_tell("%s: the fat binary of the program is damaged: %s", b->label, why);
}

struct ws_binary *ws_binary_register(const void *p)
{
	const struct ws_fatbin_wrapper *w = p;
	struct ws_binary *b = new_binary();
	size_t i;

	if (!w || w->magic != WS_FATBIN_WRAPPER_MAGIC) {
		ws_tell("%s: not a fat binary (magic 0x%08x)", b->label, w ? w->magic : 0);
		return b;
	}
	if (w->version >= 2 && w->parts)
		for (i = 0; i < WS_FATBIN_MAX_PARTS && w->parts[i]; i++)
			add_part(b, w->parts[i], ws_readable_bytes(w->parts[i]));
	if (!b->nparts && w->data)
		add_part(b, w->data, ws_readable_bytes(w->data));
	return b;
}

static void tell_instrumented(struct ws_binary *b, struct ws_gpu_module *loaded)
{
	for (size_t i = 0; i < b->nptx; i++)
		if (b->instrumented[i])
			ws_instrument_loaded(b->instrumented[i], loaded);
}

static void free_binary(struct ws_binary *b)
{
	struct ws_session *s = ws_session_if_any();
	size_t i;

	tell_instrumented(b, NULL);
	if (b->module && s)
		ws_gpu_module_unload(s->gpu, b->module);
	for (i = 0; i < b->nptx; i++)
		ws_ptx_free(b->ptx[i]);
	for (i = 0; i < b->nparts; i++)
		ws_fatbin_free(&b->parts[i]);
	for (i = 0; i < b->nfunctions; i++) {
		free(b->functions[i]->name);
		free(b->functions[i]->plain);
		free(b->functions[i]);
	}
	for (i = 0; i < b->nvariables; i++) {
		free(b->variables[i]->name);
		free(b->variables[i]->plain);
		free(b->variables[i]);
	}
	free(b->functions);
	free(b->variables);
	free(b->ptx);
	free(b->instrumented);
	free(b->parts);
	free(b->label);
	free(b->copy);
	free(b);
}

static void forget(struct ws_map *m, const struct ws_binary *b, bool is_function)
{
	size_t i;

	for (i = 0; i < m->cap; i++) {
		void *v = m->values ? m->values[i] : NULL;

		if (v && (is_function ? ((struct ws_function *)v)->binary : ((struct ws_variable *)v)->binary) == b)
			ws_map_remove(m, m->keys[i]);
	}
}

/* The program calls this at exit, where a destructor of its own may still launch; and when a library is unloaded,
 * whose images disappear. What is loaded already stays; reports refer to it. */
void ws_binary_unregister(struct ws_binary *b)
{
	if (!ws_binary_valid(b))
		return;
	ws_front_lock();
	forget(&functions, b, true);
	forget(&variables, b, false);
	ws_front_unlock();
}

static struct ws_function *new_function(struct ws_binary *b, const char *name)
{
	struct ws_function *f = ws_alloc(sizeof *f);

	*f = (struct ws_function){.binary = b, .name = ws_strdup(name), .plain = ws_demangle(name), .carveout = -1};
	*WS_PUSH(b->functions, b->nfunctions, b->fcap) = f;
	ws_map_put(&functions, f, f);
	return f;
}

void ws_binary_function(struct ws_binary *b, const void *host, const char *name)
{
	struct ws_function *f;

	if (!ws_binary_valid(b) || !host || !name)
		return;
	ws_front_lock();
	f = new_function(b, name);
	f->stub = host;
	if (!ws_map_get(&functions, host))
		ws_map_put(&functions, host, f);
	ws_front_unlock();
}

void ws_binary_variable(struct ws_binary *b, const void *host, const char *name, size_t size, void **managed)
{
	struct ws_variable *v;

	if (!ws_binary_valid(b) || !host || !name)
		return;
	v = ws_alloc(sizeof *v);
	*v = (struct ws_variable){
		.binary = b, .name = ws_strdup(name), .plain = ws_demangle(name), .size = size, .managed = managed};
	ws_front_lock();
	*WS_PUSH(b->variables, b->nvariables, b->vcap) = v;
	ws_map_put(&variables, host, v);
	ws_front_unlock();
}

/* ---- modules loaded by the program ---- */
static bool is_linked(const void *data, size_t len)
{
	return len >= sizeof(struct ws_linked_header) && memcmp(data, WS_LINKED_MAGIC, 8) == 0;
}

/* The inputs of a link, one part each. */
static void add_linked(struct ws_binary *b, const uint8_t *data, size_t len)
{
	size_t at = sizeof(struct ws_linked_header);
	uint64_t n;

	while (at + sizeof n <= len) {
		memcpy(&n, data + at, sizeof n);
		at += sizeof n;
		if (n > len - at)
			break;
		add_part(b, data + at, n);
		at += n;
	}
}

static struct ws_binary *loaded(void *copy, size_t len, int *error)
{
	struct ws_binary *b = new_binary();

	b->copy = copy;
	if (is_linked(copy, len))
		add_linked(b, copy, len);
	else
		add_part(b, copy, len);
	if (!b->nparts || !b->parts[0].n) {
		*error = WS_CUDA_INVALID_IMAGE;
		ws_binary_unload(b);
		return NULL;
	}
	*error = ws_binary_ready(b);
	if (*error) {
		ws_binary_unload(b);
		return NULL;
	}
	return b;
}

struct ws_binary *ws_binary_load(const void *data, size_t len, int *error)
{
	const struct ws_fatbin_wrapper *w = data;
	size_t there = ws_readable_bytes(data);
	uint8_t *copy;

	*error = WS_CUDA_INVALID_VALUE;
	if (!data || there < 4)
		return NULL;
	if (w->magic == WS_FATBIN_WRAPPER_MAGIC && there >= sizeof *w)
		return ws_binary_load(w->data, 0, error);
	if (!len)
		len = ws_fatbin_size(data, there);
	if (!len && is_linked(data, there)) {
		memcpy(&len, (const uint8_t *)data + offsetof(struct ws_linked_header, len), sizeof len);
		len = len > there ? there : len;
	} else if (!len && memcmp(data, "\177ELF", 4) == 0) {
		len = 4; /* machine code is of no use, its bytes neither */
	} else if (!len) {
		len = strnlen(data, there);
	}
	copy = ws_alloc(len + 1);
	memcpy(copy, data, len);
	return loaded(copy, len, error);
}

struct ws_binary *ws_binary_load_file(const char *path, int *error)
{
	size_t len;
	char *text = path ? ws_read_file(path, &len) : NULL;

	if (!text) {
		*error = path ? WS_CUDA_FILE_NOT_FOUND : WS_CUDA_INVALID_VALUE;
		return NULL;
	}
	return loaded(text, len, error);
}

void ws_binary_unload(struct ws_binary *b)
{
	ws_sync_host_waits_all(); /* what is known of its kernels refers to their code */
	ws_front_lock();
	ws_binary_unregister(b);
	ws_map_remove(&binaries, b);
	ws_front_unlock();
	free_binary(b);
}

bool ws_binary_valid(const struct ws_binary *b)
{
	bool valid;

	ws_front_lock();
	valid = b && ws_map_get(&binaries, b);
	ws_front_unlock();
	return valid;
}

/* ---- loading ---- */
/* The text of a part for this GPU, or NULL. A part of a linked program that has machine code for the GPU but PTX only
 * for newer ones is a library of the toolkit that the kernels do not need; it is left out. */
static char *part_text(struct ws_binary *b, const struct ws_fatbin *part, uint32_t cc, size_t *len)
{
	const struct ws_image *i = ws_fatbin_ptx(part, cc);
	const char *why = NULL;
	char *text;

	if (!i || (b->nparts > 1 && i->sm > cc && ws_fatbin_has_elf(part)))
		return NULL;
	text = ws_image_text(i, len, &why);
	if (!text)
		ws_tell("%s: cannot read the PTX of the program: %s", b->label, why);
	return text;
}

static bool keep(struct ws_binary *b, struct ws_ptx_module *m)
{
	const char *pass = ws_session()->options.instrument;
	struct ws_instrumented *made = NULL;

	if (pass && strcmp(pass, "none") != 0) {
		made = ws_instrument(pass, b->label, &m);
		if (!made)
			return false;
	}
	b->ptx = ws_realloc(b->ptx, (b->nptx + 1) * sizeof *b->ptx);
	b->instrumented = ws_realloc(b->instrumented, (b->nptx + 1) * sizeof *b->instrumented);
	b->instrumented[b->nptx] = made;
	b->ptx[b->nptx++] = m;
	return true;
}

static bool parse_part(struct ws_binary *b, const char *text, size_t len)
{
	struct ws_buf messages = {0};
	struct ws_sink sink = {ws_sink_to_buf, &messages};
	struct ws_ptx_module *m = ws_ptx_parse(b->label, text, len, NULL, &sink);

	if (!m)
		ws_tell("%s: cannot understand the PTX of the program\n%s", b->label,
			messages.len ? messages.data : "");
	ws_buf_free(&messages);
	if (!m)
		return false;
	return keep(b, m);
}

static int parse_all(struct ws_binary *b, uint32_t cc)
{
	size_t i, len;
	bool ok = true;

	for (i = 0; i < b->nparts && ok; i++) {
		char *text = part_text(b, &b->parts[i], cc, &len);

		ok = !text || parse_part(b, text, len);
		free(text);
	}
	if (!ok)
		return WS_CUDA_INVALID_PTX;
	return b->nptx ? 0 : WS_CUDA_NO_KERNEL_IMAGE;
}

static void give_managed(struct ws_binary *b)
{
	size_t i;

	for (i = 0; i < b->nvariables; i++) {
		struct ws_variable *v = b->variables[i];
		struct ws_mem *m = v->managed ? ws_gpu_module_var(b->module, v->name) : NULL;

		if (m)
			*v->managed = (void *)(uintptr_t)m->addr;
	}
}

static int load(struct ws_binary *b)
{
	struct ws_session *s = ws_session();
	struct ws_gpu_error err = {0};
	int code;

	if (!s)
		return WS_CUDA_NOT_INITIALIZED;
	code = parse_all(b, ws_gpu_config(s->gpu)->cc);
	if (code)
		return code;
	b->module = ws_gpu_module_load(s->gpu, b->ptx, b->nptx, &err);
	if (!b->module) {
		ws_tell("%s: cannot load the program's device code: %s", b->label,
			err.text.len ? err.text.data : "no reason given");
		ws_report_error(s->report, err.text.len ? err.text.data : "the device code cannot be loaded");
		ws_buf_free(&err.text);
		return err.code == WS_GPU_UNSUPPORTED ? WS_CUDA_NOT_SUPPORTED : WS_CUDA_INVALID_PTX;
	}
	tell_instrumented(b, b->module);
	give_managed(b);
	return 0;
}

int ws_binary_ready(struct ws_binary *b)
{
	int state = __atomic_load_n(&b->state, __ATOMIC_ACQUIRE);

	if (!state) {
		pthread_mutex_lock(&loading);
		if (!b->state) {
			int code = load(b);

			__atomic_store_n(&b->state, code ? -code : 1, __ATOMIC_RELEASE);
		}
		state = b->state;
		pthread_mutex_unlock(&loading);
	}
	return state > 0 ? 0 : -state;
}

/* ---- kernels ---- */
static void tell_unchecked(struct ws_function *f, int code)
{
	struct ws_session *s = ws_session();

	if (f->counted || !s)
		return;
	f->counted = true;
	ws_report_unchecked(s->report, f->plain,
			    code == WS_CUDA_NO_KERNEL_IMAGE ? "no PTX in the program" : "its PTX cannot be loaded");
	ws_keep_touch();
	if (code == WS_CUDA_NO_KERNEL_IMAGE)
		ws_tell("kernel '%s' cannot run: the program has machine code for it but no PTX; rebuild it with "
			"-gencode arch=compute_XX,code=compute_XX (for instance XX = 75)",
			f->plain);
}

int ws_function_ready(struct ws_function *f)
{
	int code;

	if (f->kernel)
		return 0;
	code = ws_binary_ready(f->binary);
	if (code) {
		tell_unchecked(f, code);
		return code;
	}
	f->kernel = ws_gpu_module_kernel(f->binary->module, f->name);
	return f->kernel ? 0 : WS_CUDA_INVALID_DEVICE_FUNCTION;
}

struct ws_function *ws_function_of(const void *key, int *error)
{
	struct ws_function *f;

	ws_front_lock();
	f = ws_map_get(&functions, key);
	ws_front_unlock();
	*error = f ? ws_function_ready(f) : WS_CUDA_INVALID_DEVICE_FUNCTION;
	return *error ? NULL : f;
}

struct ws_function *ws_binary_find(struct ws_binary *b, const char *name, int *error)
{
	struct ws_function *f = NULL;
	size_t i;

	*error = ws_binary_ready(b);
	if (*error)
		return NULL;
	ws_front_lock();
	for (i = 0; i < b->nfunctions && !f; i++)
		if (strcmp(b->functions[i]->name, name) == 0)
			f = b->functions[i];
	if (!f && ws_gpu_module_kernel(b->module, name))
		f = new_function(b, name);
	ws_front_unlock();
	*error = f ? ws_function_ready(f) : WS_CUDA_NOT_FOUND;
	return *error ? NULL : f;
}

/* ---- variables ---- */
struct ws_mem *ws_binary_var(struct ws_binary *b, const char *name, int *error)
{
	struct ws_mem *m;

	*error = ws_binary_ready(b);
	if (*error)
		return NULL;
	m = ws_gpu_module_var(b->module, name);
	*error = m ? 0 : WS_CUDA_NOT_FOUND;
	return m;
}

struct ws_mem *ws_variable_of(const void *host, int *error)
{
	struct ws_variable *v;
	struct ws_mem *m;

	ws_front_lock();
	v = ws_map_get(&variables, host);
	ws_front_unlock();
	if (!v) {
		*error = WS_CUDA_INVALID_SYMBOL;
		return NULL;
	}
	m = ws_binary_var(v->binary, v->name, error);
	if (*error == WS_CUDA_NOT_FOUND)
		*error = WS_CUDA_INVALID_SYMBOL;
	return m;
}

int ws_managed_ready(struct ws_binary *b)
{
	size_t i;

	for (i = 0; i < b->nvariables; i++)
		if (b->variables[i]->managed)
			return ws_binary_ready(b);
	return 0;
}
