/* rt_error.c - error codes: names, texts, the thread's last error, and what a failed kernel leaves behind. */
#include "cuda/rt.h"

#include <stdlib.h>

struct row {
	int code;
	const char *runtime, *driver, *text;
};

static const struct row rows[] = {
#define E(code, runtime, driver, text) {code, runtime, driver, text},
#include "cuda/errors.def"
#undef E
};

static _Thread_local int last_error;

static int by_code(const void *key, const void *row)
{
	int code = *(const int *)key, other = ((const struct row *)row)->code;

	return (code > other) - (code < other);
}

static const struct row *find(int code)
{
	return bsearch(&code, rows, WS_COUNT(rows), sizeof *rows, by_code);
}

const char *ws_error_name(int code)
{
	const struct row *r = find(code);

	return r && *r->runtime ? r->runtime : NULL;
}

const char *ws_error_driver_name(int code)
{
	const struct row *r = find(code);

	return r && *r->driver ? r->driver : NULL;
}

const char *ws_error_text(int code)
{
	const struct row *r = find(code);

	return r ? r->text : NULL;
}

int ws_fail(int code)
{
	if (code)
		last_error = code;
	return code;
}

int ws_begin(void)
{
	ws_call_begins();
	if (!ws_session())
		return ws_fail(WS_CUDA_NOT_INITIALIZED);
	return ws_fail(ws_session_sticky());
}

int ws_last_error(bool reset)
{
	int sticky = ws_session_sticky(), code = sticky ? sticky : last_error;

	if (reset)
		last_error = 0;
	return code;
}

/* Errors of a running kernel end the context, as on a real GPU; those of a launch that did not begin do not. */
int ws_error_from_gpu(enum ws_gpu_errcode code, bool *is_sticky)
{
	*is_sticky = true;
	switch (code) {
	case WS_GPU_BAD_ADDRESS:
		return WS_CUDA_ILLEGAL_ADDRESS;
	case WS_GPU_MISALIGNED:
		return WS_CUDA_MISALIGNED;
	case WS_GPU_BAD_INSTRUCTION:
		return WS_CUDA_ILLEGAL_INSTRUCTION;
	case WS_GPU_TRAP:
		return WS_CUDA_LAUNCH_FAILURE;
	case WS_GPU_ASSERT:
		return WS_CUDA_ASSERT;
	case WS_GPU_DEADLOCK:
	case WS_GPU_LIMIT:
		return WS_CUDA_LAUNCH_TIMEOUT;
	case WS_GPU_STACK:
		return WS_CUDA_STACK_ERROR;
	case WS_GPU_BAD_PC:
		return WS_CUDA_INVALID_PC;
	default:
		break;
	}
	*is_sticky = false;
	switch (code) {
	case WS_GPU_OK:
		return 0;
	case WS_GPU_NO_MEMORY:
		return WS_CUDA_NO_MEMORY;
	case WS_GPU_BAD_LAUNCH:
		return WS_CUDA_INVALID_CONFIGURATION;
	case WS_GPU_BAD_MODULE:
		return WS_CUDA_INVALID_PTX;
	case WS_GPU_UNSUPPORTED:
		return WS_CUDA_NOT_SUPPORTED;
	case WS_GPU_NOT_FOUND:
		return WS_CUDA_INVALID_DEVICE_FUNCTION;
	default:
		return WS_CUDA_UNKNOWN;
	}
}

int ws_unsupported(const char *name)
{
	ws_tell_unsupported(name);
	return ws_fail(WS_CUDA_NOT_SUPPORTED);
}

/* ---- entry points ---- */
WS_RT(cudaGetLastError, void)
{
	return ws_last_error(true);
}

WS_RT(cudaPeekAtLastError, void)
{
	return ws_last_error(false);
}

WS_RT_(const char *, cudaGetErrorName, int code)
{
	const char *name = ws_error_name(code);

	return name ? name : "unrecognized error code";
}

WS_RT_(const char *, cudaGetErrorString, int code)
{
	const char *text = ws_error_name(code) ? ws_error_text(code) : NULL;

	return text ? text : "unrecognized error code";
}
