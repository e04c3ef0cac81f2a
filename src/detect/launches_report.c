/* launches_report.c - words for races between operations and with the host; see launches_priv.h. */
#include "detect/launches_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PAIRS = 256 };            /* told of one comparison; more only add to a count */

struct pair { struct ws_fp_conflict c; struct ws_fp_who first, second; uint64_t bytes; };
struct pairs { struct pair p[MAX_PAIRS]; size_t n; uint64_t more; };

/* ---- conflicts of the same two instructions are one race ---- */
static bool same(const struct pair *p, const struct ws_fp_conflict *c)
{
	return p->first.op == c->first->op && p->first.site == c->first->site && p->second.op == c->second->op &&
	       p->second.site == c->second->site && p->c.first_writes == c->first_writes &&
	       p->c.second_writes == c->second_writes && p->c.same_value == c->same_value;
}

static void collect(void *user, const struct ws_fp_conflict *c)
{
	struct pairs *all = user;
	size_t i = 0;

	while (i < all->n && !same(&all->p[i], c))
		i++;
	if (i == MAX_PAIRS) {
		all->more += c->bytes;
		return;
	}
	if (i == all->n) {
		all->n++;
		all->p[i] = (struct pair){.c = *c, .first = *c->first, .second = *c->second};
	}
	all->p[i].bytes += c->bytes;
}

/* ---- one access ---- */
static enum ws_race_access_kind access_kind(const struct ws_fp_who *who, bool write, bool strong)
{
	const struct ws_ptx_inst *inst = who->site ? who->site->inst : NULL;

	if (inst && (inst->op == WS_OP_atom || inst->op == WS_OP_red) && (write || strong))
		return WS_RA_ATOMIC;
	return write ? WS_RA_WRITE : WS_RA_READ;
}

static void place_thread(struct ws_race_access *r, const struct ws_la_op *op, const struct ws_fp_who *who, uint64_t addr)
{
	struct ws_obs_launch l = {.serial = 0};
	uint32_t lane = who->bytes ? (uint32_t)((addr - who->base) / who->bytes) : 0;

	memcpy(l.grid, op->grid, sizeof l.grid);
	memcpy(l.block, op->block, sizeof l.block);
	ws_detect_place(r, who->site);
	ws_detect_thread(r, &l, who->block, who->warp * WS_WARP + lane);
}

static void name_op(struct ws_buf *b, const struct ws_la_op *op)
{
	if (op->d.kind == WS_OP_KERNEL)
		ws_buf_printf(b, "launch %" PRIu64 " of '%s'", op->d.launch, op->d.name);
	else
		ws_buf_puts(b, op->d.name);
	ws_buf_printf(b, " in %s", op->d.stream);
}

