/* async.c - what kind of asynchronous copy or mbarrier instruction is it (PTX ISA 9.0, cp.async; mbarrier)? */
#include "rewrite/async.h"

#include <string.h>

static bool says(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, const char *word)
{
	return ws_ptx_says(f, i, word);
}

static bool is_copy(const struct ws_ptx_inst *i)
{
	return i->nops >= 3 && i->ops[2].kind == WS_O_INT && (i->ops[2].imm == 4 || i->ops[2].imm == 8 || i->ops[2].imm == 16);
}

/* Copies of memory as it lies, whole and to one block. */
static enum ws_rw_async bulk(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	unsigned n = i->nops - (i->flags & WS_F_CACHE_HINT ? 1u : 0);

	if (says(f, i, ".commit_group"))
		return WS_RW_BULK_COMMIT;
	if (says(f, i, ".wait_group"))
		return WS_RW_BULK_WAIT;
	if (says(f, i, ".prefetch"))
		return WS_RW_NOT_ASYNC;
	if (says(f, i, ".reduce") || says(f, i, ".tensor") || says(f, i, ".multicast") || says(f, i, ".cp_mask") || says(f, i, ".ignore_oob"))
		return WS_RW_NOT_FOLLOWED;
	if (says(f, i, ".shared::cluster.global.") || says(f, i, ".shared::cta.global."))
		return says(f, i, ".mbarrier::complete_tx") && n == 4 ? WS_RW_BULK_LOAD : WS_RW_NOT_FOLLOWED;
	return says(f, i, ".global.shared::cta.bulk_group") && n == 3 ? WS_RW_BULK_STORE : WS_RW_NOT_FOLLOWED;
}

static enum ws_rw_async copy(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	if (says(f, i, ".bulk"))
		return bulk(f, i);
	if (says(f, i, ".commit_group"))
		return WS_RW_COPY_COMMIT;
	if (says(f, i, ".wait_all") || says(f, i, ".wait_group"))
		return WS_RW_COPY_WAIT;
	if (says(f, i, ".mbarrier"))
		return WS_RW_COPY_ARRIVE;
	return is_copy(i) && i->space != WS_SPACE_SHARED_CLUSTER ? WS_RW_COPY : WS_RW_NOT_FOLLOWED;
}

static enum ws_rw_async object(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	if (says(f, i, "pending_count"))
		return WS_RW_OBJECT_OTHER;
	if (i->space == WS_SPACE_SHARED_CLUSTER || says(f, i, "complete_tx") || ws_ptx_sets(i, i->guard))
		return WS_RW_NOT_FOLLOWED;
	if (says(f, i, ".init") || says(f, i, ".inval"))
		return WS_RW_OBJECT_INIT;
	if (says(f, i, ".test_wait") || says(f, i, ".try_wait"))
		return i->nops < 3 ? WS_RW_NOT_FOLLOWED : WS_RW_OBJECT_WAIT;
	if (says(f, i, ".arrive"))
		return i->nops < 2 ? WS_RW_NOT_FOLLOWED : WS_RW_OBJECT_ARRIVE;
	return says(f, i, ".expect_tx") ? WS_RW_OBJECT_OTHER : WS_RW_NOT_FOLLOWED;
}

enum ws_rw_async ws_rw_async(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_cp ? copy(f, i) : i->op == WS_OP_mbarrier ? object(f, i) : WS_RW_NOT_ASYNC;
}

bool ws_rw_is_proxy_fence(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_fence && i->mode == WS_MODE_PROXY && says(f, i, ".proxy.async");
}

const struct ws_operand *ws_rw_object(const struct ws_ptx_inst *i)
{
	if (i->op == WS_OP_cp && i->nops > 3)
		return &i->ops[3];
	for (unsigned k = 0; k < i->nops; k++)
		if (i->ops[k].kind == WS_O_ADDR)
			return &i->ops[k];
	return NULL;
}

int64_t ws_rw_copy_groups(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	return says(f, i, ".wait_all") || !i->nops ? -1 : (int64_t)i->ops[0].imm;
}

struct ws_rw_access ws_rw_copy_access(const struct ws_ptx_func *f, struct ws_ptx_inst *i, unsigned operand)
{
	bool store = ws_rw_async(f, i) == WS_RW_BULK_STORE;

	return (struct ws_rw_access){ .inst = i, .rw_class = WS_RW_CHECK, .kind = operand ? WS_RW_READ : WS_RW_WRITE,
		                      .space = (operand == 0) == store ? WS_SPACE_GLOBAL : WS_SPACE_SHARED,
		                      .bytes = i->ops[2].kind == WS_O_INT ? (uint32_t)i->ops[2].imm : 0,
		                      .sem = WS_SEM_WEAK, .address = &i->ops[operand] };
}

struct ws_rw_access ws_rw_object_access(const struct ws_ptx_func *f, struct ws_ptx_inst *i)
{
	enum ws_rw_async kind = ws_rw_async(f, i);
	bool begins = kind == WS_RW_OBJECT_INIT;
	enum ws_sem sem = i->sem == WS_SEM_RELAXED ? WS_SEM_RELAXED : kind == WS_RW_OBJECT_WAIT ? WS_SEM_ACQUIRE : WS_SEM_RELEASE;

	return (struct ws_rw_access){ .inst = i, .rw_class = WS_RW_CHECK, .kind = begins ? WS_RW_WRITE : WS_RW_ATOMIC,
		                      .space = i->space == WS_SPACE_SHARED ? WS_SPACE_SHARED : WS_SPACE_GENERIC, .bytes = 8,
		                      .sem = begins ? WS_SEM_WEAK : sem, .scope = begins ? WS_SCOPE_NONE : WS_SCOPE_CTA,
		                      .address = ws_rw_object(i) };
}
