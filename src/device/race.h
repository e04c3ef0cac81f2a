/* race.h - what the race checks on a real GPU (src/device/race.cu), the pass that inserts them (src/rewrite) and the
 * host that sets them up and reads them (src/real) have in common. C11 and CUDA C. Addresses are those of the device,
 * as u64. docs/REWRITE.md, "Race checks on the device", says how it works.
 *
 * Each rewritten module has a variable in constant memory
 *     .weak .const .align 8 .b8 __warpsafe_race[sizeof(struct ws_race_device)];
 * that the host fills when the module was loaded; `version` 0 in it (nobody did) makes every hook do nothing. And
 *     .const .align 4 .u32 __warpsafe_module = number of the module;
 *     .shared .align 128 .b8 __warpsafe_block[WS_RACE_BLOCK_BYTES];
 *
 * Functions for ws_inline, arguments as they are given (u32 or u64; `what` is made of the WS_RACE_... below):
 *     race_enter(u32 kernel)           at the entry of a checked kernel, all threads; its number and WS_RACE_NEEDS_...;
 *                                      has a barrier inside
 *     race_enter_in(u32 kernel, u32 mark)      the same, of a kernel with the parameter __warpsafe_launch: its mark. If that is
 *                                      WS_RACE_COMPARED, the parameter is at the beginning of __warpsafe_block; it
 *                                      may be WS_RACE_COUNTS_TURNS with a row
 *     race_enter_off()                 the same, of a kernel that is not checked but calls functions with hooks
 *     race_starts_at_zero(u64 counter) at the entry, before race_enter, by all threads, in launches that the host has told something
 *                                      (WS_RACE_SILENT_TAG): was the word 0 when the launch began? Has barriers inside
 *     race_leave()                     before each ret and exit of a kernel, and each exit of a function
 *     race_area(u64 address)           at the entry, before race_enter: the row of the allocation that it lies in; 0 = not
 *                                      known. Nothing else is done
 *     race_thread()                    what the thread knows itself by, for `thread`: once for each function
 *     race_read(u64 address, u32 what, u32 site)                     before a load
 *     race_write(u64 address, u32 what, u32 site, u64 v0, u64 v1)    before a store; v0, v1: the bytes, little endian
 *     race_wrote(u64 address, u32 what, u32 site)                    in place of a store of which the bytes are not known
 *     race_atomic(u64 address, u32 what, u32 site)                   before atom and red
 *     race_{read,write,atomic}_{shared,global}(u32 thread, ...)      the same, where the space is known
 *     race_{read,write}_part_{global,shared}(...)      the same of 1 or 2 bytes; of global memory, weak
 *     race_read_four_global(...)               reads of four words side by side (WS_RACE_FOUR), which need not be aligned
 *     race_read_ahead_global(..., u32 rounds)  the same in a loop that goes on to the next four in each round, before the first of
 *                                              that many rounds; how many more bytes behind these have been checked with them
 *     race_write_unread_global(...)            a weak write of 4 bytes in a launch in which no read of global memory has a check
 *     race_call_{read,write}4_{shared,global}(...)                   the same by calls, weak accesses of 4 bytes
 *     race_call_{read,write,atomic}_{shared,global}(...)             ... and all others
 *     race_swap_at(u32 thread, u64 address, u32 what)               before a compare-and-swap in global memory: its result is where W and R of
 *                                              the word are, 16 bytes, which are then loaded; 0, WS_RACE_TRIED: they are not
 *     race_swap_w(u64 address, u32 what), race_swap_r(...)          before one elsewhere: W and R themselves
 *     race_swapped_global(u32 thread, u64 address, u32 what, u32 site, u64 at, u64 w, u64 r)     after one that has found what it compares
 *                                              with, with the results of those, or 0
 *     race_swapped(u64 address, u32 what, u32 site, u64 w, u64 r)   the same elsewhere
 *     race_not_swapped_global(...), race_not_swapped(u64 address, u32 what, u32 site)       after one that has not: it is a strong read
 *     race_peer_swap(u64 address, u32 what, u32 site)               before one that may be in another block's shared memory, and then
 *                                              race_peer_swap_w, race_peer_swap_r, race_peer_swapped, race_peer_not_swapped: sm_90
 *     race_release(u64 address, u32 what)      before a strong store, atom, red: in modules that have a fence or an
 *     race_acquire(u64 address, u32 what)      after a strong load, atom;        access that releases or acquires
 *     race_acquire_found(u64 address, u32 what, u32 value)           the same, with 32 bits of what it read
 *     race_fence_before(u32 what), race_fence_after(u32 what)        around membar and fence
 *     race_barrier_arrive(), race_barrier()    before and after a barrier of all threads of the block
 *     race_part_arrive(u32 barrier, u32 threads), race_part_pass(...)    the same, of those who are, or may be, a part of the
 *                                              block: WS_RACE_PART threads = they are; bar.arrive has the first alone
 *     race_block_arrive(u32 thread), race_block_pass(u32)   the same, in kernels without releases and acquires; the first one's result is for the second
 *     race_call_block_arrive(u32 thread)       ... by calls
 *     race_warp_sync(u32 self, u32 lanes)      after bar.warp.sync
 *     race_grid_waited()                       after griddepcontrol.wait
 *     race_cluster(u32 peers)                  behind race_enter, in kernels that know of clusters: sm_90, as all that follow
 *     race_cluster_arrive(u32 ordering), race_cluster_pass(u32 ordering)   before barrier.cluster.arrive, after barrier.cluster.wait,
 *                                              where the one follows the other at once in all places; ordering: in kernels with
 *                                              releases and acquires
 *     race_cluster_release(u32 what), race_cluster_acquire()         the same, in other kernels: WS_RACE_RELEASES or not
 *     race_peer_{read,write,atomic}(...), race_peer_release(...), race_peer_acquire(...)    as those without peer, for addresses
 *                                              that may be those of another block's shared memory
 *     race_copy(u64 to, u64 from, u32 bytes, u32 reads, u32 site)    before cp.async, which reads that many bytes and writes
 *                                              zeros for the others; site + 1 is that of the write
 *     race_copy_read(u64 from, u32 reads, u32 site)                  the same, where a probe has found nothing of what it writes
 *     race_copy_commit(), race_copy_wait(u32 groups)                 after cp.async.commit_group and wait_group; both, with
 *                                              0 groups: after wait_all
 *     race_copy_arrive(u64 address, u32 what)  before cp.async.mbarrier.arrive
 *     race_object_arrive(u64 address, u32 what)                      before mbarrier.arrive
 *     race_clock_enter(u64 address, u32 what, u32 site)              before what is done to an object, in place of race_atomic, in kernels
 *                                              with clocks; race_clock_fence(): behind fences of modules that have such
 *     race_clock_wait(u64 address, u32 what, u32 parity, u32 site)   there as race_object_wait, with the access to the object
 *     race_bulk_load(u64 to, u64 from, u32 bytes, u64 object, u32 site)    before cp.async.bulk from global to shared memory, with the
 *                                              window's addresses of shared::cluster; site + 1 is that of the write; sm_90
 *     race_bulk_store(u64 to, u64 from, u32 bytes, u32 site)         the same from shared to global memory, which completes in groups
 *     race_bulk_wait(u32 groups, u32 reads)    after cp.async.bulk.wait_group, .read; race_copy_commit() after its commit_group
 *     race_operation(u64 to, u64 from, u32 bytes, u64 object, u32 how, u32 site)   before st.async, red.async and bulk copies to shared
 *                                              memory, with addresses as race_bulk_load; how: WS_RACE_CLASS of what it does there,
 *                                              WS_RACE_SPACE of `from` (GENERIC: there is none); site: of the write, that of the read
 *                                              is before it. Of race_remote.cu, as all up to race_peer_arrive
 *     race_multicast(..., u32 ranks, u32 site)                       the same to several blocks, from global memory
 *     race_bulk_reduce(u64 to, u64 from, u32 bytes, u32 how, u32 site)     as race_bulk_store, by atomics of a class
 *     race_peer_arrive(u64 address, u32 what)                        before mbarrier.arrive at an object of another block
 *     race_proxy_fence()                       after fence.proxy.async, in kernels with bulk copies
 *     race_product(u64 a, u64 b, u32 how, u32 site)                  before wgmma.mma_async, by all lanes of the warp: descriptors of
 *                                              its operands in shared memory; how: WS_RACE_PRODUCT_...; of race_tensor.cu
 *     race_product_commit(), race_product_wait(u32 groups)           after wgmma.commit_group and wait_group
 *     race_tensor_load(u64 to, u64 map, u32 c0, u32 c1, u32 c2, u32 c3, u32 c4, u64 object, u32 how, u32 ranks, u32 site)
 *                                              before cp.async.bulk.tensor to shared memory, with addresses as race_bulk_load; map:
 *                                              generic; how: WS_RACE_TENSOR_...; ranks: of a multicast, else 0; site + 1 is that of the
 *                                              write. Of race_tensor.cu, as the next
 *     race_tensor_store(u64 map, u32 c0, ..., u32 c4, u64 from, u32 how, u32 site)    the same from shared memory; completes in groups
 *     race_object_begin(u64 address, u32 what, u32 count)            before mbarrier.init, of so many arrivals; 0: .inval. With it, where each
 *                                              thread that arrives waits at once (src/rewrite/meeting.c), these with the access to the object:
 *     race_object_meet(u64 address, u32 what, u32 site)              in place of race_object_arrive
 *     race_object_met(u64 address, u32 what, u32 parity, u32 site)
 *     race_object_wait(u64 address, u32 what, u32 parity)            after mbarrier.test_wait or try_wait, if it has seen
 *                                              the phase end; parity 2: not known
 * and for probes (see below), with race_enter, race_thread, race_call_block_arrive, race_block_pass, race_warp_sync
 *     race_is_probe()                          is this launch one?
 *     race_probe_access(u32 thread, u64 address, u32 what, u32 write)    at an access to shared memory
 *     race_probe_place(u64 address, u32 unit)  where no access has fewer bytes than `unit`: the word that stands for so many
 *     race_probe_copy(u32 thread, u64 address, u32 what)                 at a cp.async, of what it writes
 *     race_probe_fail()                        the probe ends without a result
 *     race_probe_leave(u64 constants, u32 number)                        before each end
 * An access has 1, 2, 4, 8 or 16 bytes and is aligned to them. */
