/* interval.c - the proof that a read of shared memory races with nothing: nobody writes to shared memory meanwhile.
 *
 * A barrier of the whole block orders what its threads did before it and what they do after it, so only accesses of
 * one interval can race: those of threads that have passed the same number of barriers. Which places of the code are
 * executed in one interval? Let a point be the kernel's entry or a barrier, and its region what a thread can execute
 * from there until the next barrier. Two threads are at first at the entry, both; from points p and q they come to any
 * barrier that ends the region of p, and any that ends the region of q. All pairs found so are those of regions that
 * may be in one interval (with barriers in the branches of a condition the points differ). A read needs no check when,
 * for each point in whose region it lies, no region that may be in one interval with that one writes to shared memory.
 *
 * All shared memory counts as one variable, so it does not matter where addresses lead; a generic store counts as a
 * write to it. A thread that has ended was at all barriers, so it does not matter either. A barrier with a count of
 * threads counts for nothing. Points and places of which no block comes to both (sides.c) are in no interval together.
 *
 * A branch on a condition that is the same for all threads of the block sends all of them one way from a point to the next: on in a loop, or out
 * of it. Such a point is two, one for each way, which are in no interval together, so that what comes behind a loop meets nothing of its
 * rounds; or up to eight, by more such branches that come behind: out of the loop of four rounds at a time, and into the one of those that are left over.
 *
 * The same for the lanes of a warp, which its syncs order as well: `bar.warp.sync -1` is one more point. What a lane has done that ends without
 * coming to the next sync is not ordered by it. */
#include "rewrite/needless.h"
#include "rewrite/probe.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 96 };               /* more are not looked at: all reads are checked */
enum { MOST_BLOCKS = 400, MOST_FORKS = 16 };     /* where points are made two */

struct ws_intervals {
	struct ws_ptx_func *f;
	const struct ws_rw_access *list;
	uint32_t n;
	bool calls_write;
	const uint8_t *dead;             /* by instruction; may be NULL */
	uint32_t npoints;
	uint32_t at[MOST_POINTS];        /* the first instruction behind the point */
	uint32_t same[MOST_POINTS];      /* the point that this one is one way of, maybe itself */
	uint8_t next[MOST_POINTS][MOST_POINTS], pair[MOST_POINTS][MOST_POINTS];
	uint8_t later[MOST_POINTS][MOST_POINTS];         /* a thread may be there behind one of the other in time */
	bool writes[MOST_POINTS];        /* in the region */
	uint8_t *write;                  /* by instruction: it may write to shared memory */
	uint8_t *point;                  /* by instruction: the number of the point behind it; 0 = none */
	uint8_t *in[MOST_POINTS];        /* by instruction: lies in the region */
	struct ws_sides *sides;          /* places that no block has both of */
	bool *varies;                    /* by register, as ws_probe_varying has it; NULL: threads may be at different barriers at a time */
	uint8_t *divided;                /* by block, then: some threads may come there when others do not */
	bool in_warp;                    /* points are syncs of the warp, too */
	bool in_turn;                    /* then: all threads of the block are at one barrier at a time */
	uint8_t *ends;                   /* by instruction, then: a thread may end behind it before it comes to another point */
	uint8_t *seen;                   /* by block */
	uint32_t *stack, depth;
};

/* Syncs of which the lanes are known. What is called might have more of them. */
static bool has_plain_syncs(const struct ws_ptx_func *f)
{
	bool any = false;

	for (uint32_t i = 0; i < f->ninsts; i++) {
		if (f->insts[i].call || (ws_rw_is_warp_sync(&f->insts[i]) && f->insts[i].ops[0].kind != WS_O_INT))
			return false;
		any |= ws_rw_syncs_whole_warp(&f->insts[i]);
	}
	return any;
}

