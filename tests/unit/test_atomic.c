/* test_atomic.c - atom and red: each type and operation, alone and beside other threads. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "gpu/atomic.h"

static ws_atomic_fn *find(enum ws_atom atom, enum ws_type type, unsigned vec, enum ws_space space, bool threads)
{
	struct ws_ptx_inst inst = {.atom = (uint8_t)atom, .vec = (uint8_t)vec, .ntypes = 1};
	const char *why = NULL;
	inst.type[0] = (uint8_t)type;
	ws_atomic_fn *fn = ws_atomic_find(&inst, space, threads, &why);
	assert_true(!fn == !!why);
	return fn;
}

static _Alignas(16) uint8_t memory[512];
static uint8_t *host[32];

/* Lane l's location is memory + l * stride. */
static void point(unsigned stride)
{
	for (unsigned l = 0; l < 32; l++)
		host[l] = memory + l * stride;
}

/* One lane, one operation on `old` with b: returns what is in memory then, checks the value given back. */
static uint64_t one(enum ws_atom atom, enum ws_type type, uint64_t old, uint64_t b, enum ws_space space, bool threads)
{
	union { uint16_t h[32]; uint32_t w[32]; uint64_t q[64]; } a = {{0}}, d = {{0}};
	unsigned width = ws_type_bytes(type), lane = 5;
	struct ws_atomic_args x = {.host = host, .mask = 1u << lane, .a = {&a}, .d = {&d}};
	uint64_t got = 0, back = 0;
	point(16);
	memcpy(host[lane], &old, width);
	memcpy((uint8_t *)&a + lane * width, &b, width);
	assert_int_equal(find(atom, type, 1, space, threads)(&x), x.mask);
	memcpy(&got, host[lane], width);
	memcpy(&back, (uint8_t *)&d + lane * width, width);
	assert_int_equal(back, old);
	return got;
}

static void both(enum ws_atom atom, enum ws_type type, uint64_t old, uint64_t b, uint64_t want)
{
	assert_int_equal(one(atom, type, old, b, WS_SPACE_GLOBAL, false), want);
	assert_int_equal(one(atom, type, old, b, WS_SPACE_GLOBAL, true), want);
	assert_int_equal(one(atom, type, old, b, WS_SPACE_SHARED, false), want);
}

static void test_integers(void **state)
{
	(void)state;
	both(WS_ATOM_ADD, WS_U32, 0xffffffff, 2, 1);
	both(WS_ATOM_ADD, WS_S32, 5, 0xfffffffe, 3);
	both(WS_ATOM_ADD, WS_U64, UINT64_MAX, 3, 2);
	both(WS_ATOM_INC, WS_U32, 4, 5, 5);
	both(WS_ATOM_INC, WS_U32, 5, 5, 0);
	both(WS_ATOM_INC, WS_U32, 9, 5, 0);
	both(WS_ATOM_DEC, WS_U32, 4, 5, 3);
	both(WS_ATOM_DEC, WS_U32, 0, 5, 5);
	both(WS_ATOM_DEC, WS_U32, 6, 5, 5);
	both(WS_ATOM_MIN, WS_U32, 0xffffffff, 1, 1);
	both(WS_ATOM_MIN, WS_S32, 0xffffffff, 1, 0xffffffff);
	both(WS_ATOM_MAX, WS_U32, 0xffffffff, 1, 0xffffffff);
	both(WS_ATOM_MAX, WS_S32, 0xffffffff, 1, 1);
	both(WS_ATOM_MIN, WS_U64, UINT64_MAX, 1, 1);
	both(WS_ATOM_MIN, WS_S64, UINT64_MAX, 1, UINT64_MAX);
	both(WS_ATOM_MAX, WS_U64, UINT64_MAX, 1, UINT64_MAX);
	both(WS_ATOM_MAX, WS_S64, UINT64_MAX, 1, 1);
	both(WS_ATOM_AND, WS_B32, 0xff00ff00, 0x0ff00ff0, 0x0f000f00);
	both(WS_ATOM_OR, WS_B32, 0xff00ff00, 0x0ff00ff0, 0xfff0fff0);
	both(WS_ATOM_XOR, WS_B32, 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0);
	both(WS_ATOM_AND, WS_B64, 0xff00ff00ff00ff00, 0x0ff00ff00ff00ff0, 0x0f000f000f000f00);
	both(WS_ATOM_OR, WS_B64, 0xff00000000000000, 1, 0xff00000000000001);
	both(WS_ATOM_XOR, WS_B64, 0xff00000000000001, 1, 0xff00000000000000);
	both(WS_ATOM_EXCH, WS_B32, 1, 0x80000000, 0x80000000);
	both(WS_ATOM_EXCH, WS_B64, 1, 0x8000000000000000, 0x8000000000000000);
}