#ifndef WS_DEVICE_RACE_H
#define WS_DEVICE_RACE_H

typedef unsigned int ws_race_u32;
typedef unsigned long long ws_race_u64;

#define WS_RACE_VERSION 1
#define WS_RACE_BLOCK_BYTES 2048
#define WS_RACE_SILENT_AT   (WS_RACE_BLOCK_BYTES - 4)

/* What a kernel's blocks need a slot for, if it can come to such a thing. */
#define WS_RACE_NEEDS_STATES (1u << 31)          /* states of threads: fences, releases and acquires */
#define WS_RACE_NEEDS_SHARED (1u << 30)          /* cells of shared memory, unless they are in shared memory itself */
#define WS_RACE_NEEDS_COPIES (1u << 29)          /* segments for asynchronous copies; with states of threads */
#define WS_RACE_NEEDS_ROWS   (1u << 27)          /* of its blocks, for clusters */
#define WS_RACE_NEEDS_SLOT   (1u << 28)          /* cells of shared memory in the slot, wherever else there is room; with SHARED */
#define WS_RACE_HAS_LOCKS    (1u << 26)          /* its threads may wait for locks: its blocks go on a few at a time (race_room.cuh) */

#define WS_RACE_TWO_FENCES   (1u << 25)          /* it has fences of a block's or a cluster's scope, and wider ones; with STATES */
#define WS_RACE_HAS_FENCED   (1u << 24)          /* of a block, kept there by the device: one of its threads has executed a fence.sc */
#define WS_RACE_HAS_CLOCKS   (1u << 23)          /* what objects and barriers of a part of the block order are clocks (race_clock.cuh); with STATES */

