/* async.c - what kind of asynchronous copy or mbarrier instruction is it (PTX ISA 9.0, cp.async; mbarrier)? */
#include "rewrite/async.h"
#include "device/race.h"

#include <stdlib.h>
#include <string.h>

static bool says(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, const char *word)
{
	return ws_ptx_says(f, i, word);
}

static bool is_copy(const struct ws_ptx_inst *i)
{
	return i->nops >= 3 && i->ops[2].kind == WS_O_INT && (i->ops[2].imm == 4 || i->ops[2].imm == 8 || i->ops[2].imm == 16);
}

/* Copies that complete on an object, of memory as it lies, whole. */
static enum ws_rw_async bulk_load(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, unsigned n)
{
	bool multicast = says(f, i, ".multicast::cluster"), reduces = says(f, i, ".reduce");

	if (!says(f, i, ".mbarrier::complete_tx") || n != 4u + multicast || (reduces && !i->atom))
		return WS_RW_NOT_FOLLOWED;
	if (says(f, i, ".shared::cluster.shared::cta."))
		return multicast ? WS_RW_NOT_FOLLOWED : WS_RW_OPERATION;
	if (!says(f, i, ".shared::cluster.global.") && !says(f, i, ".shared::cta.global."))
		return WS_RW_NOT_FOLLOWED;
	return reduces ? WS_RW_NOT_FOLLOWED : multicast ? WS_RW_MULTICAST : WS_RW_BULK_LOAD;
}

/* ---- tensors ---- */
unsigned ws_rw_tensor_rank(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	static const char *const words[] = { ".1d", ".2d", ".3d", ".4d", ".5d" };

	for (unsigned k = 0; k < WS_COUNT(words); k++)
		if (says(f, i, words[k]))
			return k + 1;
	return 0;
}

const struct ws_operand *ws_rw_tensor(const struct ws_ptx_inst *i)
{
	return &i->ops[i->ops[0].kind != WS_O_TEX];
}

bool ws_rw_is_im2col(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	return says(f, i, ".im2col");
}

/* n: operands. Of im2col a load has its offsets behind the object. */
static enum ws_rw_async tensor(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, unsigned n)
{
	const struct ws_operand *o = ws_rw_tensor(i);
	bool load = says(f, i, ".mbarrier::complete_tx"), multicast = says(f, i, ".multicast::cluster"), reduces = says(f, i, ".reduce");
	bool offsets = load && ws_rw_is_im2col(f, i) && n == 4u + multicast;

	if (says(f, i, ".tile::") || says(f, i, ".cta_group") || o->kind != WS_O_TEX || o->sreg_or_count != 2 || !o->elems[0].reg ||
	    o->elems[1].kind != WS_O_VEC || !ws_rw_tensor_rank(f, i) || o->elems[1].sreg_or_count != ws_rw_tensor_rank(f, i))
		return WS_RW_NOT_FOLLOWED;
	if (n != (load ? 3u + multicast + offsets : 2u) || load == says(f, i, ".bulk_group") || (load && reduces) || (reduces && !i->atom))
		return WS_RW_NOT_FOLLOWED;
	return load ? WS_RW_TENSOR_LOAD : WS_RW_TENSOR_STORE;
}

