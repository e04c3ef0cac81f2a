/* tm_record.cuh - a log of what sections and engines do, for --check=history where nobody sees all accesses of the GPU (src/detect/
 * history_log.h reads it). Included by tm.cu, which is then compiled a second time.
 *
 * An entry is made behind its access: an atomic gives it its place. Before the access the thread looks how many entries there are. Both
 * have a fence between them and the access, so an access whose entry another one has counted was before that, for all. Which of two
 * accesses was first is known, but for those of which none has counted the other one. */
#ifndef WS_DEVICE_TM_RECORD_CUH
#define WS_DEVICE_TM_RECORD_CUH

extern "C" DEVICE struct ws_tm_log_head __warpsafe_tm_log_head;
extern "C" DEVICE struct ws_tm_log_entry __warpsafe_tm_log[];

HELPER bool record_is_shared(u64 at)
{
	u32 is;

	asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is) : "l"(at));
	return is;
}

HELPER bool record_is_global(u64 at)
{
	u32 is;

	asm("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is) : "l"(at));
	return is;
}

HELPER u64 record_in_shared(u64 at)
{
	u64 offset;

	asm("cvta.to.shared.u64 %0, %1;" : "=l"(offset) : "l"(at));
	return offset;
}

HELPER u64 record_thread(void)
{
	u64 block = ((u64)block_z() * blocks_y() + block_y()) * blocks_x() + block_x();
	u32 thread = (thread_z() * threads_y() + thread_y()) * threads_x() + thread_x();

	return block * (threads_x() * threads_y() * threads_z()) + thread;
}

HELPER u32 record_begin(void)
{
	u32 since = *(volatile u32 *)&__warpsafe_tm_log_head.used;

	__threadfence();
	return since;
}

/* What began behind the room has no entry; all that began before it has one, for there are WS_TM_LOG_MORE more. So what is lost came
 * after all that is in the room. */
SLOW void __warpsafe_tm_record(u32 kind, u64 at, u32 bytes, u64 value, u32 since, u32 site)
{
	bool shared = record_is_shared(at);
	volatile struct ws_tm_log_entry *e;
	u32 n;

	__threadfence();
	if (since >= __warpsafe_tm_log_head.room)
		return;
	n = atomicAdd(&__warpsafe_tm_log_head.used, 1u);
	if (n >= __warpsafe_tm_log_head.room + WS_TM_LOG_MORE)
		return;
	e = &__warpsafe_tm_log[n];
	e->at = shared ? record_in_shared(at) : at;
	e->value = value;
	e->who = record_thread() | (u64)bytes << WS_TM_LOG_BYTES_AT | (u64)shared << WS_TM_LOG_SHARED_AT | (u64)kind << WS_TM_LOG_KIND_AT;
	e->since = since;
	e->site = site;
}

HELPER void record_launch(void)
{
	volatile struct ws_tm_log_head *h = &__warpsafe_tm_log_head;

	h->grid[0] = blocks_x();
	h->grid[1] = blocks_y();
	h->grid[2] = blocks_z();
	h->block[0] = threads_x();
	h->block[1] = threads_y();
	h->block[2] = threads_z();
}

/* What the inserted code tells; event: as in tm.h, without the address. */
SLOW void __warpsafe_tm_tell(u64 event, u64 at, u32 site)
{
	u32 kind = (u32)(event >> WS_TM_EVENT_KIND_AT);
	bool number = kind == WS_TM_EVENT_ENDED || kind == WS_TM_EVENT_VALUE || kind == WS_TM_EVENT_PART_ENDED;

	if (kind == WS_TM_EVENT_START)
		record_launch();
	__warpsafe_tm_record(kind, number ? 0 : at,
	                     (u32)(event >> WS_TM_EVENT_BYTES_AT) & 0x3f, at, record_begin(), site);
}

/* The thread's own variables are nobody else's. */
#define WS_TX_DATA_BEGIN u32 since = record_begin();
#define WS_TX_DATA_LOADED(at, size, value) record_data(WS_TM_LOG_LOAD, at, size, value, since);
#define WS_TX_DATA_STORED(at, size, value) record_data(WS_TM_LOG_STORE, at, size, value, since);
HELPER void record_data(u32 kind, u64 at, u32 size, u64 value, u32 since)
{
	if (record_is_global(at) || record_is_shared(at))
		__warpsafe_tm_record(kind, at, size, value, since, 0);
}

#endif