/* ---- what: an access or a fence ---- */
#define WS_RACE_BYTES(n)     (n)                 /* 1, 2, 4, 8, 16 */
#define WS_RACE_BYTES_OF(what) ((what) & 31)
enum ws_race_space { WS_RACE_GLOBAL, WS_RACE_SHARED, WS_RACE_GENERIC, WS_RACE_CLUSTER };       /* CLUSTER: shared::cluster */
#define WS_RACE_SPACE(s)     ((s) << 5)          /* the address is of this space: of shared memory an offset */
#define WS_RACE_SPACE_OF(what) ((what) >> 5 & 3)
/* Weak, or strong with a scope; atomic (atom, red) with a scope. The scope of a fence: strong. */
enum ws_race_class {
	WS_RACE_WEAK, WS_RACE_STRONG_CTA, WS_RACE_STRONG_CLUSTER, WS_RACE_STRONG_GPU, WS_RACE_STRONG_SYS,
	WS_RACE_ATOMIC_CTA, WS_RACE_ATOMIC_CLUSTER, WS_RACE_ATOMIC_GPU, WS_RACE_ATOMIC_SYS,
	WS_RACE_UPDATE,                  /* a weak write for both it and a weak read of the same bytes just before */
	/* Atomics of 8 bytes or more: not atomic to those of fewer that they overlap (PTX ISA 9.0, 8.7.2). */
	WS_RACE_ATOMIC8_CTA, WS_RACE_ATOMIC8_CLUSTER, WS_RACE_ATOMIC8_GPU, WS_RACE_ATOMIC8_SYS
};
#define WS_RACE_IS_ATOMIC(c) ((c) >= WS_RACE_ATOMIC_CTA && (c) != WS_RACE_UPDATE)
#define WS_RACE_CLASS(c)     ((c) << 8)
#define WS_RACE_CLASS_OF(what) ((what) >> 8 & 15)
#define WS_RACE_ACQUIRES     (1 << 12)           /* the access itself: .acquire, .acq_rel; a fence: fence.acquire */
#define WS_RACE_RELEASES     (1 << 13)           /* .release, .acq_rel; a fence: fence.release; one with neither is both */
#define WS_RACE_RMW          (1 << 14)           /* atom, red: goes on with the release sequence it finds */
#define WS_RACE_SC           (1 << 15)           /* a fence: fence.sc, membar */
#define WS_RACE_BARRIERS     (1 << 16)           /* in no kernel that executes it do releases and acquires order anything */
#define WS_RACE_LOOKED       (1 << 17)           /* of the device: its entry may be out of date in the first-level cache */
#define WS_RACE_RETRIES      (1 << 18)           /* what a thread does again and again until it finds a value: tries_again */
#define WS_RACE_FOUR         (1 << 19)           /* reads of four words, of sites one after the other, checked as one of 16 bytes */
#define WS_RACE_WAITED       (1 << 23)           /* of the device: what an access has read is there */
#define WS_RACE_MEETS        (1 << 25)           /* a fence: what executes it may come to a barrier of the block */
#define WS_RACE_TRIED        1                   /* of race_swap_at */
#define WS_RACE_SWAPPED      (1 << 24)           /* of the device: a compare-and-swap that has written, and is checked behind it */
#define WS_RACE_FOURS(n)     ((n) << 20)         /* ... and a round of the loop has so many of these: 1, 2 or 4 */
#define WS_RACE_FOURS_OF(what) ((what) >> 20 & 7)

/* ---- how: a product ---- */
#define WS_RACE_PRODUCT_COLUMNS 511              /* of B */
#define WS_RACE_PRODUCT_A       (1 << 9)         /* A is in shared memory, too */
#define WS_RACE_PRODUCT_TRANS_A (1 << 10)        /* columns lie together, not rows */
#define WS_RACE_PRODUCT_TRANS_B (1 << 11)

/* ---- how: a copy of a tile of a tensor; with WS_RACE_CLASS of its atomics, if it reduces ---- */
#define WS_RACE_TENSOR_RANK  7
#define WS_RACE_TENSOR_OTHER (1 << 3)            /* not a tile: im2col */

