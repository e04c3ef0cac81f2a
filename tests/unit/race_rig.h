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
	return getenv("WARPSAFE_ROUNDS") ? n / 4 : n;
}

/* How many of its `all` ways to run a test goes through; likewise. */
static inline unsigned rig_ways(unsigned all, unsigned few)
{
	return getenv("WARPSAFE_ROUNDS") ? few : all;
}

static inline struct race_rig race_new_by(const char *pass, struct ws_gpu_config c, const char *text)
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
	race_tables(r.rig.g, &r.tables);
	assert_true(race_set(r.rig.mod, &r.tables));
	return r;
}

static inline struct race_rig race_new(struct ws_gpu_config c, const char *text)
{
	return race_new_by("race", c, text);
}

static inline void race_free(struct race_rig *r)
{
	rig_free(&r->rig);
	ws_buf_free(&r->text);
	ws_arena_free(r->host.arena);
}

#endif