static enum ws_rw_async bulk(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	unsigned n = i->nops - (i->flags & WS_F_CACHE_HINT ? 1u : 0);

	if (says(f, i, ".commit_group"))
		return WS_RW_BULK_COMMIT;
	if (says(f, i, ".wait_group"))
		return WS_RW_BULK_WAIT;
	if (says(f, i, ".prefetch"))
		return WS_RW_NOT_ASYNC;
	if (says(f, i, ".tensor"))
		return tensor(f, i, n);
	if (says(f, i, ".cp_mask") || says(f, i, ".ignore_oob"))
		return WS_RW_NOT_FOLLOWED;
	if (!says(f, i, ".global.shared::cta.bulk_group"))
		return bulk_load(f, i, n);
	if (n != 3 || (says(f, i, ".reduce") && !i->atom))
		return WS_RW_NOT_FOLLOWED;
	return says(f, i, ".reduce") ? WS_RW_BULK_REDUCE : WS_RW_BULK_STORE;
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
	if (ws_ptx_sets(i, i->guard))
		return WS_RW_NOT_FOLLOWED;
	if (says(f, i, ".complete_tx"))
		return WS_RW_OBJECT_TX;
	if (i->space == WS_SPACE_SHARED_CLUSTER)
		return says(f, i, ".arrive") && i->nops >= 2 ? WS_RW_OBJECT_PEER : says(f, i, ".expect_tx") ? WS_RW_OBJECT_TX : WS_RW_NOT_FOLLOWED;
	if (says(f, i, ".init") || says(f, i, ".inval"))
		return WS_RW_OBJECT_INIT;
	if (says(f, i, ".test_wait") || says(f, i, ".try_wait"))
		return i->nops < 3 ? WS_RW_NOT_FOLLOWED : WS_RW_OBJECT_WAIT;
	if (says(f, i, ".arrive"))
		return i->nops < 2 ? WS_RW_NOT_FOLLOWED : WS_RW_OBJECT_ARRIVE;
	return says(f, i, ".expect_tx") ? WS_RW_OBJECT_OTHER : WS_RW_NOT_FOLLOWED;
}

/* st.async, red.async */
static enum ws_rw_async store(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	bool async = i->mode == WS_MODE_OTHER && i->extra && strncmp(i->extra, ".async", 6) == 0;
	unsigned bytes = i->ntypes ? ws_type_bytes(i->type[0]) : 0;

	if (!async)
		return WS_RW_NOT_ASYNC;
	if (i->nops != 3 || (bytes != 4 && bytes != 8) || !says(f, i, ".mbarrier::complete_tx::bytes") || says(f, i, ".mmio") ||
	    (i->space && i->space != WS_SPACE_SHARED_CLUSTER))
		return WS_RW_NOT_FOLLOWED;
	return WS_RW_OPERATION;
}

/* d, a, b, scale-d [, scale-a, scale-b [, trans-a], trans-b]; trans-a only when A has a descriptor. */
uint32_t ws_rw_product(const struct ws_ptx_inst *i)
{
	const char *shape = i->extra ? strstr(i->extra, ".m64n") : NULL;
	uint32_t how = shape ? (uint32_t)strtoul(shape + strlen(".m64n"), NULL, 10) : 0;
	bool shared = i->nops > 2 && i->ops[1].kind == WS_O_REG;
	unsigned transposed = i->nops - (shared ? 2u : 1);

	if (shared)
		how |= WS_RACE_PRODUCT_A;
	if (i->nops >= 7 && shared && i->ops[transposed].imm)
		how |= WS_RACE_PRODUCT_TRANS_A;
	if (i->nops >= 7 && i->ops[i->nops - 1].imm)
		how |= WS_RACE_PRODUCT_TRANS_B;
	return how;
}

static enum ws_rw_async product(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	uint32_t columns;

	if (says(f, i, ".commit_group"))
		return WS_RW_PRODUCT_COMMIT;
	if (says(f, i, ".fence"))
		return WS_RW_PRODUCT_FENCE;
	if (says(f, i, ".wait_group"))
		return i->nops == 1 && i->ops[0].kind == WS_O_INT ? WS_RW_PRODUCT_WAIT : WS_RW_NOT_FOLLOWED;
	if (!says(f, i, ".mma_async") || says(f, i, ".sp") || i->nops < 4 || i->nops > 8 || i->ops[2].kind != WS_O_REG)
		return WS_RW_NOT_FOLLOWED;
	columns = ws_rw_product(i) & WS_RACE_PRODUCT_COLUMNS;
	return columns && columns <= 256 && columns % 8 == 0 ? WS_RW_PRODUCT : WS_RW_NOT_FOLLOWED;
}