/* ---- shared memory ----
 * A launch of a checked kernel may be given more dynamic shared memory than the program asks for, and then the cells of the
 * block's shared memory lie behind the program's own. The size itself says so: the program's, rounded up; cells, four
 * times all before them; what each thread has written, 8 bytes; and a few bytes by which the kernel knows it again.
 * fixed: static shared memory (with __warpsafe_block). A program's own size that looks like one must not be launched. */
#define WS_RACE_UNIT(n)      (((n) + 127) / 128 * 128)
#define WS_RACE_SIZE_TAG     67
#define WS_RACE_SHARED_BASE(fixed, threads) (4 * WS_RACE_UNIT(fixed) + 8 * (((threads) + 31) / 32 * 32) + WS_RACE_SIZE_TAG)
#define WS_RACE_SHARED_SIZE(fixed, dynamic, threads) \
	(WS_RACE_SHARED_BASE(fixed, threads) + 5 * WS_RACE_UNIT(dynamic))
#define WS_RACE_IS_SHARED_SIZE(fixed, size, threads) \
	((size) >= WS_RACE_SHARED_BASE(fixed, threads) && ((size) - WS_RACE_SHARED_BASE(fixed, threads)) % (5 * 128) == 0)

/* A block of threads may be launched alone to find out whether any block of that shape can have a race in shared memory
 * (src/rewrite/probe.h): with cells, as above, and one or two bytes more, by which the kernel knows that it is to do
 * nothing else. What it finds is written to `probe`: WS_RACE_PROBE_... Launches for which it found nothing are told so by the
 * low bits of the size. Neither may be the size that a program gives. A probe may be several blocks (src/rewrite/probe.h). */
#define WS_RACE_PROBE_MORE   2
#define WS_RACE_PROBE_SIZE(fixed, dynamic, threads) (WS_RACE_SHARED_SIZE(fixed, dynamic, threads) + WS_RACE_PROBE_MORE)
/* What a probe is launched with, where its cells are for so many bytes: race_probe_place. Places that lie further apart than what they stand
 * for need room behind the static memory, too. */
#define WS_RACE_PROBE_DYNAMIC(fixed, dynamic, unit) \
	((unit) < 4 ? ((fixed) + (dynamic)) * (4 / (unit)) - (fixed) : ((dynamic) * 4 + (unit) - 1) / (unit))
#define WS_RACE_PROBE_TAG    (WS_RACE_SIZE_TAG + WS_RACE_PROBE_MORE)     /* modulo WS_RACE_TAGS: as quick looks have it */
#define WS_RACE_PROVED_TAG   41
#define WS_RACE_SILENT_TAG   23          /* the host has decided what the kernel's entry would: nothing is to be checked */
#define WS_RACE_PROBED_TAG   11          /* likewise, with what a probe has found, if the constants are the same as then */
#define WS_RACE_STATES_TAG   55          /* states of threads lie behind the program's own: WS_RACE_STATES_SIZE */
#define WS_RACE_TAGS         128
#define WS_RACE_IS_TOLD(size) ((size) % WS_RACE_TAGS == WS_RACE_PROVED_TAG || (size) % WS_RACE_TAGS == WS_RACE_SILENT_TAG || \
                               (size) % WS_RACE_TAGS == WS_RACE_PROBED_TAG)
#define WS_RACE_IS_PROBE_SIZE(fixed, size, threads) \
	((size) >= WS_RACE_PROBE_MORE && WS_RACE_IS_SHARED_SIZE(fixed, (size) - WS_RACE_PROBE_MORE, threads))
#define WS_RACE_PROVED_SIZE(dynamic) (WS_RACE_UNIT(dynamic) + WS_RACE_PROVED_TAG)
#define WS_RACE_SILENT_SIZE(dynamic) (WS_RACE_UNIT(dynamic) + WS_RACE_SILENT_TAG)
#define WS_RACE_PROBED_SIZE(dynamic) (WS_RACE_UNIT(dynamic) + WS_RACE_PROBED_TAG)
/* With room for the states of the block's threads. */
#define WS_RACE_STATE_BYTES  64          /* of a thread, where it has no asynchronous copies */
#define WS_RACE_STATES_BYTES(threads) (WS_RACE_STATE_BYTES * (((threads) + 31) / 32 * 32))
#define WS_RACE_STATES_SIZE(dynamic, threads) (WS_RACE_UNIT(dynamic) + WS_RACE_STATES_BYTES(threads) + WS_RACE_STATES_TAG)
#define WS_RACE_IS_STATES_SIZE(size, threads) \
	((size) % WS_RACE_TAGS == WS_RACE_STATES_TAG && (size) >= WS_RACE_STATES_SIZE(0, threads))
/* What the host reads: launched; a block of it runs; it has ended, and has found nothing, or something. */
enum ws_race_probe { WS_RACE_PROBE_WAITS, WS_RACE_PROBE_RUNS, WS_RACE_PROBE_NOTHING, WS_RACE_PROBE_FOUND };

/* ---- launches that may overlap ----
 * A checked kernel has one parameter more, the last one:
 *     .param .align 8 .b8 __warpsafe_launch[sizeof(struct ws_race_launch)]
 * It says where in the order of launches this one stands, if `mark` is WS_RACE_COMPARED; else its accesses are not compared
 * with those of other launches, and `mark` may be a `grid` of its own. Lanes are streams: launches of one lane run one after the
 * other, with rising indices. */
