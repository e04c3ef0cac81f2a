/* drv_link.c - driver API: the linker. A link keeps its inputs; what it makes is no machine code but the inputs again, in
 * a form of our own that every call for loading a module understands (program.c): they are linked when that is loaded. */
#include "cuda/drv.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/map.h"

enum { INPUT_CUBIN, INPUT_PTX, INPUT_FATBINARY };    /* CUjitInputType */

struct link {
	struct ws_buf made;          /* header, then for each input u64 bytes and the bytes; the program reads it, too */
};

static struct ws_map links;

static struct link *link_of(void *state)
{
	struct link *l;

	ws_front_lock();
	l = ws_map_get(&links, state);
	ws_front_unlock();
	return l;
}

/* The options are those of NVIDIA's compiler; their values that are results keep what the caller put there. */
WS_RT(cuLinkCreate_v2, unsigned n, const int *options, void **values, void **state)
{
	struct ws_linked_header h = {.len = sizeof h};
	struct link *l;

	WS_DRV_BEGIN();
	if (!state)
		return WS_CUDA_INVALID_VALUE;
	memcpy(h.magic, WS_LINKED_MAGIC, sizeof h.magic);
	l = ws_alloc(sizeof *l);
	ws_buf_add(&l->made, &h, sizeof h);
	ws_front_lock();
	ws_map_put(&links, l, l);
	ws_front_unlock();
	*state = l;
	return 0;
}

static int add_input(void *state, int type, const void *data, size_t size)
{
	struct link *l = link_of(state);
	struct ws_fatbin f = {0};
	const char *why = NULL;
	uint64_t len = size;
	bool fine;

	if (!l || !data || !size)
		return l ? WS_CUDA_INVALID_VALUE : WS_CUDA_INVALID_HANDLE;
	fine = (type == INPUT_PTX || type == INPUT_FATBINARY) && ws_fatbin_read(&f, data, size, &why) &&
	       ws_fatbin_ptx(&f, UINT32_MAX);
	ws_fatbin_free(&f);
	if (!fine) {
		ws_tell("cuLinkAddData: only PTX can be linked, alone or in a fat binary%s%s", why ? ": " : "",
		        why ? why : "");
		return type == INPUT_PTX ? WS_CUDA_INVALID_PTX : WS_CUDA_NO_KERNEL_IMAGE;
	}
	ws_buf_add(&l->made, &len, sizeof len);
	ws_buf_add(&l->made, data, size);
	len = l->made.len;
	memcpy(l->made.data + offsetof(struct ws_linked_header, len), &len, sizeof len);
	return 0;
}

WS_RT(cuLinkAddData_v2, void *state, int type, const void *data, size_t size, const char *name, unsigned n,
      const int *options, void **values)
{
	WS_DRV_BEGIN();
	return add_input(state, type, data, size);
}

WS_RT(cuLinkAddFile_v2, void *state, int type, const char *path, unsigned n, const int *options, void **values)
{
	size_t len = 0;
	char *data;
	int e;

	WS_DRV_BEGIN();
	data = path ? ws_read_file(path, &len) : NULL;
	if (!data)
		return path ? WS_CUDA_FILE_NOT_FOUND : WS_CUDA_INVALID_VALUE;
	e = add_input(state, type, data, len);
	free(data);
	return e;
}

WS_RT(cuLinkComplete, void *state, void **cubin, size_t *size)
{
	struct link *l;

	WS_DRV_BEGIN();
	l = link_of(state);
	if (!l || !cubin)
		return l ? WS_CUDA_INVALID_VALUE : WS_CUDA_INVALID_HANDLE;
	*cubin = l->made.data;
	if (size)
		*size = l->made.len;
	return 0;
}

WS_RT(cuLinkDestroy, void *state)
{
	struct link *l;

	WS_DRV_BEGIN();
	l = link_of(state);
	if (!l)
		return WS_CUDA_INVALID_HANDLE;
	ws_front_lock();
	ws_map_remove(&links, l);
	ws_front_unlock();
	ws_buf_free(&l->made);
	free(l);
	return 0;
}