static bool find_place(const struct ws_launches *l, const struct ws_la_op *op, const char **file, uint32_t *line)
{
	return l->front.place && op->d.frames[0] && l->front.place(op->d.frames, op->d.name, file, line);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void fill_access(const struct ws_launches *l, struct ws_race_access *r, const struct ws_fp_who *who, uint64_t addr,
                        bool write, bool strong)
{
	const struct ws_la_op *op = who->op;
	struct ws_buf text = {NULL, 0, 0};
	const char *file = NULL;
	uint32_t line = 0;

	r->access = access_kind(who, write, strong);
	name_op(&text, op);
	if (find_place(l, op, &file, &line) && op->d.kind == WS_OP_KERNEL)
		ws_buf_printf(&text, ", launched at %s:%" PRIu32, base_name(file), line);
	if (who->site)
		place_thread(r, op, who, addr);
	else if (op->d.kind != WS_OP_KERNEL && file) {
		r->file = file;
		r->line = line;
	}
	r->operation = text.data;
}

static void free_access(struct ws_race_access *r)
{
	free((char *)r->ptx);
	free((char *)r->operation);
}

static void fill_location(const struct ws_launches *l, struct ws_race *r, uint64_t addr, struct ws_buf *text)
{
	const struct ws_mem *m = ws_gpu_mem_find(l->gpu, addr);

	ws_detect_location(m, text);
	r->offset = m ? addr - m->addr : addr;
	r->location = text->data;
}

/* ---- words ---- */
static bool is_memory_op(const struct ws_la_op *op)
{
	return op->d.kind == WS_OP_ALLOC || op->d.kind == WS_OP_FREE;
}

static const char *category(const struct ws_la_op *a, const struct ws_la_op *b, const struct ws_fp_conflict *c, bool early)
{
	if (c->same_value && !is_memory_op(a) && !is_memory_op(b))
		return "same-value";
	return early ? "dependent-launch" : is_memory_op(a) || is_memory_op(b) ? "stream-memory" : "streams";
}

/* What stands in the stream: of a node, the graph. */
static const char *stream_of(const struct ws_la_op *op)
{
	static const char in_graph[] = "a graph in ";

	return strncmp(op->d.stream, in_graph, strlen(in_graph)) ? op->d.stream : op->d.stream + strlen(in_graph);
}

static const char *what_of(const struct ws_la_op *op)
{
	return op->d.graph ? "the graph" : op->d.name;
}

/* Two operations of one name of a stream that are in no order: nodes of one launch of a graph, or of two host threads. */
static void say_wait(struct ws_buf *b, const struct ws_la_op *first, const struct ws_la_op *second)
{
	bool one = !strcmp(first->d.stream, second->d.stream);

	if (first->d.graph && second->d.graph && one)
		ws_buf_puts(b, "add a dependency between the two nodes of the graph (cudaGraphAddDependencies; while capturing: "
		               "cudaEventRecord and cudaStreamWaitEvent)");
	else
		ws_buf_printf(b, "record an event in %s after %s and let %s wait for it before %s (cudaEventRecord, "
		              "cudaStreamWaitEvent), or use one stream", stream_of(first), what_of(first),
		              one ? "the other thread's default stream" : stream_of(second), what_of(second));
}

static void say_repair(struct ws_buf *b, const struct ws_la_op *first, const struct ws_la_op *second, bool early)
{
	if (early)
		ws_buf_puts(b, "call cudaGridDependencySynchronize() before the access");
	else if (second->d.kind == WS_OP_FREE)
		ws_buf_printf(b, "free the memory in %s, or let %s wait for an event that is recorded there (cudaStreamWaitEvent)",
		              first->d.stream, second->d.stream);
	else if (first->d.kind == WS_OP_ALLOC)
		ws_buf_printf(b, "let %s wait for an event recorded in %s after %s (cudaStreamWaitEvent), or allocate in %s",
		              second->d.stream, first->d.stream, first->d.name, second->d.stream);
	else if (first->d.perhaps)
		ws_buf_printf(b, "%s from pageable memory may return before the data have arrived: call cudaStreamSynchronize(0), "
		              "or use cudaMemcpyAsync in %s", first->d.name, second->d.stream);
	else
		say_wait(b, first, second);
	if ((first->d.legacy && second->d.free_running) || (second->d.legacy && first->d.free_running))
		ws_buf_puts(b, "; a stream made with cudaStreamNonBlocking and the default stream do not wait for each other");
}

static void say_missing(struct ws_buf *b, const struct ws_la_op *first, const struct ws_la_op *second, bool early)
{
	if (early) {
		ws_buf_printf(b, "griddepcontrol.wait: '%s' may begin while '%s' still runs (programmatic dependent launch)",
		              second->d.name, first->d.name);
		return;
	}
	ws_buf_puts(b, "order between ");
	name_op(b, first);
	ws_buf_puts(b, " and ");
	name_op(b, second);
	ws_buf_puts(b, ": no stream, event or dependency makes one wait for the other");
}

/* Of a stretch of racing bytes, those that the two accesses told of have in common. */
static uint64_t bytes_of(const struct pair *p)
{
	uint64_t n = p->c.bytes;

	if (p->first.site && p->first.bytes < n)
		n = p->first.bytes;
	return p->second.site && p->second.bytes < n ? p->second.bytes : n;
}

static const char *kernel_of(const struct ws_la_op *a, const struct ws_la_op *b)
{
	return b && b->d.kind == WS_OP_KERNEL ? b->d.name : a->d.kind == WS_OP_KERNEL ? a->d.name : b ? b->d.name : a->d.name;
}

static void tell(struct ws_launches *l, const struct pair *p, bool early)
{
	const struct ws_la_op *a = p->first.op, *b = p->second.op;
	struct ws_race r = {.kind = !p->c.first_writes ? WS_WAR : p->c.second_writes ? WS_WAW : WS_RAW, .space = "global",
	                    .size = bytes_of(p), .count = (p->bytes + bytes_of(p) - 1) / bytes_of(p), .launch = b->d.launch ? b->d.launch : a->d.launch};
	struct ws_buf missing = {NULL, 0, 0}, repair = {NULL, 0, 0}, location = {NULL, 0, 0};

	r.category = category(a, b, &p->c, early);
	r.severity = a->d.perhaps || (!strcmp(r.category, "same-value") && !l->config.same_value_error) ? WS_WARNING : WS_ERROR;
	r.kernel = kernel_of(a, b);
	r.seed = l->config.seed;
	fill_access(l, &r.first, &p->first, p->c.addr, p->c.first_writes, p->c.first_strong);
	fill_access(l, &r.second, &p->second, p->c.addr, p->c.second_writes, p->c.second_strong);
	fill_location(l, &r, p->c.addr, &location);
	say_missing(&missing, a, b, early);
	say_repair(&repair, a, b, early);
	r.missing = missing.data;
	r.repair = repair.data;
	ws_report_race(l->report, &r);
	free_access(&r.first);
	free_access(&r.second);
	ws_buf_free(&location);
	ws_buf_free(&missing);
	ws_buf_free(&repair);
}

void ws_la_compare(struct ws_launches *l, const struct ws_la_prints *first, const struct ws_la_prints *second, bool early)
{
	struct pairs *all;

	if ((!first->device || !second->device) && (!first->host || !second->host))
		return;
	all = ws_alloc(sizeof *all);
	if (first->device && second->device)
		ws_footprint_compare(first->device, second->device, collect, all);
	if (first->host && second->host)
		ws_footprint_compare(first->host, second->host, collect, all);
	for (size_t i = 0; i < all->n; i++)
		tell(l, &all->p[i], early);
	if (all->more)
		ws_report_limit(l->report, "races of more than 256 pairs of instructions of two operations: the rest is not told");
	free(all);
}

/* ---- the host ---- */
void ws_la_tell_host(struct ws_launches *l, const struct ws_fp_conflict *c, void *const *frames)
{
	const struct ws_la_op *op = c->first->op;
	struct ws_race r = {.kind = !c->first_writes ? WS_WAR : c->second_writes ? WS_WAW : WS_RAW, .space = "global",
	                    .category = "host-access", .severity = WS_ERROR, .size = c->bytes, .count = 1, .launch = op->d.launch,
	                    .seed = l->config.seed};
	struct ws_buf missing = {NULL, 0, 0}, repair = {NULL, 0, 0}, location = {NULL, 0, 0};
	const char *file;
	uint32_t line;

	r.kernel = kernel_of(op, NULL);
	fill_access(l, &r.first, c->first, c->addr, c->first_writes, c->first_strong);
	r.second.access = c->second_writes ? WS_RA_WRITE : WS_RA_READ;
	r.second.operation = ws_strdup("the host program");
	if (l->front.place && l->front.place(frames, "", &file, &line)) {
		r.second.file = file;
		r.second.line = line;
	}
	fill_location(l, &r, c->addr, &location);
	ws_buf_puts(&missing, "the host does not wait for ");
	name_op(&missing, op);
	ws_buf_printf(&repair, "wait for %s before the host's access (cudaStreamSynchronize, cudaEventSynchronize or "
	              "cudaDeviceSynchronize)", op->d.stream);
	if (c->first_strong)
		ws_buf_puts(&repair, ", or give the atomic the scope of the system (atomicAdd_system)");
	r.missing = missing.data;
	r.repair = repair.data;
	ws_report_race(l->report, &r);
	free_access(&r.first);
	free_access(&r.second);
	ws_buf_free(&location);
	ws_buf_free(&missing);
	ws_buf_free(&repair);
}
