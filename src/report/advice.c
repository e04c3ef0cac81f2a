/* advice.c - the words for a race; see advice.h. */
#include "report/advice.h"

#include <string.h>

/* ---- places ---- */
/* Where a programmer would put something: what was inlined from another file (a header) counts as the line that calls
 * it. file is NULL without line information. */
struct spot { const char *file; uint32_t line; };

static struct spot spot_of(const struct ws_race_access *a)
{
	if (a->file && a->inlined_file && strcmp(a->file, a->inlined_file))
		return (struct spot){ a->inlined_file, a->inlined_line };
	return (struct spot){ a->file, a->line };
}

void ws_race_line(struct ws_buf *b, const struct ws_race_access *a, const struct ws_race_access *other)
{
	struct spot x = spot_of(a), y = other ? spot_of(other) : x;

	if (x.file && y.file && !strcmp(x.file, y.file))
		ws_buf_printf(b, "line %u", x.line);
	else if (x.file)
		ws_buf_printf(b, "%s:%u", x.file, x.line);
	else
		ws_buf_printf(b, "PTX line %u", a->ptx_line);
}

uint32_t ws_race_line_of(const struct ws_race_access *a)
{
	return spot_of(a).line;
}

bool ws_race_same_line(const struct ws_race *r)
{
	struct spot x = spot_of(&r->first), y = spot_of(&r->second);

	if (x.file && y.file)
		return x.line == y.line && !strcmp(x.file, y.file);
	return r->first.ptx_line == r->second.ptx_line;
}

/* The access in the earlier line belongs to the next round of a loop (perhaps unrolled), and what orders the two in one
 * round is there. swap: that access is the second one. */
static bool next_round(const struct ws_advice *a, bool swap)
{
	if (!a->one_function || !a->repeated)
		return false;
	return swap != a->backward || (a->loop && a->barrier);
}

void ws_race_between(const struct ws_advice *a, struct ws_buf *b)
{
	const struct ws_race *r = a->race;
	struct spot first = spot_of(&r->first), second = spot_of(&r->second);
	bool swap = first.file && second.file && !strcmp(first.file, second.file) && first.line > second.line;
	const struct ws_race_access *x = swap ? &r->second : &r->first, *y = swap ? &r->first : &r->second;

	if (ws_race_same_line(r)) {
		ws_buf_puts(b, a->repeated ? "after " : "between the reading and the writing of ");
		ws_race_line(b, x, NULL);
		ws_buf_puts(b, a->repeated ? ", at the end of the loop around it" : "");
		return;
	}
	if (next_round(a, swap)) {
		ws_buf_puts(b, "after ");
		ws_race_line(b, y, NULL);
		ws_buf_puts(b, ", at the end of the loop: its next round comes to ");
		ws_race_line(b, x, y);
		return;
	}
	ws_buf_puts(b, "between ");
	ws_race_line(b, x, y);
	ws_buf_puts(b, " and ");
	ws_race_line(b, y, x);
	if (swap && a->loop)
		ws_buf_puts(b, ", and at the end of the loop around them");
}

/* ---- categories ---- */
static void say_update(const struct ws_advice *a, struct ws_buf *repair)
{
	ws_buf_puts(repair, "use atomicAdd() or another atomic operation in ");
	ws_race_line(repair, &a->race->first, NULL);
}

/* Both threads update the value in one line ("count[i]++"): more order would not be the answer. */
static bool wants_atomic(const struct ws_advice *a)
{
	return a->one_function && a->update && ws_race_same_line(a->race);
}

/* One place writes, once: there is nothing to put between. */
static bool written_once(const struct ws_advice *a)
{
	return a->race->kind == WS_WAW && ws_race_same_line(a->race) && !a->repeated;
}

static const char *say_strong(const struct ws_advice *a, struct ws_buf *missing, struct ws_buf *repair)
{
	if (!a->same_size) {
		ws_buf_puts(missing, "atomicity: the two accesses overlap with different sizes");
		ws_buf_puts(repair, "use one size for all atomic accesses to these bytes");
		return "mixed-size";
	}
	ws_buf_puts(missing, "a scope that holds both threads: an atomic of .cta scope does not reach another block");
	ws_buf_puts(repair, "use the atomic without _block, or thread_scope_device");
	return "scope";
}

static const char *say_atomic_plain(const struct ws_advice *a, struct ws_buf *missing, struct ws_buf *repair)
{
	const struct ws_race_access *plain = a->strong2 ? &a->race->first : &a->race->second;

	ws_buf_puts(missing, "atomicity of both: one access is atomic or volatile, the other is not");
	ws_buf_puts(repair, plain->access == WS_RA_READ ? "read it with an atomic load in " : "use an atomic operation in ");
	ws_race_line(repair, plain, NULL);
	if (a->same_block) {
		ws_buf_puts(repair, ", or add __syncthreads() ");
		ws_race_between(a, repair);
	}
	return "atomic-plain";
}

