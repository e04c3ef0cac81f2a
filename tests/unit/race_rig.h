/* race_rig.h - a kernel with the checks of the pass `race` on the simulated GPU, and what they found. */
#ifndef RACE_RIG_H
#define RACE_RIG_H

#include "gpu_test.h"
#include "host_decides.h"
#include "race_tables.h"
#include "rewrite/rewrite.h"

struct race_rig {
	struct rig rig;
	struct ws_buf text;              /* of the rewritten module */
	struct race_tables tables;
	struct host_decides host;
};

/* How many random kernels a test runs: fewer where code is slow, under sanitizers (tools/check sets WARPSAFE_ROUNDS there). */
static inline unsigned rig_rounds(unsigned n)
{
	return getenv("WARPSAFE_ROUNDS") ? n / (n < 120 ? 3 : 6) : n;
}

/* How many of its `all` ways to run a test goes through; likewise. */
static inline unsigned rig_ways(unsigned all, unsigned few)
{
	return getenv("WARPSAFE_ROUNDS") ? few : all;
}

/* Most of a short kernel's time goes to reading what it became, with all functions of the checks, and to decoding that. So the
 * last rigs are kept, the one that was used last first, for who asks for the same text again: one after the other, not two at a time. Their
 * tables are new each time, and so is memory that a test asks for; a module with variables of its own in global memory is not kept. */
enum { RIGS_KEPT = 4 };
static struct race_rig_kept { struct race_rig r; char *pass, *text; struct ws_gpu_config config; } rigs_kept[RIGS_KEPT];

static inline void race_forget(struct race_rig_kept *k)
{
	if (!k->text)
		return;
	rig_free(&k->r.rig);
	ws_buf_free(&k->r.text);
	ws_arena_free(k->r.host.arena);
	free(k->pass);
	free(k->text);
	*k = (struct race_rig_kept){ 0 };
}

static inline bool race_is(const struct race_rig_kept *k, const char *pass, const struct ws_gpu_config *c, const char *text)
{
	return k->text && !strcmp(k->pass, pass) && !strcmp(k->text, text) && !memcmp(&k->config, c, sizeof *c);
}

/* The k-th is the first now. */
static inline struct race_rig_kept *race_to_front(unsigned k)
{
	struct race_rig_kept kept = rigs_kept[k];

	memmove(rigs_kept + 1, rigs_kept, k * sizeof *rigs_kept);
	rigs_kept[0] = kept;
	return rigs_kept;
}

static inline struct race_rig race_made(const char *pass, struct ws_gpu_config c, const char *text)
{
	struct race_rig r = { 0 };
	struct ws_buf said = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &said };
	struct ws_ptx_module *m = ws_ptx_parse("test.ptx", text, strlen(text), NULL, &sink);

	if (!m || !ws_rewrite(pass, m, &sink))
		fail_msg("%s", said.data);
	ws_ptx_print(m, &r.text);
	r.host = host_decides(m);
	ws_ptx_free(m);
	r.rig = rig_new(c, r.text.data);
	return r;
}

static inline struct race_rig race_new_by(const char *pass, struct ws_gpu_config c, const char *text)
{
	unsigned k = 0;
	struct race_rig_kept *kept;

	while (k < RIGS_KEPT - 1 && !race_is(&rigs_kept[k], pass, &c, text))
		k++;
	kept = race_to_front(k);
	if (!race_is(kept, pass, &c, text)) {
		race_forget(kept);
		*kept = (struct race_rig_kept){ race_made(pass, c, text), strdup(pass), strdup(text), c };
	}
	race_tables(kept->r.rig.g, &kept->r.tables);
	assert_true(race_set(kept->r.rig.mod, &kept->r.tables));
	return kept->r;
}

static inline struct race_rig race_new(struct ws_gpu_config c, const char *text)
{
	return race_new_by("race", c, text);
}

/* Its text, its module and its GPU stay for the next one of the same text. */
static inline void race_free(struct race_rig *r)
{
	struct race_rig_kept *kept = rigs_kept;

	while (kept < rigs_kept + RIGS_KEPT && kept->r.rig.g != r->rig.g)
		kept++;
	assert_true(kept < rigs_kept + RIGS_KEPT);
	ws_buf_free(&r->rig.err.text);
	if (strstr(kept->text, ".global ."))
		race_forget(kept);
}

/* Launches k, whose checks are set up but for what they know of their tables, and frees the rig: are races found? entered: the launch had hooks. */
static inline bool race_finds(struct race_rig *r, struct ws_gpu_launch *l, const char *text, bool *entered)
{
	struct ws_gpu_kernel *kernel = ws_gpu_module_kernel(r->rig.mod, "k");
	bool found;

	race_set(r->rig.mod, &r->tables);
	l->param_bytes = given_params(kernel);
	if (!ws_gpu_launch(r->rig.g, kernel, l, &r->rig.stats, &r->rig.err))
		fail_msg("%s\n%s", r->rig.err.text.data, text);
	found = race_found(&r->tables, 0) != NULL;
	*entered = r->tables.counts->segments != 0;
	race_free(r);
	return found;
}

#endif