static void test_floats(void **state)
{
	(void)state;
	both(WS_ATOM_ADD, WS_F32, 0x3f800000, 0x40000000, 0x40400000);
	both(WS_ATOM_ADD, WS_F32, 0x7f800000, 0xff800000, 0x7fffffff);
	both(WS_ATOM_ADD, WS_F32, 0x7fc12345, 0x3f800000, 0x7fffffff);
	both(WS_ATOM_ADD, WS_F64, 0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000);
	both(WS_ATOM_ADD, WS_F64, 1, 1, 2);      /* subnormals stay */
	both(WS_ATOM_ADD, WS_F64, 0x7ff0000000000003, 0x3ff0000000000000, 0x7ff0000000000003);
	both(WS_ATOM_ADD, WS_F64, 0x7ff8000000000005, 0x7ff0000000000001, 0x7ff0000000000001);
	both(WS_ATOM_ADD, WS_F64, 0x7ff0000000000000, 0xfff0000000000000, 0xfff8000000000000);
	assert_int_equal(one(WS_ATOM_ADD, WS_F32, 1, 1, WS_SPACE_GLOBAL, false), 0);
	assert_int_equal(one(WS_ATOM_ADD, WS_F32, 1, 1, WS_SPACE_GLOBAL, true), 0);
	assert_int_equal(one(WS_ATOM_ADD, WS_F32, 1, 1, WS_SPACE_SHARED, false), 2);
	assert_int_equal(one(WS_ATOM_ADD, WS_F32, 1, 1, WS_SPACE_SHARED, true), 2);
	assert_int_equal(one(WS_ATOM_ADD, WS_F32, 0x80000001, 0x80000001, WS_SPACE_GLOBAL, false), 0x80000000);
	/* a subnormal result of normal numbers */
	assert_int_equal(one(WS_ATOM_ADD, WS_F32, 0x00800001, 0x80800000, WS_SPACE_GLOBAL, false), 0);
	assert_int_equal(one(WS_ATOM_ADD, WS_F32, 0x00800001, 0x80800000, WS_SPACE_SHARED, false), 1);
}

static void test_halves(void **state)
{
	(void)state;
	both(WS_ATOM_ADD, WS_F16, 0x3c00, 0x3c00, 0x4000);       /* 1 + 1 */
	both(WS_ATOM_ADD, WS_F16, 0x0001, 0x0001, 0x0002);       /* subnormals */
	both(WS_ATOM_ADD, WS_F16, 0x03ff, 0x0001, 0x0400);
	both(WS_ATOM_ADD, WS_F16, 0x7bff, 0x7bff, 0x7c00);       /* overflow */
	both(WS_ATOM_ADD, WS_F16, 0x7bff, 0x4c00, 0x7c00);       /* 65504 + 16: a tie, to even */
	both(WS_ATOM_ADD, WS_F16, 0x7bff, 0x4bff, 0x7bff);       /* just below */
	both(WS_ATOM_ADD, WS_F16, 0x6800, 0x3c00, 0x6800);       /* 2048 + 1: a tie, down to even */
	both(WS_ATOM_ADD, WS_F16, 0x6801, 0x3c00, 0x6802);       /* 2050 + 1: a tie, up to even */
	both(WS_ATOM_ADD, WS_F16, 0x7c00, 0xfc00, 0x7fff);
	both(WS_ATOM_ADD, WS_F16, 0x8000, 0x8000, 0x8000);
	both(WS_ATOM_ADD, WS_BF16, 0x3f80, 0x3f80, 0x4000);
	both(WS_ATOM_ADD, WS_BF16, 0x4380, 0x3f80, 0x4380);      /* 256 + 1: a tie, down */
	both(WS_ATOM_ADD, WS_BF16, 0x4381, 0x3f80, 0x4382);      /* 258 + 1: a tie, up */
	both(WS_ATOM_ADD, WS_BF16, 0x7f7f, 0x7f7f, 0x7f80);
	both(WS_ATOM_ADD, WS_BF16, 0x0001, 0x0001, 0x0002);
	both(WS_ATOM_ADD, WS_BF16, 0x7fc0, 0x0001, 0x7fff);
	both(WS_ATOM_MIN, WS_F16, 0x0000, 0x8000, 0x8000);
	both(WS_ATOM_MAX, WS_F16, 0x8000, 0x0000, 0x0000);
	both(WS_ATOM_MIN, WS_F16, 0x7e00, 0x4000, 0x4000);
	both(WS_ATOM_MAX, WS_F16, 0x7e00, 0xfe00, 0x7fff);
	both(WS_ATOM_MIN, WS_F16, 0xc000, 0xbc00, 0xc000);       /* -2, -1 */
	both(WS_ATOM_MAX, WS_BF16, 0xc000, 0xbf80, 0xbf80);
	both(WS_ATOM_MIN, WS_BF16, 0x7f80, 0x7f7f, 0x7f7f);
	both(WS_ATOM_ADD, WS_F16X2, 0x3c000001, 0x3c000001, 0x40000002);
	both(WS_ATOM_MIN, WS_F16X2, 0xc0003c00, 0xbc004000, 0xc0003c00);
	both(WS_ATOM_MAX, WS_BF16X2, 0xc0003f80, 0xbf804000, 0xbf804000);
	both(WS_ATOM_ADD, WS_BF16X2, 0x3f803f80, 0x3f800000, 0x40003f80);
	both(WS_ATOM_MAX, WS_F16X2, 0x7e007e00, 0x00017e00, 0x00017fff);
	both(WS_ATOM_MIN, WS_BF16X2, 0x00008000, 0x80000000, 0x80008000);
}

