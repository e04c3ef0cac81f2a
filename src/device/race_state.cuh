/* race_state.cuh - where a block and its warps are in time (race.cu).
 *
 * A warp's time is { segment, epoch, sub }: epoch counts the barriers of the whole block, sub the warp syncs and fences
 * since the last one. A segment's descriptor says where its counting begins, so a time is small enough for a cell. The
 * time is one word in shared memory, and every change is one CAS: lanes of a warp may come one by one. */
#ifndef WS_RACE_STATE_CUH
#define WS_RACE_STATE_CUH

#include "device.cuh"
#include "race.h"

/* Is this for kernels with instructions of sm_90 (race_sm90.cu)? */
#ifndef SM90
#define SM90 0
#endif
/* ... and for operations that complete in other blocks, too (race_remote.cu)? */
#ifndef REMOTE
#define REMOTE 0
#endif
/* ... and for products of warpgroups and copies of tensors (race_tensor.cu)? */
#ifndef TENSOR
#define TENSOR 0
#endif

enum { WARPS = 32, EXPANDING = 31 };

struct warp {                    /* 32 bytes: it lies as far behind the first as its first thread's index says */
	u32 time;                /* for cells in shared memory (race_shared.cuh); 0 = they are elsewhere, or it is not checked */
	u32 cells;               /* where they are */
	u32 reads_full;          /* how far behind W is R, above `full` of the warp, which is LAST_SHARED_SUB at most: so they are one load at an access */
	u32 values;              /* where what is written is noted, by the thread's own address */
	u64 now;                 /* a time, see below; 0 = not checked */
	u64 alive_arrived;       /* lanes that have not left; in the high half those that wait at a barrier */
};

struct block {
	struct warp warps[WARPS];
	u32 full[WARPS];         /* sub, from the block's last barrier on, of the warp's last full sync; 0 = none since then */
	u32 lists[WARPS];        /* newest record of each warp (race_order.cuh) */
	u32 expanding[EXPANDING];        /* by the lines' numbers modulo: that of a line that a lane gives cells, * 2 + 1 */
	u32 parts;               /* the next part that is free of cells that were taken for such (race_parts.cuh); 0 = there is none */
	u32 spare[WARPS];        /* cells that were taken from the pool and not used */
	u32 heard[WARPS];        /* lanes that have looked at or observed anything since their last fence (race_order.cuh) */
	u32 begins[WARPS];       /* where the warp's segment begins, see own_place */
	u32 off;                 /* OFF_...: not checked, or not any more */
	u32 list;                /* records that barriers have made known to all warps */
	u32 unknown;             /* a warp is NOW_UNKNOWN: after the next barrier all are */
	u32 cells;               /* of the block's shared memory, in shared memory too; 0 = they are in the slot */
	u32 floor;               /* entries of segments below are of launches that are before: `lowest`, or less (race_launch.cuh) */
	u32 grid;
	u32 first;               /* segment of warp 0; those of the others follow */
	u32 nwarps;
	u64 slot;                /* cells of the block's shared memory; 0 = none */
	u64 threads;             /* states of threads, WS_RACE_MAX_THREADS * WS_RACE_THREAD_BYTES, in the slot */
	u32 ordered;             /* by rounds of the grid: see race_all.cuh */
	u32 block, kernel;       /* its number, WS_RACE_TWO_FENCES, WS_RACE_HAS_FENCED and WS_RACE_HAS_CLOCKS */
	u32 range;               /* how many from `lowest` on are first segments of warps */
	u32 alive;               /* threads */
	u32 ready[WARPS];        /* lanes that have a state in `threads` */
	u32 handed;              /* HANDED_...: see race_order.cuh, fence.sc */
	u32 slot_number;         /* among all classes */
	u32 lost;                /* accesses to other bytes of a word of shared memory that were forgotten */
	u32 probe;               /* the block is a probe (race.h) */
	union {
		u32 failed;      /* a probe has found something, or something that it cannot tell */
		u32 released;    /* the block is no probe: how often it has released for all, see race_all.cuh */
	};
	u32 copies;              /* first segment of the warps' asynchronous copies (race_copy.cuh); 0 = there are none */
	u32 late;                /* a warp has taken another segment than its first */
	u32 lowest;              /* segment of the launch's first warp: below it are none of its; 0 = its blocks took theirs singly */
	u32 launch;              /* 1 + its number in the table of launches; 0 = it is compared with no other */
	/* See race_cluster.cuh: its first block + 1 (0 = there is none), how many blocks in x, y and z, and of its barriers how many
	 * this block has arrived at, the epoch that the last of these begins, and how many it has passed. */
	union {
		struct { u32 cluster, shape; };
		u64 meetings;    /* the block is of no cluster: see race_meeting.cuh */
	};
	union {
		struct { u32 arrived, arrived_epoch; };
		u64 fenced;      /* the block is of no cluster: by all of its threads, see race_order.cuh */
		struct { u32 clock_uses, clocks_used; }; /* it has clocks: see race_clock.cuh */
	};
	u32 passed;
	u32 silent;              /* no hook of the block does anything; nobody else writes here anything but 0 */
};
static_assert(sizeof(struct warp) == 32, "its place is the index of its first thread");
static_assert(__builtin_offsetof(struct block, silent) == WS_RACE_SILENT_AT, "the kernel's entry writes it");
static_assert(sizeof(struct block) == WS_RACE_BLOCK_BYTES && sizeof(struct block) % 128 == 0, "the pass declares it");

