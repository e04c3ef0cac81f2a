/* async.h - asynchronous copies and mbarrier objects, as far as the race checks follow them (async.c). */
#ifndef WS_REWRITE_ASYNC_H
#define WS_REWRITE_ASYNC_H

#include "rewrite/rewrite_priv.h"

enum ws_rw_async {
	WS_RW_NOT_ASYNC,
	WS_RW_COPY,              /* cp.async of 4, 8 or 16 bytes */
	WS_RW_COPY_COMMIT, WS_RW_COPY_WAIT,      /* of groups */
	WS_RW_COPY_ARRIVE,       /* cp.async.mbarrier.arrive */
	WS_RW_OBJECT_INIT,       /* mbarrier.init, .inval */
	WS_RW_OBJECT_ARRIVE, WS_RW_OBJECT_WAIT,
	WS_RW_OBJECT_PEER,       /* mbarrier.arrive at an object in shared::cluster */
	WS_RW_OBJECT_TX,         /* mbarrier.complete_tx, and expect_tx there */
	WS_RW_OBJECT_OTHER,      /* mbarrier.expect_tx, .pending_count */
	/* cp.async.bulk of memory as it lies: from global to shared memory, completes on an object; the other way, in groups. */
	WS_RW_BULK_LOAD, WS_RW_BULK_STORE,
	WS_RW_BULK_REDUCE,       /* as BULK_STORE, by atomics */
	WS_RW_BULK_COMMIT, WS_RW_BULK_WAIT,
	WS_RW_OPERATION,         /* st.async, red.async, bulk copies from shared memory to that of a block of the cluster: on an object there */
	WS_RW_MULTICAST,         /* as BULK_LOAD, to several blocks */
	/* cp.async.bulk.tensor, cp.reduce.async.bulk.tensor: completion as of BULK_LOAD, MULTICAST, BULK_STORE */
	WS_RW_TENSOR_LOAD, WS_RW_TENSOR_STORE,
	/* wgmma: the product, which reads shared memory; commit_group; wait_group; fence, which is of registers alone. */
	WS_RW_PRODUCT, WS_RW_PRODUCT_COMMIT, WS_RW_PRODUCT_WAIT, WS_RW_PRODUCT_FENCE,
	WS_RW_NOT_FOLLOWED       /* by anything else */
};
enum ws_rw_async ws_rw_async(const struct ws_ptx_func *f, const struct ws_ptx_inst *i);

/* Of WS_RW_TENSOR_...: how many dimensions; the operand with descriptor and coordinates; is it not a tile (im2col)? */
unsigned ws_rw_tensor_rank(const struct ws_ptx_func *f, const struct ws_ptx_inst *i);
const struct ws_operand *ws_rw_tensor(const struct ws_ptx_inst *i);
bool ws_rw_is_im2col(const struct ws_ptx_func *f, const struct ws_ptx_inst *i);

/* Of WS_RW_PRODUCT: WS_RACE_PRODUCT_... of src/device/race.h. */
uint32_t ws_rw_product(const struct ws_ptx_inst *i);

/* fence.proxy.async */
bool ws_rw_is_proxy_fence(const struct ws_ptx_func *f, const struct ws_ptx_inst *i);

/* Is it mbarrier.init's own fence? */
bool ws_rw_is_init_fence(const struct ws_ptx_func *f, const struct ws_ptx_inst *i);

/* The operand with the object's address; of WS_RW_COPY_ARRIVE, the WS_RW_OBJECT_... that have one, and what completes on one. */
const struct ws_operand *ws_rw_object(const struct ws_ptx_inst *i);

/* How often a group's wait is left out: all but so many groups; -1: all copies, also of no group yet. */
int64_t ws_rw_copy_groups(const struct ws_ptx_func *f, const struct ws_ptx_inst *i);

/* As accesses for ws_code_address: the target (0) and source (1) of a copy or operation; the object (of WS_RW_BULK_LOAD, too). */
struct ws_rw_access ws_rw_copy_access(const struct ws_ptx_func *f, struct ws_ptx_inst *i, unsigned operand);
/* The accesses of a function (ws_rw_accesses) with one of those of each copy by a thread in its place: 0, what it writes; 1, what it reads.
 * In the module's arena. */
const struct ws_rw_access *ws_rw_with_copies(const struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n, unsigned operand);
/* Is cp.async with its commits and waits all that is asynchronous, without objects, and does it call nothing? Probes know these, and of
 * its global memory can be proved what asks for no order. */
bool ws_rw_copies_alone(const struct ws_ptx_func *f);
struct ws_rw_access ws_rw_object_access(const struct ws_ptx_func *f, struct ws_ptx_inst *i);

#endif