static bool may_write(const struct ws_rw_access *a)
{
	if (a->rw_class == WS_RW_UNHANDLED)
		return ws_op_info(a->inst->op)->fx & (WS_FX_WRITE | WS_FX_ATOMIC);
	return a->rw_class == WS_RW_CHECK && a->kind != WS_RW_READ && a->space != WS_SPACE_GLOBAL;
}

enum ws_shared_use ws_shared_use(const struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n)
{
	enum ws_shared_use use = WS_SHARED_NONE;

	for (uint32_t i = 0; i < f->ninsts; i++)
		if (ws_rw_is_barrier(&f->insts[i]))
			return WS_SHARED_BARRIER;
	for (uint32_t k = 0; k < n; k++) {
		if (may_write(&list[k]))
			return WS_SHARED_WRITE;
		if (list[k].rw_class == WS_RW_CHECK && list[k].space != WS_SPACE_GLOBAL)
			use = WS_SHARED_READ;
	}
	return use;
}

/* ---- ways ---- */
static bool is_taken(const struct ws_ptx_func *f, const uint8_t *dead, const struct ws_ptx_block *b, uint32_t to)
{
	bool next = f->blocks[to].first == b->last + 1;

	return !dead || dead[b->last] != (next ? WS_DEAD_NEXT : WS_DEAD_TAKEN);
}

void ws_find_after(const struct ws_ptx_func *f, const uint8_t *marks, const uint8_t *stops, const uint8_t *dead, uint8_t *out)
{
	uint8_t *in = ws_alloc(f->nblocks + 1), any;

	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t n = f->nblocks; n--;) {
			const struct ws_ptx_block *b = &f->blocks[n];

			any = 0;
			for (uint32_t k = 0; k < b->nsucc; k++)
				any |= is_taken(f, dead, b, b->succ[k]) && in[b->succ[k]];
			for (uint32_t k = b->last + 1; k-- > b->first;) {
				out[k] = any;
				any = (uint8_t)(marks[k] | (any && !(stops && stops[k] && !f->insts[k].guard)));
			}
			changed |= any != in[n];
			in[n] = any;
		}
	}
	free(in);
}

/* ---- points and their regions ---- */
static bool find_points(struct ws_intervals *v)
{
	bool arrives = ws_rw_arrives(v->f);

	v->npoints = 1;                      /* at[0] = 0: the entry */
	for (uint32_t i = 0; i < v->f->ninsts; i++) {
		v->write[i] = v->f->insts[i].call && v->calls_write;
		if ((arrives || !ws_rw_is_barrier(&v->f->insts[i]) || !ws_rw_names_no_count(&v->f->insts[i])) && !(v->in_warp && ws_rw_syncs_whole_warp(&v->f->insts[i])))
			continue;
		if (v->npoints == MOST_POINTS)
			return false;
		v->at[v->npoints] = i + 1;
		v->same[v->npoints] = v->npoints;
		v->point[i] = (uint8_t)v->npoints++;
	}
	for (uint32_t k = 0; k < v->n; k++)
		v->write[v->list[k].inst->index] |= may_write(&v->list[k]);
	return true;
}

static void push(struct ws_intervals *v, uint32_t block)
{
	if (v->seen[block])
		return;
	v->seen[block] = 1;
	v->stack[v->depth++] = block;
}

/* The part of a block from instruction i on that lies in the region of a point. A guarded barrier is one for some of
 * the threads; for the others the region goes on. */
static void walk_block(struct ws_intervals *v, uint32_t p, const struct ws_ptx_block *b, uint32_t i)
{
	for (; i <= b->last; i++) {
		v->in[p][i] = 1;
		v->writes[p] |= v->write[i];
		if (v->point[i])
			v->next[p][v->point[i]] = 1;
		if (v->point[i] && !v->f->insts[i].guard)
			return;
	}
	for (uint32_t k = 0; k < b->nsucc; k++)
		if (is_taken(v->f, v->dead, b, b->succ[k]))
			push(v, b->succ[k]);
}

static void begin_walk(struct ws_intervals *v)
{
	memset(v->seen, 0, v->f->nblocks);
	v->depth = 0;
}