/* All lanes on one word: old values in lane order, the lowest first. */
static void test_lane_order(void **state)
{
	(void)state;
	for (int threads = 0; threads < 2; threads++) {
		uint32_t a[32], d[32], mask = 0xfffffff0;
		struct ws_atomic_args x = {.host = host, .mask = mask, .a = {a}, .d = {d}};
		point(0);
		*(uint32_t *)memory = 100;
		for (uint32_t l = 0; l < 32; l++) {
			a[l] = l;
			d[l] = 7;
		}
		assert_int_equal(find(WS_ATOM_ADD, WS_U32, 1, WS_SPACE_GLOBAL, threads)(&x), mask);
		uint32_t sum = 100;
		for (uint32_t l = 0; l < 32; l++) {
			assert_int_equal(d[l], l < 4 ? 7 : sum);
			sum += l < 4 ? 0 : l;
		}
		assert_int_equal(*(uint32_t *)memory, sum);
		x.d[0] = NULL;
		find(WS_ATOM_EXCH, WS_B32, 1, WS_SPACE_GLOBAL, threads)(&x);
		assert_int_equal(*(uint32_t *)memory, 31);
	}
}

static void test_cas(void **state)
{
	(void)state;
	for (int threads = 0; threads < 2; threads++) {
		uint64_t a[64] = {0}, b[64] = {0}, d[64] = {0};
		struct ws_atomic_args x = {.host = host, .mask = 7, .a = {a}, .b = b, .d = {d}};
		static const enum ws_type types[] = {WS_B16, WS_B32, WS_B64, WS_B128};
		for (size_t t = 0; t < WS_COUNT(types); t++) {
			unsigned w = ws_type_bytes(types[t]), e = w < 8 ? w : 8;
			point(0);
			memset(memory, 0, 16);
			memory[w - 1] = 0x80;            /* the highest byte counts */
			memset(a, 0, sizeof a);
			memset(b, 0, sizeof b);
			uint8_t *top = (uint8_t *)a + (w == 16 ? 256 : 0);
			top[1 * e + e - 1] = 0x80;       /* lane 1 expects what is there; 0 and 2 expect 0 */
			for (unsigned l = 0; l < 3; l++)
				((uint8_t *)b)[l * e] = (uint8_t)(l + 1);
			assert_int_equal(find(WS_ATOM_CAS, types[t], 1, WS_SPACE_GLOBAL, threads)(&x), 2);
			assert_int_equal(memory[0], 2);
			assert_int_equal(memory[w - 1] & 0x80, 0);
			assert_int_equal(((uint8_t *)d)[2 * e], 2);
		}
	}
}

static void test_exch128(void **state)
{
	(void)state;
	uint64_t a[64], d[64];
	struct ws_atomic_args x = {.host = host, .mask = UINT32_MAX, .a = {a}, .d = {d}};
	point(16);
	for (unsigned l = 0; l < 32; l++) {
		a[l] = l;
		a[32 + l] = ~(uint64_t)l;
		memset(host[l], (int)l, 16);
	}
	assert_int_equal(find(WS_ATOM_EXCH, WS_B128, 1, WS_SPACE_SHARED, false)(&x), UINT32_MAX);
	assert_int_equal(d[3], 0x0303030303030303);
	assert_int_equal(d[35], 0x0303030303030303);
	assert_int_equal(((uint64_t *)host[3])[0], 3);
	assert_int_equal(((uint64_t *)host[3])[1], ~UINT64_C(3));
}

