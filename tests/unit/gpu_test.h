/* gpu_test.h - what the tests of the simulated GPU share: a kernel from PTX text, buffers, a launch. */
#ifndef GPU_TEST_H
#define GPU_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "given.h"
#include "gpu/gpu.h"

struct rig {
	struct ws_gpu *g;
	struct ws_ptx_module *ptx;
	struct ws_gpu_module *mod;
	struct ws_gpu_error err;
	struct ws_gpu_stats stats;
	uint32_t shared;                 /* bytes of dynamic shared memory of its launches */
};

#define PTX_HEAD ".version 7.8\n.target sm_70\n.address_size 64\n"

static inline struct rig rig_new(struct ws_gpu_config c, const char *text)
{
	struct rig r = {0};
	struct ws_buf diag = {0};
	struct ws_sink sink = {ws_sink_to_buf, &diag};

	r.g = ws_gpu_create(&c);
	assert_non_null(r.g);
	r.ptx = ws_ptx_parse("test.ptx", text, strlen(text), NULL, &sink);
	if (!r.ptx)
		fail_msg("%s", diag.data);
	r.mod = ws_gpu_module_load(r.g, &r.ptx, 1, &r.err);
	if (!r.mod)
		fail_msg("%s", r.err.text.data);
	ws_buf_free(&diag);
	return r;
}

static inline void rig_free(struct rig *r)
{
	ws_gpu_destroy(r->g);
	ws_ptx_free(r->ptx);
	ws_buf_free(&r->err.text);
}

static inline bool rig_launch(struct rig *r, const char *kernel, uint32_t grid, uint32_t block, const void *params)
{
	struct ws_gpu_kernel *k = ws_gpu_module_kernel(r->mod, kernel);
	struct ws_gpu_launch l = {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .shared_dynamic = r->shared, .params = params};

	assert_non_null(k);
	l.param_bytes = given_params(k);
	ws_buf_free(&r->err.text);
	r->err.code = WS_GPU_OK;
	return ws_gpu_launch(r->g, k, &l, &r->stats, &r->err);
}

static inline void rig_run(struct rig *r, const char *kernel, uint32_t grid, uint32_t block, const void *params)
{
	if (!rig_launch(r, kernel, grid, block, params))
		fail_msg("%s", r->err.text.data);
}

static inline struct ws_mem *rig_mem(struct rig *r, size_t bytes)
{
	struct ws_mem *m = ws_gpu_mem_new(r->g, bytes, 0, WS_MEM_DEVICE, "test buffer");

	assert_non_null(m);
	memset(m->host, 0, bytes);
	return m;
}

static inline void assert_says(const struct rig *r, const char *words)
{
	if (!r->err.text.data || !strstr(r->err.text.data, words))
		fail_msg("message lacks \"%s\":\n%s", words, r->err.text.data ? r->err.text.data : "(none)");
}

#endif