/* The blocks that wait, and what comes behind them. */
static void walk_on(struct ws_intervals *v, uint32_t p)
{
	while (v->depth) {
		const struct ws_ptx_block *b = &v->f->blocks[v->stack[--v->depth]];

		walk_block(v, p, b, b->first);
	}
}

static void walk_from(struct ws_intervals *v, uint32_t p)
{
	walk_block(v, p, &v->f->blocks[v->f->insts[v->at[p]].block], v->at[p]);
	walk_on(v, p);
}

/* Goes through the region of point p: what it has, and where it ends. */
static void walk(struct ws_intervals *v, uint32_t p)
{
	if (v->at[p] >= v->f->ninsts)
		return;
	begin_walk(v);
	walk_from(v, p);
}

/* ---- points that are several ---- */
/* Branches, one behind the other, and which way a thread goes at each when it first comes to it behind the ones before. */
enum { MOST_TURNS = 3 };
struct way { uint32_t n, fork[MOST_TURNS]; int side[MOST_TURNS]; };

/* What a thread that has come from the point executes of the basic block: from there on, or all of it. */
static uint32_t first_in(const struct ws_intervals *v, uint32_t p, uint32_t b)
{
	return v->f->insts[v->at[p]].block == b ? v->at[p] : v->f->blocks[b].first;
}

static void forget_region(struct ws_intervals *v, uint32_t p)
{
	memset(v->in[p], 0, v->f->ninsts);
	memset(v->next[p], 0, sizeof v->next[p]);
	v->writes[p] = false;
}

static void push_side(struct ws_intervals *v, uint32_t fork, int side)
{
	const struct ws_ptx_block *b = &v->f->blocks[fork];

	if (is_taken(v->f, v->dead, b, b->succ[side]))
		push(v, b->succ[side]);
}

/* From the point, or from behind the k-th branch, to the next one of the way (there is none: to the next points), by way of any others. */
static void walk_turn(struct ws_intervals *v, uint32_t p, const struct way *w, uint32_t k)
{
	uint32_t to = k < w->n ? w->fork[k] : v->f->nblocks;

	begin_walk(v);
	if (k < w->n)
		v->seen[to] = 1;
	if (k) {
		push_side(v, w->fork[k - 1], w->side[k - 1]);
		walk_on(v, p);
	} else if (v->f->insts[v->at[p]].block != to) {
		walk_from(v, p);
	}
}

/* A branch's basic block; first: the point may lie in it. */
static void add_block(struct ws_intervals *v, uint32_t p, uint32_t b, bool first)
{
	for (uint32_t i = first ? first_in(v, p, b) : v->f->blocks[b].first; i <= v->f->blocks[b].last; i++) {
		v->in[p][i] = 1;
		v->writes[p] |= v->write[i];
	}
}

/* What a thread comes to from the point, if it goes that way. */
static void walk_way(struct ws_intervals *v, uint32_t p, const struct way *w)
{
	forget_region(v, p);
	for (uint32_t k = 0; k < w->n; k++) {
		walk_turn(v, p, w, k);
		add_block(v, p, w->fork[k], k == 0);
	}
	walk_turn(v, p, w, w->n);
}

/* Only what comes behind its last branch. */
static void walk_end(struct ws_intervals *v, uint32_t p, const struct way *w)
{
	forget_region(v, p);
	walk_turn(v, p, w, w->n);
}

static struct way turned(const struct way *w, uint32_t fork, int side)
{
	struct way t = *w;

	t.fork[t.n] = fork;
	t.side[t.n++] = side;
	return t;
}

static uint32_t size_of_region(const struct ws_intervals *v, uint32_t p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->f->ninsts; i++)
		n += v->in[p][i];
	return n;
}

/* Does a basic block end with a branch two ways on a condition that is the same for all threads? */
static bool is_fork(const struct ws_intervals *v, const struct ws_probe *probe, uint32_t b)
{
	const struct ws_ptx_block *block = &v->f->blocks[b];

	return probe->when[b] && !v->varies[probe->when[b]->index] && block->nsucc == 2 && block->succ[0] != block->succ[1];
}