enum { OFF_BY_BARRIER = 1, OFF_SILENT };         /* SILENT: the kernel is not checked, or the host did not set us up */
/* A thread has executed a fence.sc or seen a release; and then the block has passed a barrier or a sync. */
enum { HANDED_NOTHING, HANDED_SOME, HANDED_ON };
enum verdict { ORDERED, UNORDERED, UNDECIDED, IN_FLIGHT };       /* about two accesses; the first is a copy that may go on */

extern "C" DEVICE __attribute__((constant)) const struct ws_race_device __warpsafe_race;
extern "C" DEVICE __attribute__((constant)) const u32 __warpsafe_module;
extern "C" DEVICE __attribute__((shared)) struct block __warpsafe_block;
extern "C" DEVICE __attribute__((shared, aligned(128))) char __warpsafe_dynamic[];    /* dynamic shared memory */
#define RACE __warpsafe_race
#define BLOCK (*(volatile struct block *)&__warpsafe_block)

HELPER u32 number_of_kernel(void) { return BLOCK.kernel & ~(WS_RACE_TWO_FENCES | WS_RACE_HAS_FENCED | WS_RACE_HAS_CLOCKS); }
HELPER bool has_two_fences(void) { return BLOCK.kernel & WS_RACE_TWO_FENCES; }
HELPER bool has_clocks(void) { return !REMOTE && BLOCK.kernel & WS_RACE_HAS_CLOCKS; }

#define IN_CLUSTER (SM90 && BLOCK.cluster)

/* Of an address of shared memory: in a cluster the rank of its block stands above, on a GPU in the block's own addresses, too. */
enum { SHARED_OFFSETS = (1 << 24) - 1 };

#define IN_SHARED(field) ((u64)(__attribute__((address_space(3))) volatile char *)&(field))
#define IN_BLOCK(field) ((u32)IN_SHARED(__warpsafe_block.field))
/* What entries are compared with, which may be of earlier launches and of other blocks. */
struct launch {
	u32 floor, grid, first, nwarps;
};
static_assert(__builtin_offsetof(struct block, floor) % 16 == 0, "it is loaded at once");

HELPER struct launch launch_of_block(void)
{
	struct launch l;

	asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(l.floor), "=r"(l.grid), "=r"(l.first),
		     "=r"(l.nwarps) : "r"((u32)IN_SHARED(__warpsafe_block.floor)) : "memory");
	return l;
}

#define SEGMENT(number) (RACE.segments + (u64)sizeof(struct ws_race_segment) * (number))
#define COUNTS(field) (RACE.counts + __builtin_offsetof(struct ws_race_counts, field))

/* ---- time ----
 * A cell begins with segment 27 | lane 5 | epoch 6 | sub 5, and `now` has the same, with lane 0. In now's low bits:
 * the sub of the last sync of the whole warp, as far as it lies in this segment and epoch, and flags. */
