/* warpsafe_clang_names.h - moves functions of clang's CUDA headers out of the way that warpsafe has its own versions of
 * (WS_CLANG_NAMES defined: before such a header), and gives the names back (undefined: after it). Why:
 * - barriers and fences: see warpsafe_sync.h;
 * - warp reductions: newer clangs have some of them;
 * - shuffles: those of unsigned long long call themselves for ever (seen in clang 14). */
#ifdef WS_CLANG_NAMES
#define __shfl ws_clang_shfl
#define __shfl_up ws_clang_shfl_up
#define __shfl_down ws_clang_shfl_down
#define __shfl_xor ws_clang_shfl_xor
#define __shfl_sync ws_clang_shfl_sync
#define __shfl_up_sync ws_clang_shfl_up_sync
#define __shfl_down_sync ws_clang_shfl_down_sync
#define __shfl_xor_sync ws_clang_shfl_xor_sync
#define __syncthreads_count ws_clang_syncthreads_count
#define __syncthreads_and ws_clang_syncthreads_and
#define __syncthreads_or ws_clang_syncthreads_or
#define __syncwarp ws_clang_syncwarp
#define __barrier_sync ws_clang_barrier_sync
#define __barrier_sync_count ws_clang_barrier_sync_count
#define __threadfence ws_clang_threadfence
#define __threadfence_block ws_clang_threadfence_block
#define __threadfence_system ws_clang_threadfence_system
#define __reduce_add_sync ws_clang_reduce_add_sync
#define __reduce_min_sync ws_clang_reduce_min_sync
#define __reduce_max_sync ws_clang_reduce_max_sync
#define __reduce_and_sync ws_clang_reduce_and_sync
#define __reduce_or_sync ws_clang_reduce_or_sync
#define __reduce_xor_sync ws_clang_reduce_xor_sync
#else
#undef __shfl
#undef __shfl_up
#undef __shfl_down
#undef __shfl_xor
#undef __shfl_sync
#undef __shfl_up_sync
#undef __shfl_down_sync
#undef __shfl_xor_sync
#undef __syncthreads_count
#undef __syncthreads_and
#undef __syncthreads_or
#undef __syncwarp
#undef __barrier_sync
#undef __barrier_sync_count
#undef __threadfence
#undef __threadfence_block
#undef __threadfence_system
#undef __reduce_add_sync
#undef __reduce_min_sync
#undef __reduce_max_sync
#undef __reduce_and_sync
#undef __reduce_or_sync
#undef __reduce_xor_sync
#endif
