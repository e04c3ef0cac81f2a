/* cluster.c - thread block clusters as CUDA's calls see them: which sizes a launch may have, how many clusters fit
 * (CUDA C++ Programming Guide, Thread Block Clusters; CUDA Runtime API, Occupancy). */
#include "cuda/drv.h"

enum { PORTABLE = 8, NON_PORTABLE = 16 };

static unsigned most_blocks(const struct ws_function *f)
{
	return ws_gpu_config(ws_session()->gpu)->cc < 90 ? 1 : f->non_portable_cluster ? NON_PORTABLE : PORTABLE;
}

/* __cluster_dims__ of programs that warpsafe cc compiled. */
static int ask_section(struct ws_function *f)
{
	struct ws_dim3 size = {0, 0, 0};
	int found = f->cluster_known ? 0 : ws_cluster_section(f->stub, &size);

	if (found < 0) {
		ws_tell("the sizes of __cluster_dims__ of '%s' must be numbers", f->plain);
		return WS_CUDA_INVALID_CLUSTER_SIZE;
	}
	f->cluster_known = true;
	if (found)
		f->required_cluster = size;
	return 0;
}

/* The size that the launch, an attribute of the function, or the kernel's text asks for. */
static struct ws_dim3 size_of(const struct ws_function *f, struct ws_dim3 asked)
{
	struct ws_kernel_info info;
	const uint32_t *r;

	if (asked.x || asked.y || asked.z)
		return asked;
	if (f->required_cluster.x || f->required_cluster.y || f->required_cluster.z)
		return f->required_cluster;
	ws_gpu_kernel_info(f->kernel, &info);
	r = info.func->reqnctapercluster;
	return (struct ws_dim3){r[0], r[1], r[2]};
}

static uint64_t blocks_of(struct ws_dim3 d)
{
	return (uint64_t)(d.x ? d.x : 1) * (d.y ? d.y : 1) * (d.z ? d.z : 1);
}

int ws_cluster_check(struct ws_kernel_op *k)
{
	struct ws_dim3 required;
	int e = ask_section(k->f);

	if (e)
		return e;
	required = k->f->required_cluster;
	if (!k->cluster.x && !k->cluster.y && !k->cluster.z)
		k->cluster = required;
	else if (blocks_of(required) > 1 && (required.x != k->cluster.x || required.y != k->cluster.y ||
	                                     required.z != k->cluster.z))
		return WS_CUDA_INVALID_CLUSTER_SIZE;
	return blocks_of(size_of(k->f, k->cluster)) > most_blocks(k->f) ? WS_CUDA_INVALID_CLUSTER_SIZE : 0;
}

int ws_cluster_attribute(struct ws_function *f, int attribute, int value)
{
	unsigned *part[] = {&f->required_cluster.x, &f->required_cluster.y, &f->required_cluster.z};

	if (value < 0)
		return WS_CUDA_INVALID_VALUE;
	if (attribute == WS_FUNC_NON_PORTABLE_CLUSTER)
		f->non_portable_cluster = value != 0;
	else
		*part[attribute - WS_FUNC_CLUSTER_WIDTH] = (unsigned)value;
	return 0;
}

void ws_cluster_attributes(struct ws_function *f, int out[6])
{
	struct ws_kernel_info info;
	struct ws_dim3 d;

	ask_section(f);
	d = size_of(f, (struct ws_dim3){0, 0, 0});
	ws_gpu_kernel_info(f->kernel, &info);
	out[0] = info.func->explicitcluster && !d.x;
	out[1] = (int)d.x;
	out[2] = (int)d.y;
	out[3] = (int)d.z;
	out[4] = 0;
	out[5] = f->non_portable_cluster;
}

/* ---- occupancy ---- */
static uint32_t per_sm(const struct ws_function *f, const struct ws_launch_config *c)
{
	return ws_gpu_occupancy(ws_session()->gpu, f->kernel, c->block.x * c->block.y * c->block.z, c->shared);
}

static int potential(int *out, struct ws_function *f, const struct ws_launch_config *c)
{
	if (!out || !c)
		return WS_CUDA_INVALID_VALUE;
	*out = per_sm(f, c) ? (int)most_blocks(f) : 0;
	return 0;
}

static int active(int *out, struct ws_function *f, const struct ws_launch_config *c)
{
	struct ws_dim3 asked = {0, 0, 0};
	uint64_t size;
	int e = ask_section(f);

	if (e || !out || !c)
		return e ? e : WS_CUDA_INVALID_VALUE;
	for (unsigned i = 0; i < c->nattrs; i++)
		if (c->attrs[i].id == WS_LAUNCH_CLUSTER)
			asked = c->attrs[i].value.cluster;
	size = blocks_of(size_of(f, asked));
	if (size > most_blocks(f))
		return WS_CUDA_INVALID_CLUSTER_SIZE;
	*out = (int)((uint64_t)per_sm(f, c) * ws_gpu_config(ws_session()->gpu)->sms / size);
	return 0;
}

WS_RT(cudaOccupancyMaxPotentialClusterSize, int *out, const void *func, const struct ws_launch_config *config)
{
	struct ws_function *f;
	int e;

	WS_BEGIN();
	f = ws_function_of(func, &e);
	return ws_fail(e ? e : potential(out, f, config));
}

WS_RT(cudaOccupancyMaxActiveClusters, int *out, const void *func, const struct ws_launch_config *config)
{
	struct ws_function *f;
	int e;

	WS_BEGIN();
	f = ws_function_of(func, &e);
	return ws_fail(e ? e : active(out, f, config));
}

static int with_config(int *out, void *func, const struct ws_drv_config *c,
                       int (*fn)(int *, struct ws_function *, const struct ws_launch_config *))
{
	struct ws_launch_config config;
	struct ws_function *f;
	int e;

	WS_DRV_BEGIN();
	if (!c)
		return WS_CUDA_INVALID_VALUE;
	config = ws_drv_launch_config(c);
	f = ws_function_of(func, &e);
	return ws_drv(e ? e : fn(out, f, &config));
}

WS_RT(cuOccupancyMaxPotentialClusterSize, int *out, void *func, const struct ws_drv_config *config)
{
	return with_config(out, func, config, potential);
}

WS_RT(cuOccupancyMaxActiveClusters, int *out, void *func, const struct ws_drv_config *config)
{
	return with_config(out, func, config, active);
}