void ws_race_wrong_barrier(const struct ws_advice *a, struct ws_buf *repair)
{
	bool swap = spot_of(&a->race->first).line > spot_of(&a->race->second).line;
	const struct ws_race_access *x = swap ? &a->race->second : &a->race->first;
	const struct ws_race_access *y = swap ? &a->race->first : &a->race->second;

	ws_buf_puts(repair, "both threads must take part in the barrier between ");
	ws_race_line(repair, x, y);
	ws_buf_puts(repair, " and ");
	ws_race_line(repair, y, x);
	ws_buf_puts(repair, ": one number, a count of all its threads, and no branch or return that leaves some out; "
	                    "__syncthreads() is one for the whole block");
}

static const char *say_same_block(const struct ws_advice *a, struct ws_buf *missing, struct ws_buf *repair)
{
	bool shared = strcmp(a->race->space, "shared") == 0;

	if (a->same_warp)
		ws_buf_puts(missing, "__syncwarp(): the threads of a warp do not run in step");
	else
		ws_buf_printf(missing, "a barrier between threads of the block%s", shared ? "" : " (global memory)");
	if (wants_atomic(a)) {
		say_update(a, repair);
	} else if (written_once(a)) {
		ws_buf_puts(repair, "let one thread write it, or give each thread a place of its own");
	} else if (!a->same_warp && a->barrier && !a->repeated) {
		ws_race_wrong_barrier(a, repair);
	} else {
		ws_buf_puts(repair, a->same_warp ? "add __syncwarp() " : "add __syncthreads() ");
		ws_race_between(a, repair);
	}
	return a->same_warp ? "warp" : "missing-barrier";
}

static const char *say_between_blocks(const struct ws_advice *a, struct ws_buf *missing, struct ws_buf *repair)
{
	ws_buf_puts(missing, "order between two blocks: nothing in a kernel orders them by itself");
	if (wants_atomic(a))
		say_update(a, repair);
	else
		ws_buf_puts(repair, a->race->kind == WS_WAW ? "let one block alone write it, or use atomic operations" :
		            "split the kernel in two, or pass the value on through a flag with __threadfence() on both sides");
	return "inter-block";
}

static const char *say_in_flight(const struct ws_advice *a, struct ws_buf *missing, struct ws_buf *repair)
{
	ws_buf_printf(missing, "completion: the operation may still %s this memory", a->race->kind == WS_WAR ? "read" : "write");
	ws_buf_puts(repair, "add cp.async.wait_group (__pipeline_wait_prior(0), cuda::pipeline's consumer_wait()), or a wait for the "
	                    "mbarrier object at which the copy arrives, before ");
	ws_race_line(repair, &a->race->second, NULL);
	if (!a->same_thread)
		ws_buf_puts(repair, ", and a __syncthreads() after it where another thread started the copy");
	return "async-copy";
}

static const char *say_in_cluster(const struct ws_advice *a, struct ws_buf *missing, struct ws_buf *repair)
{
	ws_buf_puts(missing, strcmp(a->race->space, "shared") ? "a barrier between the blocks of the cluster (global memory)" :
	                                                        "a barrier between the blocks of the cluster");
	ws_buf_puts(repair, "add cluster.sync() (barrier.cluster.arrive and .wait) ");
	ws_race_between(a, repair);
	return "cluster";
}

const char *ws_race_advise_lifetime(const struct ws_race_access *visitor, bool ended, struct ws_buf *missing, struct ws_buf *repair)
{
	if (ended) {
		ws_buf_puts(missing, "a cluster barrier before the block ends: another block may still access its shared memory");
		ws_buf_puts(repair, "add cluster.sync() before the kernel ends, after ");
	} else {
		ws_buf_puts(missing, "a cluster barrier before the access: the block whose shared memory it is may not have begun");
		ws_buf_puts(repair, "add cluster.sync() at the start of the kernel, before ");
	}
	ws_race_line(repair, visitor, NULL);
	return "cluster-lifetime";
}

const char *ws_race_advise(const struct ws_advice *a, struct ws_buf *missing, struct ws_buf *repair)
{
	if (a->proxy) {
		ws_buf_puts(missing, "a proxy fence: the write is ordered before the operation, which goes through the async proxy");
		ws_buf_puts(repair, "add fence.proxy.async after ");
		ws_race_line(repair, &a->race->first, NULL);
		return "proxy";
	}
	if (a->in_flight)
		return say_in_flight(a, missing, repair);
	if (a->same_value) {
		ws_buf_puts(missing, "order between two writes, which store the same value");
		ws_buf_puts(repair, "let one thread write it, or use an atomic operation");
		return "same-value";
	}
	if (a->same_instruction) {
		ws_buf_puts(missing, "order between lanes: one instruction writes different values to one place");
		ws_buf_puts(repair, "let one lane write it, or use an atomic operation");
		return "same-instruction";
	}
	if (a->strong1 && a->strong2)
		return say_strong(a, missing, repair);
	if (a->strong1 || a->strong2)
		return say_atomic_plain(a, missing, repair);
	if (a->one_cluster)
		return say_in_cluster(a, missing, repair);
	return a->same_block ? say_same_block(a, missing, repair) : say_between_blocks(a, missing, repair);
}
