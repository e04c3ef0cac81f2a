/* The tables of the CUDA front: errors, entry points of both APIs, the map behind the handles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "cuda/map.h"
#include "cuda/tables.h"

static void error_names(void **state)
{
	assert_string_equal(ws_error_name(0), "cudaSuccess");
	assert_string_equal(ws_error_name(WS_CUDA_ILLEGAL_ADDRESS), "cudaErrorIllegalAddress");
	assert_string_equal(ws_error_driver_name(WS_CUDA_NOT_FOUND), "CUDA_ERROR_NOT_FOUND");
	assert_string_equal(ws_error_text(WS_CUDA_NO_MEMORY), "out of memory");
	assert_null(ws_error_name(123456));
	assert_null(ws_error_driver_name(WS_CUDA_INVALID_CONFIGURATION));
}

/* Found by bisection: a row out of order would not be found. */
static void every_error_is_found(void **state)
{
	static const int codes[] = {
#define E(code, runtime, driver, text) code,
#include "cuda/errors.def"
#undef E
	};
	size_t i;

	for (i = 0; i < WS_COUNT(codes); i++)
		assert_non_null(ws_error_text(codes[i]));
}

static void every_entry_point_is_found(void **state)
{
	size_t i;

	for (i = 0; ws_rt_name_at(i); i++) {
		assert_true(ws_rt_find(ws_rt_name_at(i), false) != NULL);
		assert_true(ws_rt_find(ws_rt_name_at(i), true) != NULL);
	}
	assert_true(i >= 423);
	for (i = 0; ws_drv_name_at(i); i++)
		assert_true(ws_drv_find(ws_drv_name_at(i)) != NULL);
	assert_true(ws_rt_find("cudaNothing", false) == NULL);
	assert_true(ws_drv_find("cuNothing") == NULL);
}

static void newest_variant(void **state)
{
	assert_true(ws_drv_find("cuMemAlloc") == ws_drv_find("cuMemAlloc_v2"));
	assert_true(ws_rt_find("cudaGetDeviceProperties", true) != ws_rt_find("cudaGetDeviceProperties", false));
	assert_true(ws_rt_find("cudaMemcpyAsync_ptsz", false) != ws_rt_find("cudaMemcpyAsync", false));
	assert_true(ws_rt_find("cudaStreamGetId_ptsz", false) == ws_rt_find("cudaStreamGetId", false));
}

static void gpu_errors(void **state)
{
	bool stays;

	assert_int_equal(ws_error_from_gpu(WS_GPU_BAD_ADDRESS, &stays), 700);
	assert_true(stays);
	assert_int_equal(ws_error_from_gpu(WS_GPU_MISALIGNED, &stays), 716);
	assert_int_equal(ws_error_from_gpu(WS_GPU_ASSERT, &stays), 710);
	assert_int_equal(ws_error_from_gpu(WS_GPU_DEADLOCK, &stays), 702);
	assert_true(stays);
	assert_int_equal(ws_error_from_gpu(WS_GPU_BAD_LAUNCH, &stays), 9);
	assert_false(stays);
	assert_int_equal(ws_error_from_gpu(WS_GPU_OK, &stays), 0);
	assert_false(stays);
}

static void map(void **state)
{
	static char keys[5000];
	struct ws_map m = { 0 };
	size_t i;

	assert_null(ws_map_get(&m, keys));
	ws_map_remove(&m, keys);
	for (i = 0; i < sizeof keys; i++)
		ws_map_put(&m, keys + i, keys + i);
	for (i = 0; i < sizeof keys; i += 2)
		ws_map_remove(&m, keys + i);
	assert_int_equal(m.n, sizeof keys / 2);
	for (i = 0; i < sizeof keys; i++)
		assert_ptr_equal(ws_map_get(&m, keys + i), i % 2 ? keys + i : NULL);
	for (i = 0; i < sizeof keys; i++)
		ws_map_put(&m, keys + i, keys);
	assert_int_equal(m.n, sizeof keys);
	assert_ptr_equal(ws_map_get(&m, keys + 4999), keys);
	for (i = 0; i < 100000; i++) {     /* a handle that comes and goes does not fill the table */
		ws_map_put(&m, (char *)0x1000 + i, keys);
		ws_map_remove(&m, (char *)0x1000 + i);
	}
	assert_true(m.cap <= 65536);
	ws_map_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(error_names), cmocka_unit_test(every_error_is_found), cmocka_unit_test(every_entry_point_is_found),
		cmocka_unit_test(newest_variant), cmocka_unit_test(gpu_errors), cmocka_unit_test(map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
