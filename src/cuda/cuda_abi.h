/* cuda_abi.h - the binary interface of CUDA as far as we answer it: constants and structs, in our own words.
 *
 * Values and layouts are those of the CUDA Runtime API and Driver API references (release 13.0; for 11 and 12 where it
 * says so). tests/cuda/abi.cu compares them with a toolkit's headers where one is installed. */
#ifndef WS_CUDA_ABI_H
#define WS_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

/* cudaError_t and CUresult share their numbers from CUDA 10.2 on; texts are in errors.def. */
enum ws_cuda_error {
	WS_CUDA_OK = 0,
	WS_CUDA_INVALID_VALUE = 1,
	WS_CUDA_NO_MEMORY = 2,
	WS_CUDA_NOT_INITIALIZED = 3,
	WS_CUDA_INVALID_CONFIGURATION = 9,
	WS_CUDA_INVALID_PITCH = 12,
	WS_CUDA_INVALID_SYMBOL = 13,
	WS_CUDA_INVALID_DEVICE_POINTER = 17,
	WS_CUDA_INVALID_MEMCPY_DIRECTION = 21,
	WS_CUDA_MISSING_CONFIGURATION = 52,
	WS_CUDA_INVALID_DEVICE_FUNCTION = 98,
	WS_CUDA_INVALID_DEVICE = 101,
	WS_CUDA_INVALID_IMAGE = 200,
	WS_CUDA_INVALID_CONTEXT = 201,
	WS_CUDA_NO_KERNEL_IMAGE = 209,
	WS_CUDA_UNSUPPORTED_LIMIT = 215,
	WS_CUDA_PEER_UNSUPPORTED = 217,
	WS_CUDA_INVALID_PTX = 218,
	WS_CUDA_FILE_NOT_FOUND = 301,
	WS_CUDA_INVALID_HANDLE = 400,
	WS_CUDA_ILLEGAL_STATE = 401,
	WS_CUDA_NOT_FOUND = 500,
	WS_CUDA_NOT_READY = 600,
	WS_CUDA_ILLEGAL_ADDRESS = 700,
	WS_CUDA_OUT_OF_RESOURCES = 701,
	WS_CUDA_LAUNCH_TIMEOUT = 702,
	WS_CUDA_PEER_NOT_ENABLED = 705,
	WS_CUDA_ASSERT = 710,
	WS_CUDA_ALREADY_REGISTERED = 712,
	WS_CUDA_NOT_REGISTERED = 713,
	WS_CUDA_STACK_ERROR = 714,
	WS_CUDA_ILLEGAL_INSTRUCTION = 715,
	WS_CUDA_MISALIGNED = 716,
	WS_CUDA_INVALID_PC = 718,
	WS_CUDA_LAUNCH_FAILURE = 719,
	WS_CUDA_COOPERATIVE_TOO_LARGE = 720,
	WS_CUDA_NOT_SUPPORTED = 801,
	WS_CUDA_CAPTURE_UNSUPPORTED = 900,
	WS_CUDA_CAPTURE_INVALIDATED = 901,
	WS_CUDA_CAPTURE_UNMATCHED = 903,
	WS_CUDA_CAPTURE_UNJOINED = 904,
	WS_CUDA_CAPTURE_IMPLICIT = 906,
	WS_CUDA_CAPTURED_EVENT = 907,
	WS_CUDA_UPDATE_FAILURE = 910,
	WS_CUDA_INVALID_CLUSTER_SIZE = 912,
	WS_CUDA_UNKNOWN = 999
};

enum ws_cuda_kind { WS_COPY_HH, WS_COPY_HD, WS_COPY_DH, WS_COPY_DD, WS_COPY_DEFAULT };
enum ws_cuda_memtype { WS_MT_UNREGISTERED, WS_MT_HOST, WS_MT_DEVICE, WS_MT_MANAGED };

enum {
	WS_STREAM_LEGACY = 1,
	WS_STREAM_PER_THREAD = 2, /* stream handles that are no pointers */
	WS_STREAM_NON_BLOCKING = 1,
	WS_EVENT_BLOCKING_SYNC = 1,
	WS_EVENT_DISABLE_TIMING = 2,
	WS_EVENT_INTERPROCESS = 4,
	WS_HOST_ALLOC_ALL = 7, /* portable, mapped, write combined */
	WS_ATTACH_GLOBAL = 1,
	WS_ATTACH_HOST = 2
};