static void test_vectors(void **state)
{
	(void)state;
	static const uint32_t one32[32] = {0x3f800000, 0x40000000};
	static const uint16_t one16[32] = {0x3c00, 0x4000};
	uint32_t old[4][32];
	struct ws_atomic_args x = {.host = host, .mask = 3};
	point(16);
	memset(memory, 0, sizeof memory);
	for (int k = 0; k < 4; k++) {
		x.a[k] = one32;
		x.d[k] = old[k];
	}
	assert_int_equal(find(WS_ATOM_ADD, WS_F32, 4, WS_SPACE_GLOBAL, true)(&x), 3);
	assert_int_equal(((uint32_t *)host[0])[3], 0x3f800000);
	assert_int_equal(((uint32_t *)host[1])[0], 0x40000000);
	assert_int_equal(old[3][1], 0);
	assert_int_equal(find(WS_ATOM_ADD, WS_F32, 2, WS_SPACE_GLOBAL, false)(&x), 3);
	assert_int_equal(((uint32_t *)host[0])[1], 0x40000000);
	assert_int_equal(((uint32_t *)host[0])[2], 0x3f800000);
	memset(memory, 0, sizeof memory);
	for (int k = 0; k < 8; k++) {
		x.a[k] = one16;
		x.d[k] = NULL;
	}
	find(WS_ATOM_ADD, WS_F16, 8, WS_SPACE_GLOBAL, true)(&x);
	find(WS_ATOM_MAX, WS_BF16, 8, WS_SPACE_GLOBAL, false)(&x);
	find(WS_ATOM_MIN, WS_F16, 4, WS_SPACE_GLOBAL, false)(&x);
	for (int k = 0; k < 8; k++)
		assert_int_equal(((uint16_t *)host[1])[k], 0x4000);
}

static void test_refused(void **state)
{
	(void)state;
	assert_null(find(WS_ATOM_INC, WS_U64, 1, WS_SPACE_GLOBAL, false));
	assert_null(find(WS_ATOM_ADD, WS_B32, 1, WS_SPACE_GLOBAL, false));
	assert_null(find(WS_ATOM_AND, WS_B16, 1, WS_SPACE_GLOBAL, false));
	assert_null(find(WS_ATOM_ADD, WS_F64, 2, WS_SPACE_GLOBAL, false));
	assert_null(find(WS_ATOM_ADD, WS_B128, 1, WS_SPACE_GLOBAL, false));
	assert_null(find(WS_ATOM_NONE, WS_U32, 1, WS_SPACE_GLOBAL, false));
}

/* ---- several host threads ---- */

static uint64_t words[8];

static void *add_worker(void *arg)
{
	ws_atomic_fn *add = find(WS_ATOM_ADD, WS_U32, 1, WS_SPACE_GLOBAL, true);
	ws_atomic_fn *addf = find(WS_ATOM_ADD, WS_F32, 1, WS_SPACE_GLOBAL, true);
	ws_atomic_fn *max = find(WS_ATOM_MAX, WS_U64, 1, WS_SPACE_GLOBAL, true);
	uint32_t ones[32], fones[32];
	uint64_t values[32];
	uint8_t *same[32], *apart[32], *wide[32], *fl[32];
	for (uint32_t l = 0; l < 32; l++) {
		ones[l] = 1;
		fones[l] = 0x3f800000;
		same[l] = (uint8_t *)&words[0];
		apart[l] = (uint8_t *)&words[1 + l % 2];
		wide[l] = (uint8_t *)&words[4];
		fl[l] = (uint8_t *)&words[5 + l % 2];
	}
	for (uint32_t i = 0; i < 2000; i++) {
		add(&(struct ws_atomic_args){.host = same, .mask = UINT32_MAX, .a = {ones}});
		add(&(struct ws_atomic_args){.host = apart, .mask = UINT32_MAX, .a = {ones}});
		addf(&(struct ws_atomic_args){.host = fl, .mask = UINT32_MAX, .a = {fones}});
		for (uint32_t l = 0; l < 32; l++)
			values[l] = (uintptr_t)arg + i * 32 + l;
		max(&(struct ws_atomic_args){.host = wide, .mask = UINT32_MAX, .a = {values}});
	}
	return NULL;
}

static void test_threads(void **state)
{
	(void)state;
	pthread_t t[3];
	memset(words, 0, sizeof words);
	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, add_worker, (void *)(i * 1000000));
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(words[0], 3 * 2000 * 32);
	assert_int_equal(words[1], 3 * 2000 * 16);
	assert_int_equal(words[2], 3 * 2000 * 16);
	assert_int_equal(words[4], 2000000 + 2000 * 32 - 1);
	assert_int_equal(words[5], 0x47bb8000);  /* 96000.0f */
	assert_int_equal(words[6], 0x47bb8000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers), cmocka_unit_test(test_floats), cmocka_unit_test(test_halves),
		cmocka_unit_test(test_lane_order), cmocka_unit_test(test_cas), cmocka_unit_test(test_exch128),
		cmocka_unit_test(test_vectors), cmocka_unit_test(test_refused), cmocka_unit_test(test_threads)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