enum { SEGMENT_AT = 37, LANE_AT = 32, EPOCH_AT = 26, SUB_AT = 21, EPOCHS = 64, LAST_SUB = 30 };
/* In place of epoch and sub: what was summed up (race_reclaim.cuh), of a block that goes on, or has ended. */
enum { SUMMED = LAST_SUB + 1, SUMMED_END = SUMMED | 1 << (EPOCH_AT - SUB_AT) };
enum { NO_MORE_SEGMENTS = (1 << 27) - 1 };       /* that number marks lines, see race_memory.cuh */
enum { NOW_FULL = 31, NOW_ACQUIRED = 1 << 8, NOW_PARTIAL = 1 << 9, NOW_UNKNOWN = 1 << 10, NOW_OBSERVED = 1 << 11,
       NOW_OBSERVED_SHARED = 1 << 14, NOW_OFTEN = 1 << 16, NOW_WIDE = 1 << 17, NOW_ROUNDS = 1 << 18, NOW_FLAGS = 79 << 8 | NOW_OFTEN | NOW_WIDE | NOW_ROUNDS };
enum { NOW_LATER = 1 << 12 };            /* the segment begins behind syncs of its first epoch */
enum { NOW_SCRUB = 1 << 13 };            /* in this epoch: see next_shared_epoch */
/* A cell or line may have a time of this segment, or it is the warp's first. A warp that has it not set must set it before it
 * enters anything: what stands at an access does nothing without it, so that costs a call a segment. */
enum { NOW_ENTERED = 1 << 15 };

HELPER u32 segment_of(u64 time) { return (u32)(time >> SEGMENT_AT); }
HELPER u32 lane_of(u64 time) { return (u32)(time >> LANE_AT) & 31; }
HELPER u32 epoch_of(u64 time) { return (u32)time >> EPOCH_AT; }
HELPER u32 sub_of(u64 time) { return (u32)time >> SUB_AT & 31; }

HELPER u32 thread_index(void)
{
	return thread_x() + threads_x() * (thread_y() + threads_y() * thread_z());
}

HELPER u32 warp_index(void) { return thread_index() >> 5; }
HELPER u32 lane_index(void) { return thread_index() & 31; }
HELPER u32 threads_of_block(void) { return threads_x() * threads_y() * threads_z(); }

HELPER u32 lanes_of_warp(u32 warp)
{
	u32 threads = threads_of_block() - 32 * warp;

	return threads < 32 ? (1u << threads) - 1 : 0xffffffff;
}

/* One of the lanes of `group`, all of which are here, and the same for all of them. */
HELPER bool leads(u32 group)
{
	return !(group & lanes_below());
}

/* Of accesses or pairs of which it is not known whether they race. */
HELPER void count_threads(u64 counter)
{
	u32 lanes = activemask();

	if (BLOCK.probe)
		BLOCK.failed = 1;
	else if (leads(lanes))
		global_add(counter, population(lanes));
}

/* What is true of a launch, or of one of the same number modulo: WS_RACE_LAUNCH_... */
HELPER void tell_launch(u32 grid, u32 what)
{
	global_or(COUNTS(launches) + 4 * (grid % WS_RACE_GRIDS), what);
	fence_gpu();
}

HELPER u32 about_launch(u32 grid) { return load32(COUNTS(launches) + 4 * (grid % WS_RACE_GRIDS)); }
HELPER bool launch_is(u32 grid, u32 what) { return about_launch(grid) & what; }

HELPER void launch_is_incomplete(u32 grid)
{
	tell_launch(grid, WS_RACE_LAUNCH_INCOMPLETE);
}

HELPER bool is_incomplete(u32 grid)
{
	return launch_is(grid, WS_RACE_LAUNCH_INCOMPLETE);
}

/* ---- segments ----
 * The launch's first block takes numbers for all blocks, so a block finds those of its warps by its index, and the warps of
 * others by their numbers: they need no description. */
struct place {                   /* of a warp's time, without limits of bits */
	u32 grid, block, warp, epoch, sub;
};

HELPER void describe(u32 segment, u32 warp, u32 epoch, u32 sub)
{
	u64 d = SEGMENT(segment);

	store32(d + __builtin_offsetof(struct ws_race_segment, first), BLOCK.first + warp);
	asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" : : "l"(d), "r"(BLOCK.grid), "r"(BLOCK.block),
		     "r"(epoch), "r"(warp | sub << 5) : "memory");
}