enum {
	WS_LIMIT_STACK,
	WS_LIMIT_PRINTF,
	WS_LIMIT_HEAP,
	WS_LIMIT_SYNC_DEPTH,
	WS_LIMIT_PENDING,
	WS_LIMIT_L2_FETCH,
	WS_LIMIT_PERSISTING_L2,
	WS_LIMIT_COUNT
};

enum { /* cudaFuncAttribute */
       WS_FUNC_MAX_DYNAMIC_SHARED = 8,
       WS_FUNC_CARVEOUT = 9,
       WS_FUNC_CLUSTER_MUST_BE_SET = 10,
       WS_FUNC_CLUSTER_WIDTH = 11,
       WS_FUNC_CLUSTER_HEIGHT = 12,
       WS_FUNC_CLUSTER_DEPTH = 13,
       WS_FUNC_NON_PORTABLE_CLUSTER = 14,
       WS_FUNC_ATTRIBUTE_END = 16
};

enum { WS_LAUNCH_COOPERATIVE = 2, WS_LAUNCH_CLUSTER = 4, WS_LAUNCH_EARLY = 6 }; /* cudaLaunchAttributeID; 6: programmatic
                                                                                   * stream serialization */
enum { WS_CAPTURE_NONE, WS_CAPTURE_ACTIVE, WS_CAPTURE_INVALID };
enum ws_node_type { /* cudaGraphNodeType */
		    WS_NODE_KERNEL,
		    WS_NODE_MEMCPY,
		    WS_NODE_MEMSET,
		    WS_NODE_HOST,
		    WS_NODE_GRAPH,
		    WS_NODE_EMPTY,
		    WS_NODE_WAIT,
		    WS_NODE_RECORD,
		    WS_NODE_ALLOC = 10,
		    WS_NODE_FREE = 11
};
enum { WS_POOL_FIRST = 1, WS_POOL_RELEASE_THRESHOLD = 4, WS_POOL_LAST = 8 };
enum {
	WS_MEMORY_RANGE_READ_MOSTLY = 1,
	WS_MEMORY_RANGE_PREFERRED,
	WS_MEMORY_RANGE_ACCESSED_BY,
	WS_MEMORY_RANGE_PREFETCH
};

struct ws_dim3 {
	unsigned x, y, z;
};

struct ws_uuid {
	unsigned char bytes[16];
};

struct ws_pitched_ptr {
	void *ptr;
	size_t pitch, xsize, ysize;
};
struct ws_extent {
	size_t width, height, depth;
};
struct ws_pos {
	size_t x, y, z;
};

struct ws_memcpy3d { /* cudaMemcpy3DParms */
	void *src_array;
	struct ws_pos src_pos;
	struct ws_pitched_ptr src;
	void *dst_array;
	struct ws_pos dst_pos;
	struct ws_pitched_ptr dst;
	struct ws_extent extent;
	int kind;
};

struct ws_memcpy3d_peer { /* cudaMemcpy3DPeerParms */
	void *src_array;
	struct ws_pos src_pos;
	struct ws_pitched_ptr src;
	int src_device;
	void *dst_array;
	struct ws_pos dst_pos;
	struct ws_pitched_ptr dst;
	int dst_device;
	struct ws_extent extent;
};

struct ws_pointer_attributes {
	int type, device;
	void *device_pointer, *host_pointer;
	long reserved[8];
};

struct ws_func_attributes {
	size_t shared_bytes, const_bytes, local_bytes;
	int max_threads, regs, ptx_version, binary_version, cache_mode_ca, max_dynamic_shared, carveout;
	int cluster_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_policy, non_portable_cluster;
	int reserved[16];
};

struct ws_launch_attribute {
	int id;
	char pad[4];
	union {
		char bytes[64];
		int cooperative, priority, early;
		struct ws_dim3 cluster;
	} value;
};

struct ws_launch_config { /* cudaLaunchConfig_t */
	struct ws_dim3 grid, block;
	size_t shared;
	void *stream;
	struct ws_launch_attribute *attrs;
	unsigned nattrs;
};

struct ws_kernel_node_params {
	void *func;
	struct ws_dim3 grid, block;
	unsigned shared;
	void **params;
	void **extra;
};

