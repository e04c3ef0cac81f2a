/* range.c - launches that tell the checks of copies and fills; see range.h. */
#include "real/range.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "real/real_priv.h"
#include "rewrite/rewrite.h"

static const char *const names[WS_REAL_RANGES] = { "copy_reads", "copy_writes", "copy_may_write", "fill_writes" };      /* device/range.cu */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct ws_real_table *_Atomic ours;

static bool is(const struct ws_real_table *t, uint32_t kernel, enum ws_real_range_what what)
{
	return t && t == atomic_load(&ours) && kernel < t->nkernels && strcmp(t->kernels[kernel].name, names[what]) == 0;
}

const char *ws_real_range_name(const struct ws_real_table *t, uint32_t kernel)
{
	for (unsigned n = 0; n < WS_REAL_RANGES; n++)
		if (is(t, kernel, n))
			return n == WS_REAL_FILL_WRITES ? "fill" : "copy";
	return NULL;
}

bool ws_real_range_perhaps(const struct ws_real_table *t, uint32_t kernel)
{
	return is(t, kernel, WS_REAL_COPY_MAY_WRITE);
}

/* ---- the kernels ---- */
static bool compile(struct ws_real_code *code, struct ws_buf *why)
{
	struct ws_sink sink = { ws_sink_to_buf, why };
	struct ws_ptx_module *m = ws_rewrite_ranges(&sink);
	struct ws_buf text = { 0 };
	struct ws_real_part part = { 0 };
	struct ws_real_image image = { .parts = &part, .n = 1, .ntexts = 1 };
	bool fine = false;

	if (m) {
		ws_ptx_print(m, &text);
		part.text = text.data;
		part.len = text.len;
		part.table = ws_real_table_of(m);
		fine = ws_real_compile(&image, ws_real_cc(false), NULL, &code->cubin, &code->len, why);
	}
	if (fine) {
		ws_real_code_add_table(code, part.table);
		atomic_store(&ours, part.table);
	}
	ws_ptx_free(m);
	ws_buf_free(&text);
	return fine;
}

/* From here on the module is known as one of the program's is. */
static bool load(struct ws_real_range_kernels *k)
{
	struct ws_real_code *code = ws_alloc(sizeof *code);
	struct ws_buf why = { 0 };
	void *module = NULL, *f;
	bool fine = compile(code, &why) && ws_real.cuModuleLoadData && !ws_real.cuModuleLoadData(&module, code->cubin);

	ws_buf_free(&why);
	if (!fine) {
		ws_real_code_free(code);
		return false;
	}
	ws_real_module_add(module, code, false);
	for (unsigned n = 0; n < WS_REAL_RANGES; n++)
		if (ws_real.cuModuleGetFunction && !ws_real.cuModuleGetFunction(&f, module, names[n])) {
			ws_real_function_add(f, module, names[n]);
			k->functions[n] = f;
		}
	return true;
}

static void *function_for(enum ws_real_range_what what)
{
	struct ws_real_range_kernels *k = ws_real_race_range_kernels();
	void *f = NULL;

	pthread_mutex_lock(&lock);
	if (k && !k->tried) {
		k->tried = true;
		load(k);
	}
	if (k)
		f = k->functions[what];
	pthread_mutex_unlock(&lock);
	return f;
}

/* ---- launches ---- */
/* 4 KB for each warp, as long as there are not very many. */
static unsigned blocks_for(const struct ws_real_range *r)
{
	enum { OF_BLOCK = 16 << 10, MOST = 512 };
	uint64_t n = (r->width + 1024) * r->rows / OF_BLOCK + 1;

	return n < MOST ? (unsigned)n : MOST;
}

void ws_real_range_tell(const struct ws_real_range *r, const struct ws_race_launch *said, struct ws_real_lane lane)
{
	enum { THREADS = 128 };
	struct ws_race_launch launch = *said;
	struct ws_real_range range = *r;
	void *params[] = { &range.at, &range.width, &range.pitch, &range.rows, &launch }, *f;
	int mode = ws_real_relax_capture(WS_REAL_RELAXED), e = -1;

	f = function_for(r->what);
	if (f) {
		ws_real_race_prepare(f);
		e = (lane.per_thread && ws_real.cuLaunchKernel_ptsz ? ws_real.cuLaunchKernel_ptsz : ws_real.cuLaunchKernel)
			(f, blocks_for(r), 1, 1, THREADS, 1, 1, 0, lane.stream, params, NULL);
	}
	ws_real_relax_capture(mode);
	if (e)
		ws_report_limit(ws_real_session()->report, "copies and fills could not be told to the checks: they were not compared with "
		                                           "launches");
	ws_real_count(WS_FIG_RANGES, !e);
}