/* The beginning of a segment. */
HELPER struct place beginning(u32 segment)
{
	u32 nth = segment - BLOCK.first, nwarps = BLOCK.nwarps;
	struct place p = { BLOCK.grid, BLOCK.block, nth, 0, 0 };
	u32 last;

	if (nth < nwarps)
		return p;
	nth = segment - BLOCK.lowest;
	if (nth < BLOCK.range) {
		p.block = nth / nwarps;
		p.warp = nth - p.block * nwarps;
		return p;
	}
	asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(p.grid), "=r"(p.block), "=r"(p.epoch),
		     "=r"(last) : "l"(SEGMENT(segment)) : "memory");
	p.warp = last & 31;
	p.sub = last >> 5;
	return p;
}

/* The first segment of the same warp; 0 = not known. */
HELPER u32 first_segment(u32 segment)
{
	if (segment - BLOCK.first < BLOCK.nwarps || segment - BLOCK.lowest < BLOCK.range)
		return segment;
	return load32(SEGMENT(segment) + __builtin_offsetof(struct ws_race_segment, first));
}

HELPER bool is_summed(u64 entry) { return ((u32)entry >> SUB_AT | SUMMED_END) == SUMMED_END && sub_of(entry) == SUMMED; }

HELPER struct place place_of(u64 time)
{
	struct place p = beginning(segment_of(time));

	p.sub = sub_of(time) + (epoch_of(time) ? 0 : p.sub);
	p.epoch += epoch_of(time);
	return p;
}

/* Where a segment begins, in a word of shared memory: low bits of its number, which tell it from the warp's one before; FAR: there are
 * not as many bits. */
enum { BEGIN_BITS = 12, BEGIN_FAR = (1 << BEGIN_BITS) - 1, BEGIN_SEGMENTS = 1 << (32 - 2 * BEGIN_BITS) };
HELPER u32 begin_word(u32 segment, u32 epoch, u32 sub)
{
	bool far = epoch >= BEGIN_FAR || sub >= BEGIN_FAR;

	return segment << 2 * BEGIN_BITS | (far ? (u32)BEGIN_FAR : epoch << BEGIN_BITS | sub);
}

SLOW u64 __warpsafe_begin_of_own(u32 segment)
{
	u64 at = SEGMENT(segment);

	return (u64)load32(at + __builtin_offsetof(struct ws_race_segment, epoch)) << 32 |
	       load32(at + __builtin_offsetof(struct ws_race_segment, warp_sub)) >> 5;
}

/* Does it say where the warp's segment begins? */
HELPER bool begins_near(u32 word, u64 now)
{
	return (word >> 2 * BEGIN_BITS) == segment_of(now) % BEGIN_SEGMENTS && (word & BEGIN_FAR) != BEGIN_FAR;
}

/* Of the warp itself: no trip to memory. */
HELPER struct place own_place(u64 now, u32 warp)
{
	u32 word = BLOCK.begins[warp], epoch = word >> BEGIN_BITS & BEGIN_FAR, sub = word & BEGIN_FAR;
	struct place p = { BLOCK.grid, BLOCK.block, warp, epoch_of(now), sub_of(now) };

	if (!begins_near(word, now)) {
		u64 begin = segment_of(now) == BLOCK.first + warp ? 0 : __warpsafe_begin_of_own(segment_of(now));

		epoch = (u32)(begin >> 32);
		sub = (u32)begin;
	}
	p.sub += p.epoch ? 0 : sub;
	p.epoch += epoch;
	return p;
}

/* The latest that it may be. (As place_of has it, it is of the first two epochs: before a barrier, for who is of the block.) */
HELPER struct place place_of_summed(u64 entry)
{
	struct place p = place_of(entry);

	p.epoch = p.sub = ~0u >> 1;
	if (!epoch_of(entry))
		p.epoch = load32(SEGMENT(segment_of(entry)) + __builtin_offsetof(struct ws_race_segment, state));
	return p;
}