struct ws_memset_params {
	void *dst;
	size_t pitch;
	unsigned value, element;
	size_t width, height;
};
struct ws_host_node_params {
	void (*fn)(void *);
	void *user;
};
struct ws_mem_location {
	int type, id;
};

struct ws_pool_props { /* cudaMemPoolProps */
	int alloc_type, handle_types;
	struct ws_mem_location location;
	void *security;
	size_t max_size;
	unsigned short usage;
	unsigned char reserved[54];
};

struct ws_alloc_node_params { /* cudaMemAllocNodeParams */
	struct ws_pool_props props;
	const void *access;
	size_t naccess, bytes;
	void *ptr;
};

struct ws_graph_node_params { /* cudaGraphNodeParams */
	int type, reserved0[3];
	union {
		long long reserved1[29];
		struct ws_kernel_node_params kernel;
		struct {
			int flags, reserved[3];
			struct ws_memcpy3d copy;
		} memcpy;
		struct ws_memset_params memset;
		struct ws_host_node_params host;
		struct {
			void *graph;
		} graph;
		struct {
			void *event;
		} event;
		struct ws_alloc_node_params alloc;
		struct {
			void *ptr;
		} free;
	} u;
	long long reserved2;
};

struct ws_graph_update_info {
	int result;
	void *error_node, *error_from;
};
struct ws_graph_instantiate_params {
	unsigned long long flags;
	void *upload, *error_node;
	int result;
};

/* cudaDeviceProp of CUDA 12 and 13. Those of 11 and before are the first WS_PROP11_BYTES bytes of CUDA 12's. */
struct ws_prop13 {
	char name[256];
	struct ws_uuid uuid;
	char luid[8];
	unsigned luid_mask;
	size_t global_bytes, shared_block;
	int regs_block, warp;
	size_t pitch;
	int threads_block, block[3], grid[3];
	size_t const_bytes;
	int major, minor;
	size_t texture_align, texture_pitch_align;
	int sms, integrated, map_host;
	int textures[25], surfaces[14];
	size_t surface_align;
	int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified_addressing;
	int bus_width, l2_bytes, l2_persisting, threads_sm, stream_priorities, global_l1, local_l1;
	size_t shared_sm;
	int regs_sm, managed, multi_gpu, multi_gpu_group, host_atomics, pageable, concurrent_managed, preemption;
	int host_pointer_registered, cooperative;
	size_t shared_optin;
	int pageable_host_tables, direct_managed, blocks_sm, access_window;
	size_t shared_reserved;
	int host_register, sparse, register_read_only, timeline_semaphores, pools, rdma;
	unsigned rdma_flush;
	int rdma_order;
	unsigned pool_handles;
	int deferred_arrays, ipc_event, cluster, unified_functions, numa_config, numa_id, mps, host_numa;
	unsigned pci_device_id, pci_subsystem_id;
	int numa_ipc, reserved[56];
};

struct ws_prop12 {
	char name[256];
	struct ws_uuid uuid;
	char luid[8];
	unsigned luid_mask;
	size_t global_bytes, shared_block;
	int regs_block, warp;
	size_t pitch;
	int threads_block, block[3], grid[3], clock;
	size_t const_bytes;
	int major, minor;
	size_t texture_align, texture_pitch_align;
	int overlap, sms, exec_timeout, integrated, map_host, compute_mode;
	int textures[26], surfaces[14];
	size_t surface_align;
	int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified_addressing;
	int memory_clock, bus_width, l2_bytes, l2_persisting, threads_sm, stream_priorities, global_l1, local_l1;
	size_t shared_sm;
	int regs_sm, managed, multi_gpu, multi_gpu_group, host_atomics, single_to_double, pageable, concurrent_managed;
	int preemption, host_pointer_registered, cooperative, cooperative_multi;
	size_t shared_optin;
	int pageable_host_tables, direct_managed, blocks_sm, access_window;
	size_t shared_reserved;
	int host_register, sparse, register_read_only, timeline_semaphores, pools, rdma;
	unsigned rdma_flush;
	int rdma_order;
	unsigned pool_handles;
	int deferred_arrays, ipc_event, cluster, unified_functions, reserved[63];
};
#define WS_PROP11_BYTES offsetof(struct ws_prop12, host_register)

#endif