/* Does a thread come from the point to the branch at the end of the basic block, not by way of a barrier for some threads in there? */
static bool comes_to(const struct ws_intervals *v, uint32_t p, uint32_t b)
{
	uint32_t last = v->f->blocks[b].last;

	for (uint32_t i = first_in(v, p, b); i <= last; i++)
		if (v->point[i])
			return false;
	return v->in[p][last];
}

/* The branch behind that way whose own ways have least in common; nblocks: there is none. */
static uint32_t best_fork(struct ws_intervals *v, uint32_t scratch, const struct way *w, const uint32_t *forks, uint32_t n)
{
	uint32_t best = v->f->nblocks, least;
	bool behind[MOST_FORKS];

	walk_end(v, scratch, w);
	for (uint32_t k = 0; k < n; k++)
		behind[k] = comes_to(v, scratch, forks[k]) && !(w->n && w->fork[0] == forks[k]);
	walk_way(v, scratch, w);
	least = 2 * size_of_region(v, scratch);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t size = 0;

		if (!behind[k])
			continue;
		for (int side = 0; side < 2; side++) {
			struct way t = turned(w, forks[k], side);

			walk_way(v, scratch, &t);
			size += size_of_region(v, scratch);
		}
		if (size < least) {
			best = forks[k];
			least = size;
		}
	}
	return best;
}

/* One more point, which is at the same place as p and has no region yet. */
static uint32_t new_point(struct ws_intervals *v, uint32_t p)
{
	uint32_t q = v->npoints;

	v->in[q] = v->in[q] ? v->in[q] : ws_alloc(v->f->ninsts + 1);
	v->at[q] = v->at[p];
	v->same[q] = v->same[p];
	return q;
}

/* p is to be that way, or several by a branch behind it. The last point that there is room for is for trying. */
static void split_point(struct ws_intervals *v, uint32_t p, const struct way *w, const uint32_t *forks, uint32_t n)
{
	uint32_t fork = w->n < MOST_TURNS && v->npoints + 1 < MOST_POINTS ? best_fork(v, new_point(v, p), w, forks, n) : v->f->nblocks, twin;
	struct way one, other;

	if (fork == v->f->nblocks) {
		if (w->n)
			walk_way(v, p, w);
		return;
	}
	one = turned(w, fork, 0);
	other = turned(w, fork, 1);
	twin = new_point(v, p);
	v->npoints++;
	split_point(v, p, &one, forks, n);
	split_point(v, twin, &other, forks, n);
}

/* Regions were walked as if points were one way: what ends in one may end in each of its ways. */
static void end_in_all_ways(struct ws_intervals *v)
{
	for (uint32_t p = 0; p < v->npoints; p++)
		for (uint32_t q = 1; q < v->npoints; q++)
			v->next[p][q] |= v->next[p][v->same[q]];
}

static void split_points(struct ws_intervals *v, const uint32_t *forks, uint32_t n)
{
	uint32_t all = v->npoints;

	for (uint32_t p = 1; p < all; p++)
		if (v->at[p] < v->f->ninsts)
			split_point(v, p, &(struct way){ 0 }, forks, n);
	end_in_all_ways(v);
}

static void find_divided(struct ws_intervals *v, const struct ws_probe *probe)
{
	v->divided = ws_alloc(v->f->nblocks + 1);
	for (uint32_t b = 0; b < v->f->nblocks; b++) {
		uint8_t *marks = ws_probe_divided(probe, v->varies, b);

		for (uint32_t k = 0; marks && k < v->f->nblocks; k++)
			v->divided[k] |= marks[k];
		free(marks);
	}
}