enum ws_rw_async ws_rw_async(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	switch (i->op) {
	case WS_OP_cp: return copy(f, i);
	case WS_OP_mbarrier: return object(f, i);
	case WS_OP_st: case WS_OP_red: return store(f, i);
	case WS_OP_wgmma: return product(f, i);
	default: return WS_RW_NOT_ASYNC;
	}
}

bool ws_rw_is_proxy_fence(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_fence && i->mode == WS_MODE_PROXY && says(f, i, ".proxy.async");
}

bool ws_rw_is_init_fence(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_fence && i->mode == WS_MODE_OTHER && says(f, i, ".mbarrier_init");
}

const struct ws_operand *ws_rw_object(const struct ws_ptx_inst *i)
{
	if (i->op == WS_OP_st || i->op == WS_OP_red)
		return &i->ops[2];
	if (i->op == WS_OP_cp && i->nops > 2 && i->ops[1].kind == WS_O_TEX)
		return &i->ops[2];
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
	enum ws_rw_async kind = ws_rw_async(f, i);
	bool store = kind == WS_RW_BULK_STORE || kind == WS_RW_BULK_REDUCE;
	bool global = kind != WS_RW_OPERATION && (operand == 0) == store;
	uint32_t bytes = i->op != WS_OP_cp ? ws_type_bytes(i->type[0]) * (i->vec ? i->vec : 1) :
	                 i->ops[2].kind == WS_O_INT ? (uint32_t)i->ops[2].imm : 0;

	return (struct ws_rw_access){ .inst = i, .rw_class = WS_RW_CHECK,
		                      .kind = operand ? WS_RW_READ : i->atom ? WS_RW_ATOMIC : WS_RW_WRITE,
		                      .space = global ? WS_SPACE_GLOBAL : WS_SPACE_SHARED, .bytes = bytes,
		                      .sem = WS_SEM_WEAK, .address = &i->ops[operand] };
}

const struct ws_rw_access *ws_rw_with_copies(const struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n, unsigned operand)
{
	struct ws_rw_access *out = ws_arena_alloc(f->module->arena, (n + 1) * sizeof *out);

	for (uint32_t k = 0; k <= n; k++)
		out[k] = list[k].inst && ws_rw_async(f, list[k].inst) == WS_RW_COPY ? ws_rw_copy_access(f, list[k].inst, operand) : list[k];
	return out;
}

bool ws_rw_copies_alone(const struct ws_ptx_func *f)
{
	for (uint32_t k = 0; k < f->ninsts; k++) {
		enum ws_rw_async kind = ws_rw_async(f, &f->insts[k]);

		if (f->insts[k].call || (kind != WS_RW_NOT_ASYNC && kind != WS_RW_COPY && kind != WS_RW_COPY_COMMIT && kind != WS_RW_COPY_WAIT))
			return false;
	}
	return true;
}

struct ws_rw_access ws_rw_object_access(const struct ws_ptx_func *f, struct ws_ptx_inst *i)
{
	enum ws_rw_async kind = ws_rw_async(f, i);
	bool begins = kind == WS_RW_OBJECT_INIT;
	enum ws_sem sem = i->sem == WS_SEM_RELAXED || kind == WS_RW_OBJECT_TX ? WS_SEM_RELAXED : kind == WS_RW_OBJECT_WAIT ? WS_SEM_ACQUIRE : WS_SEM_RELEASE;

	return (struct ws_rw_access){ .inst = i, .rw_class = WS_RW_CHECK, .kind = begins ? WS_RW_WRITE : WS_RW_ATOMIC,
		                      .space = i->space == WS_SPACE_SHARED || i->space == WS_SPACE_SHARED_CLUSTER ? (enum ws_space)i->space :
		                               WS_SPACE_GENERIC, .bytes = 8,
		                      .sem = begins ? WS_SEM_WEAK : sem, .scope = begins ? WS_SCOPE_NONE : WS_SCOPE_CTA,
		                      .address = ws_rw_object(i) };
}