#define WS_RACE_LANES        24
#define WS_RACE_OF_LANE      64          /* segments that are of one lane, if they are of a compared launch: `lanes` says of which */
#define WS_RACE_DEPTH        64          /* of a lane's launches so many, the last ones, are known */
#define WS_RACE_COMPARED     0x72616365u
struct ws_race_launch {
	ws_race_u32 mark;
	ws_race_u32 lane, index;         /* from 1 on */
	ws_race_u32 lanes;               /* in use */
	ws_race_u32 stream;              /* for words: WS_RACE_STREAM_..., and what it is there: WS_RACE_IN_STREAM */
	ws_race_u32 grid;                /* what the launch is known by in place of %gridid; 0 = by that. Kernels of a graph may have the
	                                  * same one in each of its launches */
	ws_race_u32 reserved[2];
	ws_race_u32 before[WS_RACE_LANES];       /* by lane: the launches up to this index are complete when it begins */
};
/* What proofs at the entry find of a launch, of which the host has computed the same beforehand (src/real/decide.h): predicates, bit by bit,
 * and numbers, in the order in which the entry makes them. It stands in the place of what tells of the launch, by `mark` WS_RACE_TOLD; such
 * a launch is compared with no other, and is none of a graph. */
#define WS_RACE_TOLD         0x746f6c64u
#define WS_RACE_MOST_TRUTHS  64
#define WS_RACE_MOST_VALUES  14
struct ws_race_told {
	ws_race_u32 mark, reserved;
	ws_race_u64 truths;
	ws_race_u64 values[WS_RACE_MOST_VALUES];
};
/* In its place, too: of a kernel that looks whether accesses stay in parts of their variables (src/rewrite/parts.h), by any `mark`; and of the
 * checked one behind it, that has something to do only if the other one has left the number there. */
#define WS_RACE_BEHIND_PARTS 0x70617274u
#define WS_RACE_MOST_PARTS   (WS_RACE_MOST_VALUES / 2)
struct ws_race_part { ws_race_u32 first, bytes; };       /* the byte of the variable with which it begins, and how many it has */
struct ws_race_parts {
	ws_race_u32 mark, number;
	ws_race_u64 seen;                /* u32 */
	struct ws_race_part part[WS_RACE_MOST_PARTS];
	ws_race_u64 reserved[WS_RACE_MOST_VALUES - WS_RACE_MOST_PARTS];
};
#define WS_RACE_STREAM_DEFAULT    0      /* above it, streams are numbered as they were made */
#define WS_RACE_STREAM_PER_THREAD ((1u << 26) - 1)
#define WS_RACE_EARLY             (1u << 26)     /* it may begin while the launch before it in its lane still runs */
#define WS_RACE_OWN_GRID          (1u << 31)     /* of `grid`: it is none of the GPU's; with the next bit it is one of the checks' */
/* `mark` of a kernel of a graph that counts its own launches: with the number of a row of its own of `turns`, where the number of the
 * launch that comes or runs is in the upper half (0: WS_RACE_FIRST_TURN) and in the lower one how many of its blocks have begun. No
 * launch of such a kernel begins before the one before has ended. */
#define WS_RACE_TURNS             (1u << 16)
#define WS_RACE_COUNTS_TURNS      (1u << 30)
#define WS_RACE_UNKNOWN_TURN      (WS_RACE_COUNTS_TURNS | WS_RACE_TURNS)     /* there was no row left: nothing is checked */
#define WS_RACE_FIRST_TURN(row)   (1u + (row))
#define WS_RACE_OF_GRAPH          (1u << 27)     /* by a graph in that stream */
/* A launch of the program's, or one that tells of a copy or fill, or that memory comes or goes in the order of a stream. PERHAPS: it
 * may still write when the call has returned, though in practice it does not. */
enum ws_race_operation { WS_RACE_IS_LAUNCH, WS_RACE_IS_COPY, WS_RACE_IS_COPY_PERHAPS, WS_RACE_IS_FILL, WS_RACE_IS_ALLOC, WS_RACE_IS_FREE };
#define WS_RACE_IN_STREAM(operation, stream) ((ws_race_u32)(operation) << 28 | (stream))
#define WS_RACE_OPERATION_OF(s) ((s) >> 28)
#define WS_RACE_STREAM_OF(s)    ((s) & WS_RACE_STREAM_PER_THREAD)
/* What is known of such a launch while it runs, and later. Number lane * WS_RACE_DEPTH + index % WS_RACE_DEPTH in a table. */
struct ws_race_begun {
	ws_race_u32 index;               /* 0 = none; written last */
	ws_race_u32 first, count;        /* the first segments of its warps; while count is 0, none is below `first` */
	ws_race_u32 grid;
	ws_race_u32 floor;               /* no segment below is of a launch that may overlap this one */
	ws_race_u32 nwarps;              /* of a block */
	ws_race_u32 module, kernel, stream;
	ws_race_u32 lanes;
	ws_race_u32 grid_dim[3], block_dim[3];
	ws_race_u32 before[WS_RACE_LANES];
	ws_race_u32 floors[WS_RACE_LANES];       /* by lane, likewise: `floor` is the least of them */
};
struct ws_race_launches {
	ws_race_u32 newest[WS_RACE_LANES];       /* by lane: index of the newest that has begun */
	struct ws_race_begun begun[WS_RACE_LANES * WS_RACE_DEPTH];
};