/* n numbers in a row; 0 = there are none left. used: the count as it was seen. */
HELPER u32 take_segments(u32 n, u32 used)
{
	u32 first = used + n <= RACE.nsegments ? fetch_add32(COUNTS(segments), n) + 1 : 0;

	if (first && first + n - 1 <= RACE.nsegments)
		return first;
	launch_is_incomplete(BLOCK.grid);
	return 0;
}

/* race_reclaim.cuh */
/* A time at the beginning of a new segment, behind `now`. 0: not checked from here on. */
SLOW u64 __warpsafe_new_segment(u64 now, u32 warp, u32 epoch, u32 sub);
SLOW void __warpsafe_give_back(u32 newest, u32 warp, u32 epoch);

/* The same, of a warp of which all lanes wait. A segment that no entry refers to begins anew itself, so a kernel that does
 * nothing but meet at barriers needs no more of them. */
HELPER u64 next_segment(u64 now, u32 warp, u32 epoch, u32 sub)
{
	if (now & NOW_ENTERED || sub >> 27)
		return __warpsafe_new_segment(now, warp, epoch, sub);
	BLOCK.begins[warp] = begin_word(segment_of(now), epoch, sub);
	describe(segment_of(now), warp, epoch, sub);
	return (u64)segment_of(now) << SEGMENT_AT;
}

/* ---- time goes on: one lane does it ---- */
HELPER u64 cas_now(u32 warp, u64 old, u64 now)
{
	return shared_cas64(IN_SHARED(__warpsafe_block.warps[warp].now), old, now);
}

SLOW void __warpsafe_set_flags(u32 warp, u32 flags)
{
	u64 old = BLOCK.warps[warp].now, was;

	while (old && (old & flags) != flags) {
		was = cas_now(warp, old, old | flags);
		if (was == old)
			break;
		old = was;
	}
}

HELPER void set_flags(u32 warp, u32 flags)
{
	u64 now = BLOCK.warps[warp].now;

	if (now && (now & flags) != flags)
		__warpsafe_set_flags(warp, flags);
}

/* ---- the time of cells in shared memory ----
 * epoch + 1 and sub of the block, and no segments: a cell there is the block's own. It goes on with `now`, by who has
 * changed that; lanes that find it a moment later than `now` only miss a race. Where the bits for sub end it stands still. */
enum { SHARED_EPOCH_AT = 10, SHARED_SUBS = 1 << SHARED_EPOCH_AT, LAST_SHARED_SUB = SHARED_SUBS - 2 * 32 };
/* From there on high halves are numbers of asynchronous copies, with SHARED_COPY in the low half (race_copy.cuh). */
enum { NUMBER_BITS = 22, NUMBERS = 1 << NUMBER_BITS };
#define COPY_TIME ((u32)-NUMBERS)

HELPER void set_shared_time(u32 warp, u32 time)
{
	BLOCK.warps[warp].time = time;
	if (!BLOCK.warps[warp].now)
		BLOCK.warps[warp].time = 0;
}

/* When all bits are used up it begins anew. Before, when half of them are, and then, each thread that comes from the barrier
 * takes out of the cells what is of the other half (scrub): nothing there says that it is of a time to come. */
HELPER u32 next_shared_epoch(u32 time)
{
	u32 next = (time | (SHARED_SUBS - 1)) + 1;

	return next ? next : SHARED_SUBS;
}

HELPER bool is_scrubbed_behind(u32 time) { return !(((time | (SHARED_SUBS - 1)) + 1) << 1); }

/* The warp has met as a whole: all before this sub is before all behind it. (Several lanes may say so at once. In the last epochs, of which the times are those of
 * copies as well, accesses ask no further than `full`.) */
HELPER void set_full(u32 warp, u32 sub)
{
	u32 at_accesses = sub < LAST_SHARED_SUB ? sub : (u32)LAST_SHARED_SUB, reads = BLOCK.warps[warp].reads_full & ~(u32)(SHARED_SUBS - 1);

	shared_max32(IN_SHARED(__warpsafe_block.full[warp]), sub);
	if (BLOCK.warps[warp].time < COPY_TIME)
		shared_max32(IN_SHARED(__warpsafe_block.warps[warp].reads_full), reads | at_accesses);
}