static void find_ways(struct ws_intervals *v)
{
	uint32_t forks[MOST_FORKS], n = 0;
	struct ws_probe *probe;

	if (v->in_warp || v->npoints < 2 || v->npoints > MOST_POINTS / 2 || v->f->nblocks > MOST_BLOCKS)
		return;
	probe = ws_probe_begin(v->f, v->list, v->n);
	ws_probe_follow(probe);
	v->varies = ws_probe_varying(probe);
	for (uint32_t b = 0; v->varies && b < v->f->nblocks && n < MOST_FORKS; b++)
		if (is_fork(v, probe, b))
			forks[n++] = b;
	if (n)
		split_points(v, forks, n);
	if (v->varies)
		find_divided(v, probe);
	ws_probe_free(probe);
}

/* ---- pairs ---- */
static bool is_sync(const struct ws_intervals *v, uint32_t p) { return ws_rw_is_warp_sync(&v->f->insts[v->at[p] - 1]); }

/* Lanes at a barrier of the block and at a sync of the warp would wait for each other for ever. */
static bool may_be_in_turn(const struct ws_intervals *v, uint32_t a, uint32_t b)
{
	return !v->in_warp || (is_sync(v, a) == is_sync(v, b) && !(v->in_turn && !is_sync(v, a)));
}

/* May threads be at these points at a time? All are at one barrier where nothing that varies decides about barriers, and go one way from there. */
static bool may_be_pair(const struct ws_intervals *v, uint32_t a, uint32_t b)
{
	return a == b || (may_be_in_turn(v, a, b) && !v->varies && v->same[a] != v->same[b] && !ws_sides_exclude(v->sides, v->at[a] - 1, v->at[b] - 1));
}

static void find_pairs(struct ws_intervals *v)
{
	uint32_t *todo = ws_alloc(2 * MOST_POINTS * MOST_POINTS * sizeof *todo), n = 0;

	v->pair[0][0] = 1;
	todo[n++] = 0;
	while (n) {
		uint32_t p = todo[--n] / MOST_POINTS, q = todo[n] % MOST_POINTS;

		for (uint32_t a = 1; a < v->npoints; a++)
			for (uint32_t b = 1; b < v->npoints && v->next[p][a]; b++)
				if (v->next[q][b] && !v->pair[a][b] && may_be_pair(v, a, b)) {
					v->pair[a][b] = 1;
					todo[n++] = a * MOST_POINTS + b;
				}
	}
	free(todo);
}

static void find_later(struct ws_intervals *v, uint32_t p)
{
	uint32_t todo[MOST_POINTS], n = 0;

	for (uint32_t q = 0; q < v->npoints; q++)
		if (v->pair[p][q])
			todo[n++] = q;
	while (n) {
		uint32_t from = todo[--n];

		for (uint32_t q = 0; q < v->npoints; q++)
			if (v->next[from][q] && !v->later[p][q]) {
				v->later[p][q] = 1;
				if (!v->pair[p][q])      /* else it was among those to begin with */
					todo[n++] = q;
			}
	}
}

/* ---- threads that end ---- */
static void find_ends(struct ws_intervals *v)
{
	uint8_t *exits = ws_alloc(v->f->ninsts + 1);

	for (uint32_t k = 0; k < v->f->ninsts; k++)
		exits[k] = v->f->insts[k].op == WS_OP_exit || v->f->insts[k].op == WS_OP_ret;
	v->ends = ws_alloc(v->f->ninsts + 1);
	ws_find_after(v->f, exits, v->point, v->dead, v->ends);
	free(exits);
}

/* ---- for others ---- */
void ws_intervals_free(struct ws_intervals *v)
{
	if (!v)
		return;
	for (uint32_t p = 0; p < MOST_POINTS; p++)
		free(v->in[p]);
	free(v->write);
	free(v->point);
	free(v->seen);
	free(v->stack);
	free(v->ends);
	free(v->varies);
	free(v->divided);
	ws_sides_free(v->sides);
	free(v);
}