/* ---- set up by the host ---- */
/* What lies in global memory of one resident block: a slot of one cell a word of shared memory, and states of threads. A
 * block that needs one takes a slot of the first class that is large enough and has one left. */
#define WS_RACE_SLOT_CLASSES 4
struct ws_race_slots {
	ws_race_u64 cells;               /* count * WS_RACE_SLOT_BYTES(bytes): 16 bytes a word, states of threads, and clocks */
	ws_race_u64 used;                /* count * u32: 1 = a block has it */
	ws_race_u32 count;               /* 0 = no slots of this class */
	/* Of shared memory, static and dynamic, with __warpsafe_block and 1 KB for what the system reserves; a multiple of
	 * 128, rising with the class. */
	ws_race_u32 bytes;
};
#define WS_RACE_SLOT_BYTES(bytes) (4ull * (bytes) + WS_RACE_MAX_THREADS * WS_RACE_THREAD_BYTES + WS_RACE_CLOCK_BYTES)
#define WS_RACE_MAX_THREADS 1024
#define WS_RACE_PART (~0u)               /* a number of threads that is never the block's */
#define WS_RACE_THREAD_BYTES 192
#define WS_RACE_CLOCK_BYTES (48 << 10)   /* race_clock.cuh; nothing else is ever there */

/* Allocations of the program, in order; they do not overlap. A row is 16 bytes: the first byte, and the one behind the last.
 * A table that was made known is not changed for a long while: the host writes the next one elsewhere. */
struct ws_race_area { ws_race_u64 start, end; };
struct ws_race_areas {
	ws_race_u64 count;
	ws_race_u64 reserved;
	/* count * struct ws_race_area */
};

/* Tensors of which the program has descriptors (CUtensorMap), by the content of these: the rows are found at mix % WS_RACE_TENSORS or
 * one of the WS_RACE_TENSOR_PROBES - 1 behind. What is opaque in 128 bytes is known by the call that made them. */
#define WS_RACE_TENSORS        4096
#define WS_RACE_TENSOR_PROBES  16
#define WS_RACE_TENSOR_DIMS    5
#define WS_RACE_TENSOR_WORDS   16        /* of 8 bytes, that a descriptor has */
struct ws_race_tensor {
	ws_race_u64 mix[2];              /* of the words of the descriptor, see below; 0 = the row is free */
	ws_race_u64 address;
	ws_race_u64 stride[WS_RACE_TENSOR_DIMS - 1];     /* bytes, from dimension 1 on */
	ws_race_u64 less_1[WS_RACE_TENSOR_DIMS];         /* elements - 1 */
	unsigned short box[WS_RACE_TENSOR_DIMS];         /* in elements of the tensor */
	unsigned char step[WS_RACE_TENSOR_DIMS];         /* of so many elements one is copied */
	unsigned char rank, bytes;                       /* of an element */
	unsigned char swizzle;                           /* bytes of a row of shared memory: 32, 64, 128; 0 = none */
	unsigned char reserved[14];
};
/* From 0 on, word by word; and the second. */
#define WS_RACE_TENSOR_MIX(mix, word)  (((mix) ^ (word)) * 0x9e3779b97f4a7c15ull ^ (mix) >> 32)
#define WS_RACE_TENSOR_MIX2(mix, word) (((mix) + (word)) * 0xbf58476d1ce4e5b9ull ^ (mix) >> 29)

/* All memory named here must be zero at the start and whenever the host begins anew (then all of it at once, with no
 * kernel running). Numbers in tables begin with 1, so an element more is there than the number says. */
struct ws_race_device {
	ws_race_u32 version;             /* WS_RACE_VERSION */
	ws_race_u32 bytes;               /* of this struct */
	ws_race_u64 pages;               /* (1 << pages_log2) * u64: which page of 2 MiB; 0 = free */
	ws_race_u64 lines;               /* (1 << pages_log2) * WS_RACE_PAGE_BYTES: its lines, 16 bytes for WS_RACE_LINE_BYTES */
	ws_race_u64 cells;               /* ncells * WS_RACE_CELLS_BYTES: a line's words */
	ws_race_u64 segments;            /* (nsegments + 1) * sizeof(struct ws_race_segment); nsegments < 2^27 - 1 */
	ws_race_u64 records;             /* (nrecords + 1) * struct ws_race_record, then as many struct ws_race_links */
	ws_race_u64 lanes;               /* (nsegments / WS_RACE_OF_LANE + 1) bytes: 1 + the lane whose segments these are; 0 = see the launches */
	ws_race_u64 locations;           /* (1 << locations_log2) * sizeof(struct ws_race_location) */
	ws_race_u64 written;             /* WS_RACE_WRITTEN * u64: what lanes write by one instruction */
	ws_race_u64 found;               /* (1 << found_log2) * sizeof(struct ws_race_found); memory of the host */
	ws_race_u64 seen;                /* (1 << found_log2) * sizeof(struct ws_race_seen); never begins anew */
	ws_race_u64 counts;              /* struct ws_race_counts */
	ws_race_u64 areas;               /* u64: the address of a struct ws_race_areas; never begins anew. 0 = none is known */
	ws_race_u64 tensors;             /* WS_RACE_TENSORS * struct ws_race_tensor; never begins anew. 0 = none is known */
	ws_race_u64 probe;               /* u32 of the host's memory: what the last probe has found */
	ws_race_u64 proofs;              /* WS_RACE_PROOFS * u64, by kernel: of the constants that its proof depends on; 0 = none */
	ws_race_u64 launches;            /* struct ws_race_launches; never begins anew */
	ws_race_u64 turns;               /* WS_RACE_TURNS * u64, see there, behind one with the last number; never begins anew */
	ws_race_u64 rest;                /* nanoseconds for which a segment that was given back is not taken again, at least */
	/* For tests: the epoch + 1 with which cells in shared memory begin, close to where its bits end; 0 = 1. */
	ws_race_u64 shared_epoch;
	ws_race_u32 pages_log2, ncells, nsegments, nrecords, locations_log2, found_log2;
	ws_race_u32 resident;            /* threads of kernels with locks that go on at a time on a multiprocessor; 0 = all */
	ws_race_u32 patience;            /* nanoseconds for which a block waits for that, at most */
	struct ws_race_slots slots[WS_RACE_SLOT_CLASSES];
};
#define WS_RACE_WRITTEN     (1 << 18)
#define WS_RACE_PROOFS      (1 << 12)
#define WS_RACE_LINE_SHIFT  6            /* of a line, in bytes: its entry has 16, and so has the cell of each of its words */
#define WS_RACE_LINE_BYTES  (1 << WS_RACE_LINE_SHIFT)
#define WS_RACE_PAGE_BYTES  ((2 << 20) / WS_RACE_LINE_BYTES * 16)
#define WS_RACE_CELLS_BYTES (WS_RACE_LINE_BYTES / 4 * 16)