/* At a barrier: a sync of the epoch before tells nothing more. */
HELPER void forget_full(u32 warp)
{
	BLOCK.full[warp] = 0;
	BLOCK.warps[warp].reads_full &= ~(u32)(SHARED_SUBS - 1);
}

HELPER void next_shared_sub(u32 warp)
{
	u32 time = BLOCK.warps[warp].time;

	if (time && time % SHARED_SUBS < LAST_SHARED_SUB)
		shared_add32(IN_SHARED(__warpsafe_block.warps[warp].time), 1);
}

/* Of a warp that goes on in its segment: behind a barrier, and behind a sync of all of it. */
HELPER u64 in_next_epoch(u64 old)
{
	return (old >> EPOCH_AT << EPOCH_AT) + (1ull << EPOCH_AT) + (old & (NOW_FLAGS | NOW_ENTERED));
}

HELPER u64 in_next_sub(u64 old)
{
	return ((old + (1ull << SUB_AT)) & ~(u64)NOW_FULL) | (sub_of(old) + 1);
}

/* The next epoch. All lanes of the warp that are alive are at the barrier, or on their way from here to it. */
HELPER void next_epoch(u32 warp)
{
	u64 old = BLOCK.warps[warp].now, was, now = 0;
	u32 time, epoch = 0;

	forget_full(warp);
	while (old) {
		now = in_next_epoch(old);
		if (epoch_of(old) == EPOCHS - 1) {
			epoch = place_of(old).epoch + 1;
			now = next_segment(old, warp, epoch, 0);
			now = now ? now | (old & NOW_FLAGS) : 0;
		}
		was = cas_now(warp, old, now);
		if (was == old)
			break;
		old = was;
	}
	if (epoch && BLOCK.late)
		__warpsafe_give_back(segment_of(now), warp, epoch);
	time = BLOCK.warps[warp].time;
	if (!time)
		return;
	set_shared_time(warp, next_shared_epoch(time));
	if (is_scrubbed_behind(time))
		set_flags(warp, NOW_SCRUB);
}

/* The next sub; `full`: all lanes that are alive have met here, so that all before it is before all behind it. Several
 * lanes may do it at once: when time has gone on since a lane looked, it need not do so again. */
SLOW void __warpsafe_next_sub(u32 warp, u32 full)
{
	u64 old = BLOCK.warps[warp].now, now = old + (1ull << SUB_AT), was;
	struct place p;

	if (!old)
		return;
	p = place_of(old);
	if (full) {
		set_full(warp, p.sub + 1);
		now = in_next_sub(old);
	}
	if (sub_of(old) == LAST_SUB) {
		now = full ? next_segment(old, warp, p.epoch, p.sub + 1) : __warpsafe_new_segment(old, warp, p.epoch, p.sub + 1);
		now = now ? now | (old & NOW_FLAGS) | NOW_LATER : 0;
	}
	for (; (was = cas_now(warp, old, now)) != old && !((was ^ old) >> SUB_AT); old = was)
		now |= now ? was & NOW_FLAGS : 0;
	if (was == old)
		next_shared_sub(warp);
}

/* The same, with what is rare elsewhere. */
HELPER void next_sub(u32 warp, bool full)
{
	u64 old = BLOCK.warps[warp].now, was;

	if (full || sub_of(old) == LAST_SUB) {
		__warpsafe_next_sub(warp, full);
		return;
	}
	if (!old)
		return;
	was = cas_now(warp, old, old + (1ull << SUB_AT));
	if (was == old)
		next_shared_sub(warp);
	else if (!((was ^ old) >> SUB_AT))
		__warpsafe_next_sub(warp, false);
}

/* Its accesses are not checked any more. */
HELPER void stop_warp(u32 warp)
{
	u64 old = BLOCK.warps[warp].now, was;

	while (old && (was = cas_now(warp, old, 0)) != old)
		old = was;
	BLOCK.warps[warp].time = 0;
}

/* The block is not checked from here on. */
HELPER void switch_off(void)
{
	if (BLOCK.off)
		return;
	BLOCK.off = OFF_BY_BARRIER;
	launch_is_incomplete(BLOCK.grid);
	for (u32 w = 0; w < WARPS; w++)
		stop_warp(w);
}

#endif