static struct ws_intervals *find(struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n, bool calls_write,
				 const uint8_t *dead, bool in_warp, bool in_turn)
{
	struct ws_intervals *v = ws_alloc(sizeof *v);

	ws_ptx_cfg(kernel);
	v->f = kernel;
	v->list = list;
	v->n = n;
	v->calls_write = calls_write;
	v->dead = dead;
	v->in_warp = in_warp;
	v->in_turn = in_turn;
	v->write = ws_alloc(kernel->ninsts + 1);
	v->point = ws_alloc(kernel->ninsts + 1);
	v->seen = ws_alloc(kernel->nblocks + 1);
	v->stack = ws_alloc((kernel->nblocks + 1) * sizeof *v->stack);
	v->sides = ws_sides_find(kernel);
	if (!find_points(v)) {
		ws_intervals_free(v);
		return NULL;
	}
	for (uint32_t p = 0; p < v->npoints; p++) {
		v->in[p] = ws_alloc(kernel->ninsts + 1);
		walk(v, p);
	}
	find_ways(v);
	find_pairs(v);
	for (uint32_t p = 0; p < v->npoints; p++)
		find_later(v, p);
	if (in_warp)
		find_ends(v);
	return v;
}

struct ws_intervals *ws_intervals_find(struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n,
				       bool calls_write, const uint8_t *dead)
{
	return find(kernel, list, n, calls_write, dead, false, false);
}

struct ws_intervals *ws_intervals_of_warp(struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n, const uint8_t *dead,
                                          const struct ws_intervals *of_block)
{
	return has_plain_syncs(kernel) ? find(kernel, list, n, false, dead, true, ws_intervals_in_turn(of_block)) : NULL;
}

static bool any_points(const struct ws_intervals *v, const uint8_t (*table)[MOST_POINTS], uint32_t i, uint32_t j)
{
	for (uint32_t p = 0; p < v->npoints; p++)
		for (uint32_t q = 0; q < v->npoints && v->in[p][i]; q++)
			if (table[p][q] && v->in[q][j])
				return true;
	return false;
}

bool ws_intervals_meet(const struct ws_intervals *v, uint32_t i, uint32_t j)
{
	return !ws_sides_exclude(v->sides, i, j) && any_points(v, v->pair, i, j);
}

bool ws_intervals_later(const struct ws_intervals *v, uint32_t i, uint32_t j)
{
	return !ws_sides_exclude(v->sides, i, j) && any_points(v, v->later, i, j);
}

bool ws_intervals_meet_in_warp(const struct ws_intervals *v, uint32_t i, uint32_t j)
{
	return ws_intervals_meet(v, i, j) || (v->ends[i] && ws_intervals_later(v, i, j)) ||
	       (v->ends[j] && ws_intervals_later(v, j, i));
}

bool ws_intervals_in_turn(const struct ws_intervals *v)
{
	return v->varies != NULL;
}

const uint8_t *ws_intervals_region(const struct ws_intervals *v, uint32_t point, uint32_t *first)
{
	*first = point < v->npoints ? v->at[point] : 0;
	return point < v->npoints ? v->in[point] : NULL;
}

bool ws_intervals_divide(const struct ws_intervals *v, uint32_t block)
{
	return !v->divided || v->divided[block];
}

/* ---- the proof ---- */
static bool meets_writes(const struct ws_intervals *v, uint32_t i)
{
	for (uint32_t p = 0; p < v->npoints; p++)
		for (uint32_t q = 0; q < v->npoints && v->in[p][i]; q++)
			if (v->pair[p][q] && v->writes[q])
				return true;
	return false;
}

void ws_needless_in_intervals(const struct ws_intervals *v, struct ws_needless *out)
{
	for (uint32_t k = 0; k < v->n; k++) {
		const struct ws_rw_access *a = &v->list[k];

		out[k].skip |= a->rw_class == WS_RW_CHECK && a->kind == WS_RW_READ && a->sem == WS_SEM_WEAK &&
			       a->space == WS_SPACE_SHARED && !meets_writes(v, a->inst->index);
	}
}