/* ---- counted by the device ---- */
enum ws_race_limit {                     /* why accesses of threads were not checked */
	WS_RACE_NO_SEGMENT, WS_RACE_NO_PAGE, WS_RACE_NO_CELLS, WS_RACE_NO_SLOT,
	WS_RACE_BLOCK_OFF,               /* the block uses a barrier of fewer threads, or barriers that were not seen */
	WS_RACE_NO_TENSOR,               /* of a tensor, or matrix, of which the layout is not known */
	WS_RACE_LIMITS
};
/* What is true of a launch. INCOMPLETE: not everything is known, its pairs of blocks are not reported where an acquire may
 * have ordered them. LISTS: releases are missing in lists (race_release.cuh). HANDED_ON: fence.sc and barriers
 * (race_order.cuh). */
enum { WS_RACE_LAUNCH_INCOMPLETE = 1, WS_RACE_LAUNCH_LISTS = 2, WS_RACE_LAUNCH_HANDED_ON = 4 };
#define WS_RACE_GRIDS 1024
#define WS_RACE_ROOMS 256
/* Of a launch: have all of its blocks released at one word, each for the first time and at the same place of the code? See
 * race_all.cuh. */
#define WS_RACE_ROUNDS 4
struct ws_race_round {
	ws_race_u64 id;                  /* its number and when the blocks released, as all of them did */
	ws_race_u32 blocks;              /* how many have, in this round and those before it that had this row */
	ws_race_u32 last;                /* as below */
};
struct ws_race_all {
	ws_race_u64 who;                 /* what the releases have in common; 0 = there is none yet */
	ws_race_u32 blocks;              /* how many have */
	ws_race_u32 last;                /* no release of theirs has this number in the word's chain, or a higher one */
	ws_race_u32 grid;                /* the launch */
	ws_race_u32 most;                /* rounds that some block has begun */
	ws_race_u32 uneven, reserved;    /* blocks have released at other times in some round: nothing is known of any */
	struct ws_race_round rounds[WS_RACE_ROUNDS];     /* by their number modulo */
};
struct ws_race_counts {
	ws_race_u32 segments, cells, records;    /* handed out; may go beyond the size of the table */
	ws_race_u32 pages, locations, found;     /* in use */
	ws_race_u64 not_checked[WS_RACE_LIMITS]; /* accesses of threads */
	ws_race_u64 undecided;           /* pairs: order not known */
	ws_race_u64 lost;                /* an earlier access of other bytes of the same word was forgotten */
	ws_race_u64 records_missing;     /* releases and acquires for which there was no room */
	ws_race_u64 found_missing;       /* races for which `found` had no room */
	ws_race_u64 sampled;             /* words of which only samples were checked further: WS_RACE_OFTEN */
	ws_race_u64 readers;             /* reads by a launch that were forgotten for one that may overlap it */
	ws_race_u64 launches_missing;    /* accesses that were compared with the last launches of a lane only */
	ws_race_u64 sweep;               /* race_reclaim.cuh: phase << 40 | unit to be looked at next */
	ws_race_u32 sweep_done, sweep_units;     /* units of the phase that are done; of one of cells: all */
	ws_race_u32 reused, reserved;    /* tickets for numbers to be taken again */
	ws_race_u64 waited;              /* blocks that have waited for room */
	ws_race_u64 probed;              /* blocks of the probe that have ended, and above, << 32, those that have found something */
	ws_race_u64 entered;             /* launches in which hooks did anything: all but those of a copy without hooks */
	ws_race_u32 launches[WS_RACE_GRIDS];     /* by launch number modulo: WS_RACE_LAUNCH_... */
	ws_race_u64 ranges[WS_RACE_GRIDS];       /* likewise: first segment of the blocks << 32 | launch; 0 = none yet */
	struct ws_race_all all[WS_RACE_GRIDS];   /* likewise */
	ws_race_u64 begins[WS_RACE_GRIDS];       /* likewise: what a counter was when it began: race_starts_at_zero << 32 | launch */
	ws_race_u64 rooms[WS_RACE_ROOMS];        /* by multiprocessor modulo: launch << 32 | threads of its blocks that go on */
};

