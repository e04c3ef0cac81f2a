/* range.c - launches that tell the checks of copies and fills; see range.h. */
#include "real/range.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "real/real_priv.h"
#include "rewrite/rewrite.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- the kernel ---- */
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
		fine = ws_real_compile(&image, ws_real_cc(false), NULL, code, why);
	}
	if (fine)
		ws_real_code_add_table(code, part.table);
	ws_ptx_free(m);
	ws_buf_free(&text);
	return fine;
}

/* From here on the module is known as one of the program's is. */
static void *load(void)
{
	static const char name[] = "range";  /* device/range.cu */
	struct ws_real_code *code = ws_alloc(sizeof *code);
	struct ws_buf why = { 0 };
	void *module = NULL, *f = NULL;
	bool fine = ws_real.cuModuleLoadData && ws_real.cuModuleGetFunction && compile(code, &why);
	int e = fine ? ws_real.cuModuleLoadData(&module, code->cubin) : -1;

	if (fine && e && code->whole && ws_real_compile_refused(e)) {
		ws_real_code_give_up(code, NULL);
		e = compile(code, &why) ? ws_real.cuModuleLoadData(&module, code->cubin) : -1;
	}
	fine = !e && !ws_real.cuModuleGetFunction(&f, module, name);
	ws_buf_free(&why);
	if (!fine) {
		ws_real_code_free(code);
		return NULL;
	}
	ws_real_module_add(module, code, false);
	ws_real_function_add(f, module, name);
	return f;
}

static void *function_here(void)
{
	struct ws_real_range_kernel *k = ws_real_race_range_kernel();
	void *f = NULL;

	pthread_mutex_lock(&lock);
	if (k && !k->tried)
		k->function = load();
	if (k) {
		k->tried = true;
		f = k->function;
	}
	pthread_mutex_unlock(&lock);
	return f;
}

struct ws_real_extent ws_real_range_extent(const struct ws_real_range *r)
{
	uint64_t of_slice = r->of_slice && r->of_slice < r->rows ? r->of_slice : r->rows, slices = of_slice ? (r->rows + of_slice - 1) / of_slice : 0;
	uint64_t bytes = slices ? (slices - 1) * r->slice + (of_slice - 1) * r->pitch + r->width : 0;

	return (struct ws_real_extent){ r->at, r->at + bytes, r->write ? WS_REAL_WRITES : WS_REAL_READS };
}

/* ---- launches ---- */
/* 4 KB for each warp, as long as there are not very many. */
static unsigned blocks_for(const struct ws_real_range *r)
{
	enum { OF_BLOCK = 16 << 10, MOST = 512 };
	uint64_t n = (r->width + 1024) * r->rows / OF_BLOCK + 1;

	return n < MOST ? (unsigned)n : MOST;
}

enum { THREADS = 128 };

struct arguments {                           /* of device/range.cu */
	struct ws_real_range range;
	uint32_t write;
	struct ws_race_launch launch;
	void *list[8];
};

static void **arguments(struct arguments *a, const struct ws_real_range *r, const struct ws_race_launch *said)
{
	struct ws_real_range *o = &a->range;

	*a = (struct arguments){ .range = *r, .write = r->write, .launch = *said };
	if (!o->of_slice)
		o->of_slice = o->rows ? o->rows : 1;
	a->launch.stream = WS_RACE_IN_STREAM(r->of, said->stream & ~WS_RACE_IN_STREAM(~0u, 0));
	memcpy(a->list, (void *[]){ &o->at, &o->width, &o->pitch, &o->rows, &o->slice, &o->of_slice, &a->write, &a->launch },
	       sizeof a->list);
	return a->list;
}

void ws_real_range_tell(const struct ws_real_range *r, const struct ws_race_launch *said, struct ws_real_lane lane)
{
	struct arguments a;
	void **params = arguments(&a, r, said), *f;
	int mode = ws_real_relax_capture(WS_REAL_RELAXED), e = -1;

	f = function_here();
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

bool ws_real_range_is(void *function)
{
	struct ws_real_range_kernel *k = ws_real_race_range_kernel();

	return k && k->tried && k->function == function;
}

/* ---- nodes of graphs ---- */
static struct ws_real_kernel_params node_of(void *f, unsigned blocks, void **params)
{
	return (struct ws_real_kernel_params){ .function = f, .grid = { blocks, 1, 1 }, .block = { THREADS, 1, 1 }, .params = params };
}

bool ws_real_range_node(void **node, void *graph, void *behind)
{
	static const struct ws_real_range nothing = { .of = WS_RACE_IS_COPY };
	static const struct ws_race_launch unsaid;
	struct arguments a;
	void *f = function_here();
	struct ws_real_kernel_params p = node_of(f, 1, arguments(&a, &nothing, &unsaid));

	if (!f)
		return false;
	ws_real_race_prepare(f);
	if (ws_real.cuGraphAddKernelNode_v2)
		return !ws_real.cuGraphAddKernelNode_v2(node, graph, &behind, 1, &p);
	return ws_real.cuGraphAddKernelNode && !ws_real.cuGraphAddKernelNode(node, graph, &behind, 1, &p);
}

bool ws_real_range_node_says(void *exec, void *node, const struct ws_real_range *r, const struct ws_race_launch *said)
{
	struct arguments a;
	void *f = function_here();
	struct ws_real_kernel_params p = node_of(f, blocks_for(r), arguments(&a, r, said));

	ws_real_count(WS_FIG_RANGES, 1);
	if (ws_real.cuGraphExecKernelNodeSetParams_v2)
		return f && !ws_real.cuGraphExecKernelNodeSetParams_v2(exec, node, &p);
	return f && ws_real.cuGraphExecKernelNodeSetParams && !ws_real.cuGraphExecKernelNodeSetParams(exec, node, &p);
}