/* ---- what was found ---- */
enum ws_race_pair { WS_RACE_READ_AFTER_WRITE, WS_RACE_WRITE_AFTER_READ, WS_RACE_WRITE_AFTER_WRITE };
/* When a pair of places was told that often, a word with that race is looked at no further in that launch, but by one access
 * of SAMPLE. */
#define WS_RACE_OFTEN        (1 << 12)
#define WS_RACE_SAMPLE       256
#define WS_RACE_MANY         1024        /* words of which that is so; then LESS_OFTEN suffices */
#define WS_RACE_LESS_OFTEN   (1 << 5)
#define WS_RACE_SAME_VALUE   1           /* the write found the value that it writes */
#define WS_RACE_SEVERAL      2           /* the other is one of several threads; which one is not known */
#define WS_RACE_SAME_INST    4           /* both at once: lanes of a warp that executed the same instruction */
#define WS_RACE_IN_FLIGHT    8           /* the other is an asynchronous copy that may go on */
/* It is about a block's shared memory, before the block has begun (`site` accesses it) or behind its end (the other one does);
 * ENDED: it is not known which thread of the block was the last. */
#define WS_RACE_LIFETIME_BEGINS 16
#define WS_RACE_LIFETIME_ENDS   32
#define WS_RACE_LIFETIME_ENDED  64
#define WS_RACE_ONE_CLUSTER  128         /* both blocks are of one cluster */
#define WS_RACE_PROXY        256         /* the write is ordered before the bulk copy, but for a fence of the async proxy */
#define WS_RACE_OTHER_LAUNCH 512         /* the other is of a launch that nothing orders with this one */
#define WS_RACE_WRITE_SITE_BITS 13       /* of the other's site, when it wrote */
#define WS_RACE_READ_SITE_BITS  12
/* One pair of places of one kernel is a row of a hash table, the same in two tables. `seen` is the GPU's: a race that is
 * found a million times must not go to the host's memory each time. key 0 = free. */
struct ws_race_seen {
	ws_race_u64 key;
	ws_race_u64 count;               /* accesses of threads that found it */
};
/* Who found it first. Valid when `ready` is not 0 (it is written last); read in any order. */
struct ws_race_found {
	ws_race_u64 address;             /* of the first byte in conflict: global, or an offset in shared memory */
	ws_race_u32 ready;
	ws_race_u32 module, kernel;
	ws_race_u32 pair, flags;
	ws_race_u32 space;               /* GLOBAL or SHARED */
	ws_race_u32 bytes;               /* in conflict */
	ws_race_u32 site;                /* of the access that found it (the later one) */
	ws_race_u32 other_site;          /* low bits only */
	ws_race_u32 what;                /* of the access that found it */
	ws_race_u32 other_class;
	ws_race_u32 grid;                /* low half of %gridid */
	ws_race_u32 block, other_block;  /* linear index in the grid */
	ws_race_u32 thread, other_thread;        /* linear index in the block */
	ws_race_u32 grid_dim[3], block_dim[3];
	/* Of the other's launch, where it is another one: */
	ws_race_u32 other_module, other_kernel, other_grid_dim[3], other_block_dim[3];
	ws_race_u32 stream, other_stream;
};

/* ---- the device's own; sizes only matter to the host ---- */
#define WS_RACE_SEGMENT_LEFT (1u << 31)
#define WS_RACE_SEGMENT_END  (1u << 30)
struct ws_race_segment {                 /* a stretch of a warp's life */
	ws_race_u32 grid, block, epoch;
	ws_race_u32 warp_sub;            /* warp: 5 bits, above them the number of warp syncs and fences before it */
	ws_race_u32 first;               /* the warp's first segment */
	/* Of the first one: lanes that have executed a WS_RACE_SC fence: of any scope, beyond the block. Of another: fenced[0] is
	 * the one that the warp had before and has not given back. */
	ws_race_u32 fenced[2];
	/* Of the first one: in what was summed up, no epoch is behind this. Of another: 0 = it is in use, or WS_RACE_SEGMENT_LEFT
	 * (with _END: when the block ended) and the phase of the sweep in which it was given back. */
	ws_race_u32 state;
	/* Of the first one: when the last fence was: epoch << 32 | sub behind it. Of another: last[0] is the time when it was given
	 * back, in nanoseconds. */
	ws_race_u64 last[2];
};
struct ws_race_record {
	ws_race_u32 previous;            /* record of the same list; 0 = none */
	ws_race_u32 kind_lane;
	ws_race_u32 words[6];
};
struct ws_race_links {                   /* of a release in lists, as few are: apart, so that a record is a sector of memory as a whole */
	ws_race_u32 words[4];
};
#define WS_RACE_RECORD_BYTES (sizeof(struct ws_race_record) + sizeof(struct ws_race_links))
/* A word that was written by a release, or a list of its releases. Of a word both may be a folded release (race_release.cuh). */
struct ws_race_location {
	ws_race_u64 key;
	ws_race_u32 release;             /* newest record */
	ws_race_u32 index;               /* of a word: how many releases it has; of a list: the record's number in its word's chain */
};

#endif
