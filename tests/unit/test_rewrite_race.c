/* src/rewrite: the pass for races; PTX in, PTX out, with functions in place of src/device/race.cu that show their arguments. */
#include "tests/unit/rewrite_help.h"

/* In place of src/device/race.cu: each function is an instruction that shows its arguments. */
#define SHOWS(name, regs, body) \
	".visible .func " name "(" regs ")\n{\n.reg .b32 %r<5>;\n.reg .b64 %rd<5>;\n" body "\nret;\n}\n"
#define A64(f, k, r) "ld.param.u64 " r ", [" f "_param_" #k "];\n"
#define A32(f, k, r) "ld.param.u32 " r ", [" f "_param_" #k "];\n"
#define P(t, f, k) ".param ." t " " f "_param_" #k
#define THREE(f, first, a, b, c) first P("b64", f, a) "," P("b32", f, b) "," P("b32", f, c)
#define READS(f, first, a, b, c) \
	SHOWS(f, THREE(f, first, a, b, c), A64(f, a, "%rd1") A32(f, b, "%r1") A32(f, c, "%r2") \
	      "st.local.v2.u32 [%rd1+4], {%r1, %r2};")
#define WRITES(f, first, a, b, c, d, e) \
	SHOWS(f, THREE(f, first, a, b, c) "," P("b64", f, d) "," P("b64", f, e), \
	      A64(f, a, "%rd1") A64(f, d, "%rd2") A64(f, e, "%rd3") "st.local.v2.u64 [%rd1+5], {%rd2, %rd3};")
#define ATOMICS(f, first, a, b, c) \
	SHOWS(f, THREE(f, first, a, b, c), A64(f, a, "%rd1") A32(f, b, "%r1") "st.local.u32 [%rd1+6], %r1;")
#define OBJECT(f, n) SHOWS(f, P("b64", f, 0) "," P("b32", f, 1), A64(f, 0, "%rd1") A32(f, 1, "%r1") "st.local.u32 [%rd1+" n "], %r1;")
static const char race_runtime[] =
	".version 6.0\n.target sm_70\n.address_size 64\n"
	SHOWS("race_enter", P("b32", "race_enter", 0), A32("race_enter", 0, "%r1") "st.local.u32 [1], %r1;")
	SHOWS("race_enter_in", P("b32", "race_enter_in", 0) "," P("b32", "race_enter_in", 1), A32("race_enter_in", 0, "%r1") "st.local.u32 [1], %r1;")
	SHOWS("race_enter_off", "", "pmevent 2;")
	SHOWS("race_leave", "", "pmevent 3;")
	READS("race_read", , 0, 1, 2)
	READS("race_read_global", P("b32", "race_read_global", 0) ",", 1, 2, 3)
	READS("race_read_part_shared", P("b32", "race_read_part_shared", 0) ",", 1, 2, 3)
	READS("race_read_shared", P("b32", "race_read_shared", 0) ",", 1, 2, 3)
	WRITES("race_write", , 0, 1, 2, 3, 4)
	WRITES("race_write_global", P("b32", "race_write_global", 0) ",", 1, 2, 3, 4, 5)
	WRITES("race_write_part_shared", P("b32", "race_write_part_shared", 0) ",", 1, 2, 3, 4, 5)
	WRITES("race_write_shared", P("b32", "race_write_shared", 0) ",", 1, 2, 3, 4, 5)
	WRITES("race_write_unread_global", P("b32", "race_write_unread_global", 0) ",", 1, 2, 3, 4, 5)
	WRITES("race_call_write4_global", P("b32", "race_call_write4_global", 0) ",", 1, 2, 3, 4, 5)
	ATOMICS("race_atomic", , 0, 1, 2)
	ATOMICS("race_atomic_global", P("b32", "race_atomic_global", 0) ",", 1, 2, 3)
	ATOMICS("race_atomic_shared", P("b32", "race_atomic_shared", 0) ",", 1, 2, 3)
	READS("race_call_read4_global", P("b32", "race_call_read4_global", 0) ",", 1, 2, 3)
	READS("race_read4_shared", P("b32", "race_read4_shared", 0) ",", 1, 2, 3)
	WRITES("race_write4_shared", P("b32", "race_write4_shared", 0) ",", 1, 2, 3, 4, 5)
	".visible .func (.param .b64 row) race_area(.param .b64 a)\n{\npmevent 15;\nst.param.b64 [row], 0;\nret;\n}\n"
	".visible .func (.param .b32 result) race_thread()\n{\nst.param.b32 [result], 7;\nret;\n}\n"
	SHOWS("race_release", P("b64", "race_release", 0) "," P("b32", "race_release", 1),
	      A64("race_release", 0, "%rd1") A32("race_release", 1, "%r1") "st.local.u32 [%rd1+7], %r1;")
	SHOWS("race_acquire", P("b64", "race_acquire", 0) "," P("b32", "race_acquire", 1),
	      A64("race_acquire", 0, "%rd1") A32("race_acquire", 1, "%r1") "st.local.u32 [%rd1+8], %r1;")
	SHOWS("race_acquire_found", P("b64", "race_acquire_found", 0) "," P("b32", "race_acquire_found", 1) "," P("b32", "race_acquire_found", 2),
	      A64("race_acquire_found", 0, "%rd1") A32("race_acquire_found", 1, "%r1") A32("race_acquire_found", 2, "%r2")
	      "st.local.v2.u32 [%rd1+40], {%r1, %r2};")
	SHOWS("race_fence_before", P("b32", "race_fence_before", 0),
	      A32("race_fence_before", 0, "%r1") "st.local.u32 [9], %r1;")
	SHOWS("race_clock_enter", P("b64", "race_clock_enter", 0) "," P("b32", "race_clock_enter", 1) "," P("b32", "race_clock_enter", 2),
	      A64("race_clock_enter", 0, "%rd1") A32("race_clock_enter", 1, "%r1") "st.local.u32 [%rd1+46], %r1;")
	SHOWS("race_clock_fence", "", "pmevent 8;")
	SHOWS("race_clock_wait", P("b64", "race_clock_wait", 0) "," P("b32", "race_clock_wait", 1) "," P("b32", "race_clock_wait", 2) ","
	      P("b32", "race_clock_wait", 3), A64("race_clock_wait", 0, "%rd1") A32("race_clock_wait", 2, "%r1") A32("race_clock_wait", 3, "%r2")
	      "st.local.v2.u32 [%rd1+47], {%r1, %r2};")
	SHOWS("race_fence_after", P("b32", "race_fence_after", 0),
	      A32("race_fence_after", 0, "%r1") "st.local.u32 [10], %r1;")
	SHOWS("race_part_arrive", P("b32", "race_part_arrive", 0) "," P("b32", "race_part_arrive", 1),
	      A32("race_part_arrive", 0, "%r1") A32("race_part_arrive", 1, "%r2") "st.local.v2.u32 [11], {%r1, %r2};")
	SHOWS("race_part_pass", P("b32", "race_part_pass", 0) "," P("b32", "race_part_pass", 1),
	      A32("race_part_pass", 0, "%r1") A32("race_part_pass", 1, "%r2") "st.local.v2.u32 [15], {%r1, %r2};")
	SHOWS("race_barrier_arrive", "", "pmevent 12;")
	SHOWS("race_barrier", "", "pmevent 13;")
	".visible .func (.param .b32 look) race_block_arrive(.param .b32 a)\n{\npmevent 12;\nst.param.b32 [look], 0;\nret;\n}\n"
	SHOWS("race_block_pass", P("b32", "race_block_pass", 0), "pmevent 13;")
	SHOWS("race_bulk_load", P("b64", "race_bulk_load", 0) "," P("b64", "race_bulk_load", 1) "," P("b32", "race_bulk_load", 2) ","
	      P("b64", "race_bulk_load", 3) "," P("b32", "race_bulk_load", 4),
	      A64("race_bulk_load", 0, "%rd1") A64("race_bulk_load", 3, "%rd2") A32("race_bulk_load", 2, "%r1")
	      "st.local.u32 [%rd1+29], %r1;\nst.local.u32 [%rd2+30], %r1;")
	SHOWS("race_bulk_store", P("b64", "race_bulk_store", 0) "," P("b64", "race_bulk_store", 1) "," P("b32", "race_bulk_store", 2) ","
	      P("b32", "race_bulk_store", 3),
	      A64("race_bulk_store", 0, "%rd1") A32("race_bulk_store", 2, "%r1") A32("race_bulk_store", 3, "%r2")
	      "st.local.v2.u32 [%rd1+31], {%r1, %r2};")
	SHOWS("race_bulk_wait", P("b32", "race_bulk_wait", 0) "," P("b32", "race_bulk_wait", 1),
	      A32("race_bulk_wait", 0, "%r1") A32("race_bulk_wait", 1, "%r2") "st.local.v2.u32 [32], {%r1, %r2};")
	SHOWS("race_operation", P("b64", "race_operation", 0) "," P("b64", "race_operation", 1) "," P("b32", "race_operation", 2) ","
	      P("b64", "race_operation", 3) "," P("b32", "race_operation", 4) "," P("b32", "race_operation", 5),
	      A64("race_operation", 0, "%rd1") A64("race_operation", 3, "%rd2") A32("race_operation", 2, "%r1") A32("race_operation", 4, "%r2")
	      "st.local.v2.u32 [%rd1+33], {%r1, %r2};\nst.local.u32 [%rd2+34], %r1;")
	SHOWS("race_multicast", P("b64", "race_multicast", 0) "," P("b64", "race_multicast", 1) "," P("b32", "race_multicast", 2) ","
	      P("b64", "race_multicast", 3) "," P("b32", "race_multicast", 4) "," P("b32", "race_multicast", 5),
	      A64("race_multicast", 0, "%rd1") A32("race_multicast", 4, "%r2") "st.local.u32 [%rd1+35], %r2;")
	SHOWS("race_bulk_reduce", P("b64", "race_bulk_reduce", 0) "," P("b64", "race_bulk_reduce", 1) "," P("b32", "race_bulk_reduce", 2) ","
	      P("b32", "race_bulk_reduce", 3) "," P("b32", "race_bulk_reduce", 4),
	      A64("race_bulk_reduce", 0, "%rd1") A32("race_bulk_reduce", 3, "%r1") "st.local.u32 [%rd1+36], %r1;")
	OBJECT("race_peer_arrive", "37")
	SHOWS("race_tensor_load", P("b64", "race_tensor_load", 0) "," P("b64", "race_tensor_load", 1) "," P("b32", "race_tensor_load", 2) ","
	      P("b32", "race_tensor_load", 3) "," P("b32", "race_tensor_load", 4) "," P("b32", "race_tensor_load", 5) ","
	      P("b32", "race_tensor_load", 6) "," P("b64", "race_tensor_load", 7) "," P("b32", "race_tensor_load", 8) ","
	      P("b32", "race_tensor_load", 9) "," P("b32", "race_tensor_load", 10),
	      A64("race_tensor_load", 0, "%rd1") A64("race_tensor_load", 1, "%rd2") A64("race_tensor_load", 7, "%rd3")
	      A32("race_tensor_load", 2, "%r1") A32("race_tensor_load", 3, "%r2") A32("race_tensor_load", 8, "%r3")
	      A32("race_tensor_load", 9, "%r4") "st.local.v2.u32 [%rd1+41], {%r1, %r2};\nst.local.v2.u32 [%rd2+42], {%r3, %r4};\n"
	      "st.local.u32 [%rd3+43], 0;")
	SHOWS("race_tensor_store", P("b64", "race_tensor_store", 0) "," P("b32", "race_tensor_store", 1) ","
	      P("b32", "race_tensor_store", 2) "," P("b32", "race_tensor_store", 3) "," P("b32", "race_tensor_store", 4) ","
	      P("b32", "race_tensor_store", 5) "," P("b64", "race_tensor_store", 6) "," P("b32", "race_tensor_store", 7) ","
	      P("b32", "race_tensor_store", 8),
	      A64("race_tensor_store", 0, "%rd1") A32("race_tensor_store", 1, "%r1") A32("race_tensor_store", 7, "%r2")
	      A64("race_tensor_store", 6, "%rd2") "st.local.v2.u32 [%rd1+44], {%r1, %r2};\nst.local.u32 [%rd2+45], 0;")
	SHOWS("race_product", P("b64", "race_product", 0) "," P("b64", "race_product", 1) "," P("b32", "race_product", 2) ","
	      P("b32", "race_product", 3), A64("race_product", 0, "%rd1") A64("race_product", 1, "%rd2") A32("race_product", 2, "%r1")
	      "st.local.u32 [%rd1+38], %r1;\nst.local.u32 [%rd2+39], %r1;")
	SHOWS("race_product_commit", "", "pmevent 9;")
	SHOWS("race_product_wait", P("b32", "race_product_wait", 0), A32("race_product_wait", 0, "%r1") "st.local.u32 [40], %r1;")
	SHOWS("race_proxy_fence", "", "pmevent 6;")
	SHOWS("race_cluster", P("b32", "race_cluster", 0), A32("race_cluster", 0, "%r1") "st.local.u32 [22], %r1;")
	SHOWS("race_cluster_arrive", P("b32", "race_cluster_arrive", 0), A32("race_cluster_arrive", 0, "%r1") "st.local.u32 [23], %r1;")
	SHOWS("race_cluster_pass", P("b32", "race_cluster_pass", 0), A32("race_cluster_pass", 0, "%r1") "st.local.u32 [24], %r1;")
	SHOWS("race_cluster_release", P("b32", "race_cluster_release", 0), A32("race_cluster_release", 0, "%r1") "st.local.u32 [25], %r1;")
	SHOWS("race_cluster_acquire", "", "pmevent 7;")
	SHOWS("race_peer_read", P("b64", "race_peer_read", 0) "," P("b32", "race_peer_read", 1) "," P("b32", "race_peer_read", 2),
	      A64("race_peer_read", 0, "%rd1") A32("race_peer_read", 1, "%r1") "st.local.u32 [%rd1+26], %r1;")
	SHOWS("race_peer_write", P("b64", "race_peer_write", 0) "," P("b32", "race_peer_write", 1) "," P("b32", "race_peer_write", 2) ","
	      P("b64", "race_peer_write", 3) "," P("b64", "race_peer_write", 4),
	      A64("race_peer_write", 0, "%rd1") A32("race_peer_write", 1, "%r1") "st.local.u32 [%rd1+27], %r1;")
	SHOWS("race_peer_atomic", P("b64", "race_peer_atomic", 0) "," P("b32", "race_peer_atomic", 1) "," P("b32", "race_peer_atomic", 2),
	      A64("race_peer_atomic", 0, "%rd1") A32("race_peer_atomic", 1, "%r1") "st.local.u32 [%rd1+28], %r1;")
	SHOWS("race_warp_sync", P("b32", "race_warp_sync", 0) "," P("b32", "race_warp_sync", 1), A32("race_warp_sync", 1, "%r1") "st.local.u32 [14], %r1;")
	SHOWS("race_copy", P("b64", "race_copy", 0) "," P("b64", "race_copy", 1) "," P("b32", "race_copy", 2) ","
	      P("b32", "race_copy", 3) "," P("b32", "race_copy", 4),
	      A64("race_copy", 0, "%rd1") A64("race_copy", 1, "%rd2") A32("race_copy", 2, "%r1") A32("race_copy", 3, "%r2")
	      "st.local.v2.u32 [%rd1+16], {%r1, %r2};\nst.local.u32 [%rd2+17], %r2;")
	SHOWS("race_grid_waited", "", "pmevent 5;")
	SHOWS("race_copy_commit", "", "pmevent 14;")
	SHOWS("race_copy_wait", P("b32", "race_copy_wait", 0), A32("race_copy_wait", 0, "%r1") "st.local.u32 [18], %r1;")
	OBJECT("race_copy_arrive", "19") OBJECT("race_object_arrive", "20")
	SHOWS("race_object_wait", P("b64", "race_object_wait", 0) "," P("b32", "race_object_wait", 1) ","
	      P("b32", "race_object_wait", 2), A64("race_object_wait", 0, "%rd1") A32("race_object_wait", 2, "%r1")
	      "st.local.u32 [%rd1+21], %r1;");
#undef P

static void begin_race(struct work *w, const char *text, bool part)
{
	begin(w, text);
	assert_true(ws_rw_runtime(w->p, "runtime", race_runtime));
	assert_true(part ? ws_rw_pass_race_part(w->p) : ws_rw_pass_race(w->p));
}

/* What stands between the first `pmevent 1` of the program and the end, after the pass. */
static void expect_race(const char *body, const char *want)
{
	struct ws_buf text = { 0 };
	struct work w;

	ws_buf_printf(&text, ".version 9.0\n.target sm_100\n.address_size 64\n.entry k(.param .u64 p)\n{\n.reg .pred %%p<3>;\n"
	              ".reg .u32 %%r<9>;\n.reg .u64 %%d<9>;\n.reg .b16 %%w<9>;\npmevent 1;\n%s\n}\n", body);
	begin_race(&w, text.data, false);
	ws_buf_free(&text);
	ws_buf_printf(&text, "pmevent 1;\n%s}\n", want);
	expect_from(&w, "pmevent 1;", text.data);
	ws_buf_free(&text);
}

#define LEFT "\npmevent 3;\n\tret;\n"
static void race_checks_accesses(void **state)
{
	expect_race("ld.global.u32 %r1, [%d1];\nld.volatile.shared.v2.u32 {%r1, %r2}, [%r3];\n@%p1 ld.b8 %r1, [%d1];\n"
	            "red.global.add.u32 [%d2], 1;\nret;",
	            "mov.u32 %ws_b32_0, 4;\n\tmov.u32 %ws_b32_1, 0;\n\tst.local.v2.u32 [%d1+4], {%ws_b32_0, %ws_b32_1};\n\t"
	            "ld.global.u32 %r1, [%d1];\ncvt.u64.u32 %ws_b64_0, %r3;\n\tmov.u32 %ws_b32_0, 1064;\n\t"
	            "mov.u32 %ws_b32_1, 1;\n\tst.local.v2.u32 [%ws_b64_0+4], {%ws_b32_0, %ws_b32_1};\n\t"
	            "ld.volatile.shared.v2.u32 {%r1, %r2}, [%r3];\n@%p1 mov.u32 %ws_b32_0, 65;\n\t@%p1 mov.u32 %ws_b32_1, 2;\n\t"
	            "@%p1 st.local.v2.u32 [%d1+4], {%ws_b32_0, %ws_b32_1};\n\t@%p1 ld.b8 %r1, [%d1];\nmov.u32 %ws_b32_0, 83716;\n\t"
	            "st.local.u32 [%d2+6], %ws_b32_0;\n\tred.global.add.u32 [%d2], 1;" LEFT);
	expect_race("st.global.v4.u64 [%d1], {%d2, %d3, 1, 2};\nred.global.add.u32 [%d1], 1;\nret;",
	            "st.local.v2.u64 [%d1+5], {%d2, %d3};\n\tadd.s64 %ws_b64_0, %d1, 16;\n\tmov.u64 %ws_b64_1, 1;\n\t"
	            "mov.u64 %ws_b64_2, 2;\n\tst.local.v2.u64 [%ws_b64_0+5], {%ws_b64_1, %ws_b64_2};\n\t"
	            "st.global.v4.u64 [%d1], {%d2, %d3, 1, 2};\nmov.u32 %ws_b32_0, 83716;\n\t"
	            "st.local.u32 [%d1+6], %ws_b32_0;\n\tred.global.add.u32 [%d1], 1;" LEFT);
}

/* Strong accesses have hooks where something acquires or releases; an address that the access overwrites is kept. */
static void race_follows_releases_and_acquires(void **state)
{
	expect_race("fence.acq_rel.cta;\nld.acquire.gpu.global.u64 %d1, [%d1];\nst.relaxed.sys.global.u64 [%d1], %d2;\nret;",
	            "mov.u32 %ws_b32_0, 256;\n\tst.local.u32 [9], %ws_b32_0;\n\tfence.acq_rel.cta;\n\t"
	            "mov.u32 %ws_b32_0, 256;\n\tst.local.u32 [10], %ws_b32_0;\nmov.u32 %ws_b32_0, 4872;\n\t"
	            "mov.u32 %ws_b32_1, 0;\n\tst.local.v2.u32 [%d1+4], {%ws_b32_0, %ws_b32_1};\n\t"
	            "mov.b64 %ws_kept_b64_0, %d1;\n\t"
	            "ld.acquire.gpu.global.u64 %d1, [%d1];\n\tmov.u32 %ws_b32_0, 4872;\n\t"
	            "st.local.u32 [%ws_kept_b64_0+8], %ws_b32_0;\nmov.u64 %ws_b64_0, 0;\n\t"
	            "st.local.v2.u64 [%d1+5], {%d2, %ws_b64_0};\n\tmov.u32 %ws_b32_0, 1032;\n\t"
	            "st.local.u32 [%d1+7], %ws_b32_0;\n\tst.relaxed.sys.global.u64 [%d1], %d2;" LEFT);
	expect_race("atom.release.gpu.global.add.u32 %r1, [%d1], 1;\nred.relaxed.cta.shared.add.u32 [%d1], 1;\nret;",
	            "mov.u32 %ws_b32_0, 26372;\n\tst.local.u32 [%d1+6], %ws_b32_0;\n\tmov.u32 %ws_b32_1, 26372;\n\t"
	            "st.local.u32 [%d1+7], %ws_b32_1;\n\tatom.release.gpu.global.add.u32 %r1, [%d1], 1;\n\t"
	            "mov.b32 %ws_b32_0, %r1;\n\tmov.u32 %ws_b32_1, 26372;\n\tst.local.v2.u32 [%d1+40], {%ws_b32_1, %ws_b32_0};\n"
	            "@%ws_kept_pred_0 bra $ws_3;\n\tmov.u32 %ws_b32_0, 17700;\n\t"  /* nothing but atomics: proved */
	            "st.local.u32 [%d1+6], %ws_b32_0;\n\t$ws_3:\n\t"            /* and no thread acquires what is released there */
	            "red.relaxed.cta.shared.add.u32 [%d1], 1;" LEFT);
	expect_race("st.volatile.global.u64 [%d1], %d2;\nfence.proxy.alias;\nret;",
	            "mov.u64 %ws_b64_0, 0;\n\tst.local.v2.u64 [%d1+5], {%d2, %ws_b64_0};\n\t"
	            "st.volatile.global.u64 [%d1], %d2;\n"
	            "fence.proxy.alias;" LEFT);
}

static void releases_matter_where_a_kernel_can_come_to_a_fence(void **state)
{
	struct ws_buf out = { 0 };
	struct work w;

	begin_race(&w, HEAD ".func f() { membar.gl; ret; }\n"
	           ".func g() { .reg .b64 %d<2>; st.volatile.global.u32 [%d1], 1; ret; }\n"
	           ".entry a() { .reg .b64 %d<2>; st.volatile.global.u32 [%d1], 2; call f, (); call g, (); ret; }\n"
	           ".entry b() { .reg .b64 %d<2>; st.volatile.global.u32 [%d1], 3; call g, (); ret; }\n", false);
	assert_true(ws_rw_end(w.p));
	ws_ptx_print(w.m, &out);
	assert_non_null(strstr(out.data, "st.local.u32 [%d1+7], %ws_b32_0;\n\tst.volatile.global.u32 [%d1], 1;"));
	assert_non_null(strstr(out.data, "st.local.u32 [%d1+7], %ws_b32_0;\n\tst.volatile.global.u32 [%d1], 2;"));
	assert_null(strstr(out.data, "st.local.u32 [%d1+7], %ws_b32_0;\n\tst.volatile.global.u32 [%d1], 3;"));
	ws_buf_free(&out);
	finish(&w);
}

static void race_follows_copies(void **state)
{
	expect_race("cp.async.ca.shared.global [%d1], [%d2], 4;\ncp.async.commit_group;\n@%p1 cp.async.wait_group 1;\n"
	            "cp.async.wait_all;\nret;",
	            "mov.u32 %ws_b32_0, 4;\n\tmov.u32 %ws_b32_1, 4;\n\tst.local.v2.u32 [%d1+16], {%ws_b32_0, %ws_b32_1};\n\t"
	            "st.local.u32 [%d2+17], %ws_b32_1;\n\tcp.async.ca.shared.global [%d1], [%d2], 4;\ncp.async.commit_group;\n\t"
	            "pmevent 14;\n@%p1 cp.async.wait_group 1;\n\t@%p1 mov.u32 %ws_b32_0, 1;\n\t@%p1 st.local.u32 [18], %ws_b32_0;\n"
	            "cp.async.wait_all;\n\tpmevent 14;\n\tmov.u32 %ws_b32_0, 0;\n\tst.local.u32 [18], %ws_b32_0;" LEFT);
	expect_race("cp.async.cg.shared.global [%d1], [%d2], 16, %r1;\ncp.async.ca.shared.global [%d1], [%d2], 8, !%p1;\nret;",
	            "mov.u32 %ws_b32_0, 16;\n\tst.local.v2.u32 [%d1+16], {%ws_b32_0, %r1};\n\tst.local.u32 [%d2+17], %r1;\n\t"
	            "cp.async.cg.shared.global [%d1], [%d2], 16, %r1;\nselp.u32 %ws_b32_0, 8, 0, %p1;\n\t"
	            "mov.u32 %ws_b32_1, 8;\n\tst.local.v2.u32 [%d1+16], {%ws_b32_1, %ws_b32_0};\n\t"
	            "st.local.u32 [%d2+17], %ws_b32_0;\n\tcp.async.ca.shared.global [%d1], [%d2], 8, !%p1;" LEFT);
}

/* An object is accessed, and what arrives and waits there orders. */
static void race_follows_bulk_copies(void **state)
{
	expect_race("fence.proxy.async;\ncp.async.bulk.global.shared::cta.bulk_group [%d1], [%r2], %r3;\ncp.async.bulk.commit_group;\n"
	            "cp.async.bulk.wait_group.read 1;\nret;",
	            "fence.proxy.async;\n\tpmevent 6;\ncvt.u64.u32 %ws_b64_0, %r2;\n\tmov.u32 %ws_b32_0, 0;\n\t"
	            "st.local.v2.u32 [%d1+31], {%r3, %ws_b32_0};\n\tcp.async.bulk.global.shared::cta.bulk_group [%d1], [%r2], %r3;\n"
	            "cp.async.bulk.commit_group;\n\tpmevent 14;\ncp.async.bulk.wait_group.read 1;\n\tmov.u32 %ws_b32_0, 1;\n\t"
	            "mov.u32 %ws_b32_1, 1;\n\tst.local.v2.u32 [32], {%ws_b32_0, %ws_b32_1};" LEFT);
	expect_race("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], 64, [%r2];\nret;",
	            "cvt.u64.u32 %ws_b64_0, %r1;\n\tcvt.u64.u32 %ws_b64_1, %r2;\n\tmov.u32 %ws_b32_0, 64;\n\t"
	            "st.local.u32 [%ws_b64_0+29], %ws_b32_0;\n\tst.local.u32 [%ws_b64_1+30], %ws_b32_0;\n\t"
	            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], 64, [%r2];" LEFT);
	expect_race("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nfence.proxy.async;\nret;",
	            "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nfence.proxy.async;" LEFT);
}

/* What completes on an object of the block that it comes to: then copies to the own block are no others. */
static void race_follows_operations(void **state)
{
	#define FULL "mbarrier::complete_tx::bytes"
	expect_race("st.async.weak.shared::cluster." FULL ".v2.u32 [%r1], {%r3, %r4}, [%r2];\n"
	            "@%p1 red.async.relaxed.cluster.shared::cluster." FULL ".add.u32 [%r1], %r3, [%r2];\nret;",
	            "cvt.u64.u32 %ws_b64_0, %r1;\n\tcvt.u64.u32 %ws_b64_1, %r2;\n\tmov.u32 %ws_b32_0, 8;\n\tmov.u32 %ws_b32_1, 64;\n\t"
	            "st.local.v2.u32 [%ws_b64_0+33], {%ws_b32_0, %ws_b32_1};\n\tst.local.u32 [%ws_b64_1+34], %ws_b32_0;\n\t"
	            "st.async.weak.shared::cluster." FULL ".v2.u32 [%r1], {%r3, %r4}, [%r2];\n"
	            "@%p1 cvt.u64.u32 %ws_b64_0, %r1;\n\t@%p1 cvt.u64.u32 %ws_b64_1, %r2;\n\t@%p1 mov.u32 %ws_b32_0, 4;\n\t"
	            "@%p1 mov.u32 %ws_b32_1, 1600;\n\t@%p1 st.local.v2.u32 [%ws_b64_0+33], {%ws_b32_0, %ws_b32_1};\n\t"
	            "@%p1 st.local.u32 [%ws_b64_1+34], %ws_b32_0;\n\t"
	            "@%p1 red.async.relaxed.cluster.shared::cluster." FULL ".add.u32 [%r1], %r3, [%r2];" LEFT);
	expect_race("cp.async.bulk.shared::cluster.global." FULL " [%r1], [%d1], 64, [%r2];\nmbarrier.arrive.shared::cluster.b64 _, [%r2];\nret;",
	            "cvt.u64.u32 %ws_b64_0, %r1;\n\tcvt.u64.u32 %ws_b64_1, %r2;\n\tmov.u32 %ws_b32_0, 64;\n\tmov.u32 %ws_b32_1, 0;\n\t"
	            "st.local.v2.u32 [%ws_b64_0+33], {%ws_b32_0, %ws_b32_1};\n\tst.local.u32 [%ws_b64_1+34], %ws_b32_0;\n\t"
	            "cp.async.bulk.shared::cluster.global." FULL " [%r1], [%d1], 64, [%r2];\n"
	            "cvt.u64.u32 %ws_b64_0, %r2;\n\tmov.u32 %ws_b32_0, 27496;\n\tst.local.u32 [%ws_b64_0+28], %ws_b32_0;\n\t"
	            "mov.u32 %ws_b32_1, 27496;\n\tst.local.u32 [%ws_b64_0+37], %ws_b32_1;\n\t"
	            "mbarrier.arrive.shared::cluster.b64 _, [%r2];" LEFT);
	expect_race("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [%r1], 16;\nret;",
	            "cvt.u64.u32 %ws_b64_0, %r1;\n\tmov.u32 %ws_b32_0, 1792;\n\tst.local.u32 [%d1+36], %ws_b32_0;\n\t"
	            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [%r1], 16;" LEFT);
	expect_race("@%p1 setmaxnreg.dec.sync.aligned.u32 40;\nret;", "" LEFT);
	#undef FULL
}

/* Copies of tiles of tensors: the coordinates, 0 for those that there are not; how: dimensions, 8 for im2col, 1792 for an atomic. */
static void race_follows_tensors(void **state)
{
	#define FULL "mbarrier::complete_tx::bytes"
	#define MOVE(k, n) "mov.u32 %ws_b32_" #k ", " #n ";\n\t"
	expect_race("cp.async.bulk.tensor.2d.shared::cta.global." FULL " [%r1], [%d1+64, {%r2, 5}], [%r3];\nret;",
	            "cvt.u64.u32 %ws_b64_0, %r1;\n\tadd.s64 %ws_b64_1, %d1, 64;\n\tcvt.u64.u32 %ws_b64_2, %r3;\n\t" MOVE(0, 5) MOVE(1, 2) MOVE(2, 0)
	            "st.local.v2.u32 [%ws_b64_0+41], {%r2, %ws_b32_0};\n\tst.local.v2.u32 [%ws_b64_1+42], {%ws_b32_1, %ws_b32_2};\n\t"
	            "st.local.u32 [%ws_b64_2+43], 0;\n\t"
	            "cp.async.bulk.tensor.2d.shared::cta.global." FULL " [%r1], [%d1+64, {%r2, 5}], [%r3];" LEFT);
	expect_race("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%d1, {%r2}], [%r1];\nret;",
	            "cvt.u64.u32 %ws_b64_0, %r1;\n\t" MOVE(0, 1793) "st.local.v2.u32 [%d1+44], {%r2, %ws_b32_0};\n\tst.local.u32 [%ws_b64_0+45], 0;\n\t"
	            "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%d1, {%r2}], [%r1];" LEFT);
	expect_race("cp.async.bulk.tensor.3d.shared::cluster.global.im2col." FULL ".multicast::cluster [%r1], [%d1, {%r1, %r2, %r3}], [%r4], {1, 2}, 3;\n"
	            "ret;",
	            "cvt.u64.u32 %ws_b64_0, %r1;\n\tcvt.u64.u32 %ws_b64_1, %r4;\n\t" MOVE(0, 11) MOVE(1, 3)
	            "st.local.v2.u32 [%ws_b64_0+41], {%r1, %r2};\n\tst.local.v2.u32 [%d1+42], {%ws_b32_0, %ws_b32_1};\n\t"
	            "st.local.u32 [%ws_b64_1+43], 0;\n\t"
	            "cp.async.bulk.tensor.3d.shared::cluster.global.im2col." FULL ".multicast::cluster [%r1], [%d1, {%r1, %r2, %r3}], [%r4], {1, 2}, 3;"
	            LEFT);
	#undef FULL
	#undef MOVE
}

/* Products of warpgroups: all lanes of a warp come to them together. 2568: 8 columns, A in shared memory, B with k last. */
static void race_follows_products(void **state)
{
	#define MMA(operands) "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r1, %r2}, " operands ";\n"
	#define TOGETHER "bar.warp.sync -1;\n\t"
	expect_race("wgmma.fence.sync.aligned;\n" MMA("%d1, %d2, 1, 1, 1, 0, 1")
	            "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 2;\n" MMA("{%r1, %r2, %r3, %r4}, %d2, 1, 1, 1, 0") "ret;",
	            TOGETHER "wgmma.fence.sync.aligned;\n" TOGETHER "mov.u32 %ws_b32_0, 2568;\n\tst.local.u32 [%d1+38], %ws_b32_0;\n\t"
	            "st.local.u32 [%d2+39], %ws_b32_0;\n\t" TOGETHER MMA("%d1, %d2, 1, 1, 1, 0, 1") TOGETHER
	            "wgmma.commit_group.sync.aligned;\n\tpmevent 9;\n" TOGETHER "wgmma.wait_group.sync.aligned 2;\n\t"
	            "mov.u32 %ws_b32_0, 2;\n\tst.local.u32 [40], %ws_b32_0;\n" TOGETHER
	            "mov.u64 %ws_b64_0, 0;\n\tmov.u32 %ws_b32_0, 8;\n\tst.local.u32 [%ws_b64_0+38], %ws_b32_0;\n\t"
	            "st.local.u32 [%d2+39], %ws_b32_0;\n\t" TOGETHER MMA("{%r1, %r2, %r3, %r4}, %d2, 1, 1, 1, 0") "pmevent 3;\n\tret;\n");
	expect_race("wgmma.commit_group.sync.aligned;\nret;", TOGETHER "wgmma.commit_group.sync.aligned;" LEFT);
	#undef MMA
	#undef TOGETHER
}

static void race_follows_objects(void **state)
{
	expect_race("mbarrier.init.shared.b64 [%d1], 1;\nmbarrier.arrive.shared.b64 %d2, [%d1];\nret;",
	            "mov.u64 %ws_b64_0, 0;\n\tmov.u64 %ws_b64_1, 0;\n\tst.local.v2.u64 [%d1+5], {%ws_b64_0, %ws_b64_1};\n\t"
	            "mbarrier.init.shared.b64 [%d1], 1;\nmov.u32 %ws_b32_0, 27176;\n\tst.local.u32 [%d1+46], %ws_b32_0;\n\t"
	            "mov.u32 %ws_b32_1, 27176;\n\tst.local.u32 [%d1+20], %ws_b32_1;\n\t"
	            "mbarrier.arrive.shared.b64 %d2, [%d1];" LEFT);
	expect_race("mbarrier.try_wait.parity.shared.b64 %p1, [%d1], %r1;\nret;",
	            "mbarrier.try_wait.parity.shared.b64 %p1, [%d1], %r1;\n\t@!%p1 bra $ws_1;\n\t"
	            "mov.u32 %ws_b32_0, 0;\n\tst.local.v2.u32 [%d1+47], {%r1, %ws_b32_0};\n\t$ws_1:" LEFT);
	expect_race("cp.async.mbarrier.arrive.noinc.shared.b64 [%d1];\nret;",
	            "mov.u32 %ws_b32_0, 27176;\n\tst.local.u32 [%d1+46], %ws_b32_0;\n\tmov.u32 %ws_b32_1, 27176;\n\t"
	            "st.local.u32 [%d1+19], %ws_b32_1;\n\tcp.async.mbarrier.arrive.noinc.shared.b64 [%d1];" LEFT);
	/* A fence of the block alone, which is followed by what is known; a wider one, and there are no clocks. */
	expect_race("mbarrier.arrive.shared.b64 %d2, [%d1];\nfence.acq_rel.cta;\nret;",
	            "mov.u32 %ws_b32_0, 27176;\n\tst.local.u32 [%d1+46], %ws_b32_0;\n\tmov.u32 %ws_b32_1, 27176;\n\t"
	            "st.local.u32 [%d1+20], %ws_b32_1;\n\tmbarrier.arrive.shared.b64 %d2, [%d1];\nmov.u32 %ws_b32_0, 256;\n\t"
	            "st.local.u32 [9], %ws_b32_0;\n\tfence.acq_rel.cta;\n\tmov.u32 %ws_b32_0, 256;\n\tst.local.u32 [10], %ws_b32_0;\n\tpmevent 8;" LEFT);
	expect_race("mbarrier.arrive.shared.b64 %d2, [%d1];\nfence.acq_rel.gpu;\nret;",
	            "mov.u32 %ws_b32_0, 27176;\n\tst.local.u32 [%d1+6], %ws_b32_0;\n\tmov.u32 %ws_b32_1, 27176;\n\t"
	            "st.local.u32 [%d1+20], %ws_b32_1;\n\tmbarrier.arrive.shared.b64 %d2, [%d1];\nmov.u32 %ws_b32_0, 768;\n\t"
	            "st.local.u32 [9], %ws_b32_0;\n\tfence.acq_rel.gpu;\n\tmov.u32 %ws_b32_0, 768;\n\tst.local.u32 [10], %ws_b32_0;" LEFT);
	expect_race("mbarrier.try_wait.parity.relaxed.cta.shared.b64 %p1, [%d1], %r1;\nret;",
	            "mov.u32 %ws_b32_0, 18984;\n\tst.local.u32 [%d1+6], %ws_b32_0;\n\t"
	            "mbarrier.try_wait.parity.relaxed.cta.shared.b64 %p1, [%d1], %r1;\n\t@!%p1 bra $ws_1;\n\t"
	            "st.local.u32 [%d1+21], %r1;\n\t$ws_1:" LEFT);
}

/* A barrier of the cluster is one of the epochs of its blocks where arrival and wait stand together, in all places, and release. */
static void race_follows_clusters(void **state)
{
	expect_race("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait;\nret;",
	            "mov.u32 %ws_b32_0, 0;\n\tst.local.u32 [23], %ws_b32_0;\n\tbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait;\n\t"
	            "mov.u32 %ws_b32_0, 0;\n\tst.local.u32 [24], %ws_b32_0;" LEFT);
	expect_race("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\nret;",
	            "mov.u32 %ws_b32_0, 0;\n\tst.local.u32 [25], %ws_b32_0;\n\tbarrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n\t"
	            "pmevent 7;" LEFT);
	expect_race("barrier.cluster.arrive;\nL:\nbarrier.cluster.wait;\nret;",
	            "mov.u32 %ws_b32_0, 8192;\n\tst.local.u32 [25], %ws_b32_0;\n\tbarrier.cluster.arrive;\nL:\nbarrier.cluster.wait;\n\t"
	            "pmevent 7;" LEFT);
	expect_race("mapa.u64 %d1, %d2, 1;\nld.u32 %r1, [%d1];\nst.shared::cluster.u32 [%r2], %r1;\natom.add.u32 %r1, [%d1], 1;\nret;",
	            "mapa.u64 %d1, %d2, 1;\nmov.u32 %ws_b32_0, 68;\n\tst.local.u32 [%d1+26], %ws_b32_0;\n\tld.u32 %r1, [%d1];\n"
	            "cvt.u64.u32 %ws_b64_0, %r2;\n\tcvt.u64.u32 %ws_b64_1, %r1;\n\tmov.u32 %ws_b32_0, 100;\n\tst.local.u32 [%ws_b64_0+27], %ws_b32_0;\n\t"
	            "st.shared::cluster.u32 [%r2], %r1;\nmov.u32 %ws_b32_0, 18244;\n\tst.local.u32 [%d1+28], %ws_b32_0;\n\t"
	            "atom.add.u32 %r1, [%d1], 1;" LEFT);
}

static void race_follows_barriers(void **state)
{
	expect_race("bar.sync 0;\n@%p1 bar.sync 1, %r1;\nbar.red.popc.u32 %r1, 2, 64, %p1;\nbarrier.sync 3;\nret;",
	            "pmevent 12;\n\tbar.sync 0;\n\tpmevent 13;\n@%p1 mov.u32 %ws_b32_0, 1;\n\t"
	            "@%p1 st.local.v2.u32 [11], {%ws_b32_0, %r1};\n\t@%p1 bar.sync 1, %r1;\n\t@%p1 mov.u32 %ws_b32_0, 1;\n\t"
	            "@%p1 st.local.v2.u32 [15], {%ws_b32_0, %r1};\nmov.u32 %ws_b32_0, 2;\n\tmov.u32 %ws_b32_1, 64;\n\t"
	            "st.local.v2.u32 [11], {%ws_b32_0, %ws_b32_1};\n\tbar.red.popc.u32 %r1, 2, 64, %p1;\n\t"
	            "mov.u32 %ws_b32_0, 2;\n\tmov.u32 %ws_b32_1, 64;\n\tst.local.v2.u32 [15], {%ws_b32_0, %ws_b32_1};\n"
	            "pmevent 12;\n\tbarrier.sync 3;\n\tpmevent 13;" LEFT);
	expect_race("bar.arrive %r2, 64;\nbar.sync 0;\nret;",
	            "mov.u32 %ws_b32_0, 4294967295;\n\tst.local.v2.u32 [11], {%r2, %ws_b32_0};\n\tbar.arrive %r2, 64;\n"
	            "mov.u32 %ws_b32_0, 0;\n\tmov.u32 %ws_b32_1, 4294967295;\n\tst.local.v2.u32 [11], {%ws_b32_0, %ws_b32_1};\n\t"
	            "bar.sync 0;\n\tmov.u32 %ws_b32_0, 0;\n\tmov.u32 %ws_b32_1, 4294967295;\n\t"
	            "st.local.v2.u32 [15], {%ws_b32_0, %ws_b32_1};" LEFT);
	expect_race("bar.warp.sync %r2;\nbar.warp.sync 255;\nret;",
	            "bar.warp.sync %r2;\n\tst.local.u32 [14], %r2;\nbar.warp.sync 255;\n\tmov.u32 %ws_b32_0, 255;\n\t"
	            "st.local.u32 [14], %ws_b32_0;" LEFT);
}

static void warps_come_together_where_they_must(void **state)
{
	expect_race("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];\n"
	            "@%p1 movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;\nret;",
	            "bar.warp.sync -1;\n\tldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];\n@%p1 bar.warp.sync -1;\n\t"
	            "@%p1 movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;" LEFT);
}

/* What needs no check in a launch runs a copy of the code, in which labels have other names and nothing is inserted. */
static void race_keeps_a_copy_for_launches_without_checks(void **state)
{
	struct ws_buf out = { 0 };
	struct work w;

	begin_race(&w, HEAD ".entry a(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %d<9>; .reg .pred %q;\n"
	           "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; /* L: ; */ setp.gt.u32 %q, %r1, 9;\n@%q bra L; // L: {\n"
	           "mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n{ .reg .b32 %r3; L2: mov.u32 %r3, 7;\n"
	           "st.global.u32 [%d3], %r3; }\nL: ret;\n}\n", false);
	assert_true(ws_rw_end(w.p));
	ws_ptx_print(w.m, &out);
	assert_non_null(strstr(out.data, "ret;\n$ws_"));
	assert_non_null(strstr(out.data, ":   \nld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; /* L: ; */ setp.gt.u32 %q, %r1, 9;\n"
	                       "@%q bra $ws_copy_L; // L: {\nmul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n"
	                       "{ .reg .b32 %r3; $ws_copy_L2: mov.u32 %r3, 7;\nst.global.u32 [%d3], %r3; }\n"
	                       "$ws_copy_L: ret;\n}"));
	ws_buf_free(&out);
	finish(&w);
}

/* Launches with all the shared memory that there is have no room for the checks': the kernel as it is has to be there. */
static void race_keeps_kernels_that_leave_no_room(void **state)
{
	static const struct { const char *name, *body; bool plain; } rows[] = {
		{ "dynamic", "ld.shared.u32 %r1, [d]; st.shared.u32 [%r1], 1;", true },
		{ "static", "ld.shared.u32 %r1, [s]; st.shared.u32 [%r1], 1;", false },
		{ "with hooks in what it calls", "mov.u32 %r1, d; call f, ();", false },
	};

	for (size_t k = 0; k < WS_COUNT(rows); k++) {
		struct ws_buf text = { 0 }, out = { 0 };
		struct work w;

		ws_buf_printf(&text, HEAD ".extern .shared .align 4 .b8 d[];\n.shared .u32 s[2];\n.func f() { st.shared.u32 [s], 1; ret; }\n"
		              ".entry k() { .reg .u32 %%r<3>; %s ret; }\n", rows[k].body);
		begin_race(&w, text.data, true);
		assert_int_equal(ws_rewrite_result(w.m)->kernels[0].plain, rows[k].plain);
		assert_true(ws_rw_end(w.p));
		ws_ptx_print(w.m, &out);
		assert_true(!strstr(out.data, ".entry __warpsafe_plain_k()") != rows[k].plain);
		ws_buf_free(&text);
		ws_buf_free(&out);
		finish(&w);
	}
}

/* A count that is the number of threads which the kernel requires is all of them. */
static void race_knows_required_block_sizes(void **state)
{
	struct work w;

	begin_race(&w, HEAD ".entry k() .reqntid 20, 3 { bar.sync 0, 64; bar.sync 0, 32; ret; }\n", false);
	expect_from(&w, "pmevent 12", "pmevent 12;\n\tbar.sync 0, 64;\n\tpmevent 13; mov.u32 %ws_b32_0, 0;\n\t"
	            "mov.u32 %ws_b32_1, 32;\n\tst.local.v2.u32 [11], {%ws_b32_0, %ws_b32_1};\n\tbar.sync 0, 32;\n\t"
	            "mov.u32 %ws_b32_0, 0;\n\tmov.u32 %ws_b32_1, 32;\n\tst.local.v2.u32 [15], {%ws_b32_0, %ws_b32_1}; "
	            "pmevent 3;\n\tret; }\n");
}

static void race_sees_every_way_out(void **state)
{
	expect_race("@%p1 ret;\n@!%p1 exit;", "@%p1 pmevent 3;\n\t@%p1 ret;\n@!%p1 pmevent 3;\n\t@!%p1 exit;\npmevent 3;\n\t");
	expect_race("bra L;\nret;\nL:", "bra L;" LEFT "L:\npmevent 3;\n\t");
}

static void race_enters_checked_kernels_alone(void **state)
{
	const struct ws_rw_result *r;
	struct work w;

	begin_race(&w, HEAD ".func f() { exit; }\n.func g() { ret; }\n.entry a() { ret; }\n"
	           ".entry b() .maxntid 64 { call f, (); ret; }\n"
	           ".entry c() { .reg .u32 %r<3>; call f, (); tcgen05.fence::before_thread_sync; ret; }\n"
	           ".entry d() { .reg .u32 %r<3>; call g, (); tcgen05.fence::before_thread_sync; ret; }\n", true);
	r = ws_rewrite_result(w.m);
	assert_int_equal(r->nkernels, 4);
	assert_string_equal(r->race, "__warpsafe_race");
	assert_true(r->module != 0);
	assert_null(r->kernels[1].why);
	assert_string_equal(r->kernels[3].why, "tcgen05 at t.ptx:9");
	assert_true(ws_rw_reaches(&r->kernels[1], w.m->funcs[0]) && !ws_rw_reaches(&r->kernels[1], w.m->funcs[1]));
	expect_from(&w, ".func f", ".func f() { pmevent 3;\n\texit; }\n.func g() { ret; }\n"
	            ".entry a() .maxnreg 32\n{\n\t.reg .b32 \t%ws_b32_<1>;\n\tmov.u32 %ws_b32_0, 0;\n\t"
	            "st.local.u32 [1], %ws_b32_0; pmevent 3;\n\tret; }\n"
	            ".entry b() .maxntid 64 {\n\t.reg .b32 \t%ws_b32_<1>;\n\tmov.u32 %ws_b32_0, 1;\n\t"
	            "st.local.u32 [1], %ws_b32_0; call f, (); pmevent 3;\n\tret; }\n"
	            ".entry c() .maxnreg 64\n{\n\tpmevent 2; .reg .u32 %r<3>; call f, (); tcgen05.fence::before_thread_sync; ret; }\n"
	            ".entry d() { .reg .u32 %r<3>; call g, (); tcgen05.fence::before_thread_sync; ret; }\n");
}

/* One parameter more says where a launch stands among others; not in modules that the program links. */
static void race_gives_kernels_a_parameter(void **state)
{
	static const struct { const char *params, *found; uint32_t at; bool part; } rows[] = {
		{ "", ".entry k(.param .align 16 .b8 __warpsafe_launch[128])", 0, false },
		{ "()", ".entry k(.param .align 16 .b8 __warpsafe_launch[128])", 0, false },
		{ "(.param .u8 a, .param .u64 b)", ".param .u64 b,\n\t.param .align 16 .b8 __warpsafe_launch[128])", 16, false },
		{ "(.param .u64 a, .param .u64 b, .param .b8 c[3])", ".param .b8 c[3],\n\t.param .align 16 .b8 __warpsafe_launch[128])", 32, false },
		{ "(.param .b8 c[3960])", ".param .b8 c[3960],\n\t.param .align 16 .b8 __warpsafe_launch[128])", 3968, false },
		{ "(.param .b8 c[3972])", ".entry k(.param .b8 c[3972])", UINT32_MAX, false },
		{ "(.param .u64 a)", ".entry k(.param .u64 a)", UINT32_MAX, true },
	};

	for (size_t n = 0; n < WS_COUNT(rows); n++) {
		struct ws_buf text = { 0 }, out = { 0 };
		const struct ws_rw_kernel *k;
		struct work w;

		ws_buf_printf(&text, "%s.entry k%s { ret; }\n", HEAD, rows[n].params);
		begin_race(&w, text.data, rows[n].part);
		k = ws_rewrite_result(w.m)->kernels;
		assert_int_equal(k->compared, rows[n].at != UINT32_MAX);
		if (k->compared)
			assert_int_equal(k->launch_at, rows[n].at);
		assert_true(ws_rw_end(w.p));
		ws_ptx_print(w.m, &out);
		if (!strstr(out.data, rows[n].found))
			fail_msg("no '%s' in\n%s", rows[n].found, out.data);
		ws_ptx_free(ptx_good(out.data));
		ws_buf_free(&text);
		ws_buf_free(&out);
		finish(&w);
	}
}

/* Beside a kernel with proofs and checks that they do not spare there is one in which they hold: nothing is told, nothing computed. */
static void race_adds_a_kernel_in_which_proofs_hold(void **state)
{
	static const char reads[] = "ld.global.u32 %r1, [%rd2];\n", writes[] = "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r1;\n";
	static const char bounded[] = "mul.wide.u32 %rd5, %r1, 4; ld.param.u64 %rd6, [q]; add.s64 %rd7, %rd6, %rd5; ld.global.u32 %r2, [%rd7];\n";
	static const struct { const char *before, *after; bool is, stays; } rows[] = {
		{ reads, writes, true, false },
		{ "", writes, false, false },        /* no proof spares anything */
		{ reads, "", false, false },         /* nothing else is checked */
		{ reads, "st.global.u32 [%rd2], %r1;\n", false, false },     /* proofs spare all or nothing */
		{ bounded, "st.global.u32 [%rd1], %r1;\n", true, true },     /* of one word they do in launches of one thread alone */
		{ reads, "st.global.u32 [%rd1], %r1;\n", true, true },
		{ "", "st.global.u32 [%rd1], %r1;\n", false, false },
	};

	for (size_t n = 0; n < WS_COUNT(rows); n++) {
		struct ws_buf text = { 0 }, out = { 0 };
		const struct ws_rw_kernel *k;
		const char *sure, *set;
		struct work w;

		ws_buf_printf(&text, "%s.visible .entry k(.param .u64 p, .param .u64 q)\n{\n.reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .pred %%p1;\n"
		              "ld.param.u64 %%rd1, [p]; ld.param.u64 %%rd2, [q]; mov.u32 %%r1, %%tid.x; setp.gt.u32 %%p1, %%r1, 9; @%%p1 bra END;\n"
		              "mul.wide.u32 %%rd3, %%r1, 4; add.s64 %%rd2, %%rd2, %%rd3;\n%s%sEND: ret;\n}\n", HEAD, rows[n].before, rows[n].after);
		begin_race(&w, text.data, false);
		k = ws_rewrite_result(w.m)->kernels;
		assert_int_equal(k->sure.has_sure, rows[n].is);
		assert_true(!k->sure.has_sure || k->tells);
		if (!ws_rw_end(w.p))
			fail_msg("%s", w.said.data);
		ws_ptx_print(w.m, &out);
		sure = strstr(out.data, ".visible .entry __warpsafe_sure_k(.param .u64 p, .param .u64 q,\n\t.param .align 16 .b8 __warpsafe_launch[128])");
		assert_int_equal(sure != NULL, rows[n].is);
		set = sure ? strstr(sure, "setp.eq.u32 %ws_kept_pred_") : NULL;
		assert_int_equal(sure && strstr(sure, "setp.ne.u32 %ws_kept_pred_"), rows[n].stays);
		if (sure && (!set || strstr(sure, "setp.ne.u64 %ws_kept_pred_") || strstr(sure, "and.pred") || strstr(sure, "pmevent 15") || !strstr(out.data, "pmevent 15") ||
		             !strstr(sure, "$ws_copy_END") || !strstr(sure, "+5], {")))
			fail_msg("%s", sure);
		ws_ptx_free(ptx_good(out.data));
		ws_buf_free(&text);
		ws_buf_free(&out);
		finish(&w);
	}
}

/* Kernels with checks in every launch or with fences have as many registers as 1,024 threads can have. */
static void race_leaves_registers_to_its_calls(void **state)
{
	static const char *const kernels[][2] = {
		{ "ld.global.u32 %r1, [%d1]; st.global.u32 [%d1], %r1; membar.gl; st.global.u32 [%d1], %r1; ret;", ".maxnreg 64" },
		{ "membar.gl; ret;", ".maxnreg 32" },
		{ "mov.u32 %r1, 1; ret;", ".maxnreg 32" },
	};

	for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
		struct ws_buf text = { 0 }, out = { 0 };
		struct work w;

		ws_buf_printf(&text, HEAD ".entry k()\n{ .reg .u32 %%r<9>; .reg .u64 %%d<9>; mov.u64 %%d1, 64; %s }\n", kernels[k][0]);
		begin_race(&w, text.data, false);
		assert_true(ws_rw_end(w.p));
		ws_ptx_print(w.m, &out);
		assert_non_null(strstr(out.data, kernels[k][1]));
		ws_buf_free(&out);
		ws_buf_free(&text);
		finish(&w);
	}
}

static void race_says_what_it_cannot_check(void **state)
{
	static const struct { const char *inst, *why; } rows[] = {
		{ "cp.async.ca.shared.global [%r1], [%d1], 4;", NULL },
		{ "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r2], 16;", NULL },
		{ "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d1], [%r2], 16, %w1;", "cp.async at " },
		{ "cp.async.ca.shared.global [%r1], [%d1], 4;\ncp.async.bulk.global.shared::cta.bulk_group [%d1], [%r2], 16;", "it has groups of" },
		{ "cp.async.wait_all;", NULL },
		{ "mbarrier.init.shared.b64 [%r1], 1;", NULL },
		{ "mbarrier.arrive.shared::cluster.b64 _, [%r1];", NULL },
		{ "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r1], 4;", NULL },
		{ "mbarrier.complete_tx.shared::cta.b64 [%r1], 4;", NULL },
		{ "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r1], 4;", NULL },
		{ "@%p1 mbarrier.test_wait.shared.b64 %p1, [%r1], %d1;", "mbarrier at " },
		{ "bar.arrive 1, 64;", NULL },
		{ "bar.red.popc.u32 %r1, 0, %r1, %p1;", "a barrier that sets its own operands at " },
		{ "barrier.cluster.arrive;", NULL },
		{ "@%p1 bar.red.or.pred %p1, 0, %p2;", "a barrier that sets its own guard at " },
		{ "mapa.u64 %d1, %d2, 1;", NULL },
		{ "ld.shared::cluster.u32 %r1, [%r2];", NULL },
		{ "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], 1, [%r2];", NULL },
		{ "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r1], {1, 2, 3, 4}, [%r2];", NULL },
		{ "st.shared::cluster.u32 [%r2], %r1;", NULL },
		{ "atom.shared::cluster.add.u32 %r1, [%r2], 1;", NULL },
		{ "barrier.cluster.wait;", NULL },
		{ "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], 16, [%r2];", NULL },
		{ "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%d1], 16, [%r2], %w1;", NULL },
		{ "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 16, [%r3];", NULL },
		{ "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u64 [%r1], [%r2], 16, [%r3];", NULL },
		{ "cp.async.bulk.commit_group;", NULL },
		{ "cp.async.bulk.wait_group 0;", NULL },
		{ "cp.async.bulk.prefetch.L2.global [%d1], 16;", NULL },
		{ "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1, {%r2}], [%r3];", NULL },
		{ "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r1], "
		  "[%d1, {%r0, %r0, %r0, %r0, %r0}], [%r3];", "cp.async at " },
		{ "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r2}], [%r1];", NULL },
		{ "cp.async.bulk.prefetch.tensor.1d.L2.global [%d1, {%r2}];", NULL },
		{ "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [%r1], 16;", NULL },
		{ "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%d1, {%r2}], [%r1];", NULL },
		{ "mbarrier.arrive.expect_tx.shared.b64 %d1, [%r1], 4;", NULL },
		{ "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 4;", NULL },
		{ "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3];", NULL },
		{ "wgmma.fence.sync.aligned;", NULL },
		{ "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r1, %r2}, %d1, %d2, 1, 1, 1, 0, 0;", NULL },
		{ "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0, %r1, %r2, %r3}, {%r0, %r1, %r2, %r3}, %d2, 1;", NULL },
		{ "wgmma.mma_async.sp.sync.aligned.m64n8k32.f16.f16.f16 {%r1, %r2}, %d1, %d2, %r1, 0, 1, 1, 1, 0, 0;", "wgmma at " },
		{ "wgmma.commit_group.sync.aligned;", NULL },
		{ "wgmma.wait_group.sync.aligned 0;", NULL },
		{ "tcgen05.fence::before_thread_sync;", "tcgen05 at " },
		{ "setmaxnreg.inc.sync.aligned.u32 40;", NULL },
		{ "multimem.ld_reduce.relaxed.gpu.global.add.u32 %r1, [%d1];", "multimem at " },
		{ "multimem.red.relaxed.gpu.global.add.u32 [%d1], %r1;", "multimem at " },
		{ "fence.proxy.async;", NULL },
		{ "call free, (p);", "call of free at " },
		{ "call other, ();", "call of other at " },
		{ "call (q), malloc, (p);", NULL },
		{ "call cudaGraphSetConditional, (p, v);", NULL },
		{ "griddepcontrol.wait;", NULL },
		{ ".shared .b8 s[47200];", "47200 bytes of shared memory leave no room" },
		{ ".shared .b8 s[46000];", NULL },
		{ "mov.u64 %d1, other; call %d1, (), pr;", "'other' may be one" },
	};

	for (size_t k = 0; k < WS_COUNT(rows); k++) {
		const struct ws_rw_result *r;
		struct ws_buf text = { 0 };
		struct work w;

		ws_buf_printf(&text, ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .func free(.param .b64 a);\n"
		              ".extern .func (.param .b64 r) malloc(.param .b64 a);\n.extern .func other();\n"
		              ".extern .func cudaGraphSetConditional(.param .b64 a, .param .b32 b);\n.entry k()\n{\n"
		              ".reg .pred %%p<4>; .reg .b16 %%w<4>; .reg .b32 %%r<4>; .reg .b64 %%d<4>; .param .b64 p; .param .b64 q; .param .b32 v;\n"
		              "pr: .callprototype _ ();\n%s\nret;\n}\n", rows[k].inst);
		begin_race(&w, text.data, false);
		r = ws_rewrite_result(w.m);
		assert_int_equal(r->nkernels, 1);
		if (rows[k].why ? !r->kernels[0].why || !strstr(r->kernels[0].why, rows[k].why) : r->kernels[0].why != NULL)
			fail_msg("%s: %s", rows[k].inst, r->kernels[0].why ? r->kernels[0].why : "is checked");
		assert_true(!r->race == (rows[k].why != NULL));
		assert_true(ws_rw_end(w.p));
		if (rows[k].why)
			assert_int_equal(w.m->edits->n, 0);
		ws_buf_free(&text);
		finish(&w);
	}
}

/* Accesses that have no check stand in the list of places, each of them. */
static void race_lists_accesses_without_a_check(void **state)
{
	static const char *const accesses[] = {
		"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];",
		"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r1};",
		"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%r9];",
		"tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [image, {%r5}];",
		"suld.b.1d.b32.trap %r1, [%d1, {%r2}];",
		"sust.b.1d.b32.trap [%d1, {%r2}], %r1;",
		"discard.global.L2 [%d1], 128;",
		"tensormap.replace.tile.global_address.global.b1024.b64 [%d1], %d2;",
	};

	for (size_t k = 0; k < WS_COUNT(accesses); k++) {
		const struct ws_rw_result *r;
		struct ws_buf text = { 0 };
		struct work w;

		ws_buf_printf(&text, ".version 8.3\n.target sm_90a\n.address_size 64\n.global .texref image;\n.entry k()\n{\n"
		              ".reg .b32 %%r<10>; .reg .b64 %%d<4>;\n%s\nst.global.u32 [%%d1], 1;\nret;\n}\n", accesses[k]);
		begin_race(&w, text.data, false);
		assert_true(ws_rw_end(w.p));
		r = ws_rewrite_result(w.m);
		if (r->kernels[0].why)
			fail_msg("%s: %s", accesses[k], r->kernels[0].why);
		if (r->nsites != 2)
			fail_msg("%s: %u places", accesses[k], r->nsites);
		assert_int_equal(r->sites[0].number, WS_RW_NO_CHECK);
		assert_int_not_equal(r->sites[1].number, WS_RW_NO_CHECK);
		ws_buf_free(&text);
		finish(&w);
	}
}

static void race_goes_through_calls(void **state)
{
	const struct ws_rw_result *r;
	struct work w;

	begin_race(&w, HEAD ".func bad() { tcgen05.fence::before_thread_sync; ret; }\n.visible .func open() { ret; }\n"
	           ".func taken() { ret; }\n.global .u64 table[] = { taken };\n.func mid() { call bad, (); ret; }\n"
	           ".entry a() { call mid, (); ret; }\n.entry b() { call open, (); ret; }\n"
	           ".entry c() { .reg .u64 %d<2>; pr: .callprototype _ (); call %d1, (), pr; ret; }\n", false);
	r = ws_rewrite_result(w.m);
	assert_string_equal(r->kernels[0].why, "tcgen05 at t.ptx:4");
	assert_null(r->kernels[1].why);
	assert_null(r->kernels[2].why);
	assert_true(ws_rw_reaches(&r->kernels[2], w.m->funcs[2]));
	assert_true(ws_rw_end(w.p));
	finish(&w);
	begin_race(&w, HEAD ".visible .func open() { ret; }\n.func own() { exit; }\n.entry a() { call open, (); ret; }\n"
	           ".entry b() { call own, (); ret; }\n", true);
	r = ws_rewrite_result(w.m);
	assert_non_null(strstr(r->kernels[0].why, "'open', which other modules can call"));
	assert_null(r->kernels[1].why);
	assert_true(ws_rw_end(w.p));
	finish(&w);
}

/* Tiles of tensors lie in dynamic shared memory, of which linking forgets the alignment. */
static void race_does_not_move_tiles(void **state)
{
	static const unsigned aligns[] = { 16, 128, 1024 };
	struct work w;

	for (unsigned k = 0; k < WS_COUNT(aligns); k++) {
		const struct ws_rw_result *r;
		struct ws_buf b = { 0 };
		char text[512], why[32];

		snprintf(text, sizeof text, HEAD ".extern .shared .align %u .b8 tiles[];\n"
		         ".entry a() { .reg .b32 %%r<3>; .reg .b64 %%d<2>;\n"
		         "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%%r1, %%r2}, %%d0, %%d1, 1, 1, 1, 0, 0; ret; }\n.entry b() { ret; }\n", aligns[k]);
		snprintf(why, sizeof why, "aligned to %u bytes", aligns[k]);
		begin_race(&w, text, false);
		r = ws_rewrite_result(w.m);
		assert_true(aligns[k] == 16 ? !r->kernels[0].why : r->kernels[0].why && strstr(r->kernels[0].why, why));
		assert_null(r->kernels[1].why);
		assert_true(ws_rw_end(w.p));
		ws_ptx_print(w.m, &b);
		assert_non_null(strstr(b.data, "__warpsafe_block[2048]"));
		ws_buf_free(&b);
		finish(&w);
	}
}

/* A kernel without room for the state of the checks must not come to functions that have them. */
static void race_leaves_functions_of_full_kernels_alone(void **state)
{
	const struct ws_rw_result *r;
	struct work w;

	begin_race(&w, HEAD ".func f() { exit; }\n.entry a() { .shared .b8 s[48000]; call f, (); ret; }\n"
	           ".entry b() { call f, (); ret; }\n.entry c() { ret; }\n", true);
	r = ws_rewrite_result(w.m);
	assert_non_null(strstr(r->kernels[1].why, "shares 'f' with a kernel that has no room"));
	assert_null(r->kernels[2].why);
	expect_from(&w, ".func f", ".func f() { exit; }\n.entry a() { .shared .b8 s[48000]; call f, (); ret; }\n"
	            ".entry b() { call f, (); ret; }\n.entry c() .maxnreg 32\n{\n\t.reg .b32 \t%ws_b32_<1>;\n\t"
	            "mov.u32 %ws_b32_0, 2;\n\tst.local.u32 [1], %ws_b32_0; pmevent 3;\n\tret; }\n");
}

static void race_numbers_what_it_checks(void **state)
{
	const struct ws_rw_result *r;
	struct work w;

	begin_race(&w, ".version 9.0\n.target sm_90\n.address_size 64\n.entry k() {\n.reg .b32 %r<4>; .reg .b64 %d<4>;\n"
	           "ld.const.u32 %r1, [8];\nld.global.u32 %r1, [%d1];\n"
	           "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];\nst.u32 [%d2], 1;\nret; }\n", false);
	r = ws_rewrite_result(w.m);
	assert_true(ws_rw_end(w.p));
	assert_int_equal(r->nsites, 3);
	assert_int_equal(r->sites[0].number, 0);
	assert_int_equal(r->sites[1].number, WS_RW_NO_CHECK);
	assert_int_equal(r->sites[1].rw_class, WS_RW_UNHANDLED);
	assert_int_equal(r->sites[2].number, 1);
	assert_string_equal(r->sites[2].place, "t.ptx:9");
	finish(&w);
}

/* A read of bytes that this thread has read before, with nothing in between that synchronizes. */
static void reads_that_repeat_one_need_no_check(void **state)
{
	static const struct { const char *body; unsigned all, checks; } rows[] = {
		{ "ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1];", 2, 1 },
		{ "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1]; st.shared.u32 [%r1], 1; ld.global.u32 %r5, [%d1+12];", 3, 2 },
		{ "ld.global.u32 %r1, [%d1]; ld.global.v2.u32 {%r2, %r3}, [%d1];", 2, 2 },
		{ "ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1+4];", 2, 2 },
		{ "ld.global.u64 %d1, [%d1]; ld.global.u64 %d2, [%d1];", 2, 2 },
		{ "ld.global.u32 %r1, [%d1]; add.u64 %d1, %d1, 4; ld.global.u32 %r2, [%d1];", 2, 2 },
		{ "ld.global.u32 %r1, [%d1]; bar.sync 0; ld.global.u32 %r2, [%d1];", 2, 2 },
		{ "ld.global.u32 %r1, [%d1]; bar.warp.sync -1; ld.global.u32 %r2, [%d1];", 2, 2 },
		{ "ld.global.u32 %r1, [%d1]; membar.gl; ld.global.u32 %r2, [%d1];", 2, 2 },
		{ "ld.global.u32 %r1, [%d1]; atom.global.add.u32 %r3, [%d2], 1; ld.global.u32 %r2, [%d1];", 3, 3 },
		{ "ld.global.u32 %r1, [%d1]; ld.volatile.global.u32 %r3, [%d2]; ld.global.u32 %r2, [%d1];", 3, 3 },
		{ "ld.global.u32 %r1, [%d1]; call f, (); ld.global.u32 %r2, [%d1];", 2, 2 },
		{ "ld.global.u32 %r1, [%d1]; L: ld.global.u32 %r2, [%d1]; @%p1 bra L;", 2, 2 },
		{ "ld.global.u32 %r1, [%d1]; ld.u32 %r2, [%d1];", 2, 2 },
		{ "ld.relaxed.gpu.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1];", 2, 2 },
		{ "st.global.u32 [%d1], %r1; ld.global.u32 %r2, [%d1]; st.global.u32 [%d1], %r1;", 3, 2 },
		{ "@%p1 ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1];", 2, 2 },
		{ "@%p1 ld.global.u32 %r1, [%d1]; @!%p1 ld.global.u32 %r2, [%d1];", 2, 2 },
		{ "@%p1 ld.global.u32 %r1, [%d1]; @%p1 ld.global.u32 %r2, [%d1];", 2, 1 },
		{ "@%p1 ld.global.u32 %r1, [%d1]; not.pred %p1, %p1; @%p1 ld.global.u32 %r2, [%d1];", 2, 2 },
		{ "ld.global.u32 %r1, [%d1]; @%p1 ld.global.u32 %r2, [%d1]; ld.global.u32 %r2, [%d1];", 3, 1 },
	};

	for (size_t k = 0; k < 2 * WS_COUNT(rows); k++) {
		struct ws_buf text = { 0 };
		unsigned checks = 0;
		struct work w;

		ws_buf_printf(&text, ".version 9.0\n.target sm_90\n.address_size 64\n.func f() { ret; }\n.entry k()\n{\n"
		              ".reg .pred %%p<3>; .reg .u32 %%r<9>; .reg .u64 %%d<9>;\n%s\n"
		              "red.global.add.u32 [%%d8], 1;\nret;\n}\n", rows[k / 2].body);
		begin(&w, text.data);
		assert_true(ws_rw_runtime(w.p, "runtime", race_runtime));
		assert_true(k % 2 ? ws_rw_pass_race_all(w.p) : ws_rw_pass_race(w.p));
		assert_true(ws_rw_end(w.p));
		checks = ws_rewrite_result(w.m)->nsites - 1;         /* but for the red, without which nobody writes */
		if (checks != (k % 2 ? rows[k / 2].all : rows[k / 2].checks))
			fail_msg("%u checks: %s", checks, rows[k / 2].body);
		ws_buf_free(&text);
		finish(&w);
	}
}

/* A read before a write of the same bytes by the same lanes: one check stands for both. */
static void a_write_is_checked_for_the_read_before(void **state)
{
	static const struct { const char *body; unsigned checks; bool update; } rows[] = {
		{ "ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;", 1, true },
		{ "ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1]; st.global.f32 [%d1], 0f00000000;", 1, true },
		{ "@%p1 ld.global.u32 %r1, [%d1]; @%p1 st.global.u32 [%d1], %r1;", 1, true },
		{ "ld.global.u32 %r1, [%d1]; st.global.u32 [%d1], %r1; st.global.u32 [%d1], %r2;", 2, true },
		{ "ld.global.u32 %r1, [%d1]; @%p1 st.global.u32 [%d1], %r1;", 2, false },
		{ "@%p1 ld.global.u32 %r1, [%d1]; st.global.u32 [%d1], %r1;", 2, false },
		{ "ld.global.u32 %r1, [%d1]; st.global.u64 [%d1], %d2;", 2, false },
		{ "ld.global.u64 %d2, [%d1]; st.global.u32 [%d1], %r1;", 2, false },
		{ "ld.global.u32 %r1, [%d1]; bar.sync 0; st.global.u32 [%d1], %r1;", 2, false },
		{ "ld.global.u32 %r1, [%d1]; add.u64 %d1, %d1, 4; st.global.u32 [%d1], %r1;", 2, false },
		{ "ld.global.u32 %r1, [%d1]; st.relaxed.gpu.global.u32 [%d1], %r1;", 2, false },
		{ "ld.global.u32 %r1, [%d1]; red.global.add.u32 [%d1], 1;", 2, false },
		{ "st.global.u32 [%d1], %r1; ld.global.u32 %r1, [%d1];", 2, false },
	};

	for (size_t k = 0; k < WS_COUNT(rows); k++) {
		struct ws_buf text = { 0 };
		const struct ws_rw_result *r;
		bool update = false;
		struct work w;

		ws_buf_printf(&text, ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n"
		              ".reg .pred %%p<3>; .reg .u32 %%r<9>; .reg .u64 %%d<9>;\n%s\nret;\n}\n", rows[k].body);
		begin(&w, text.data);
		assert_true(ws_rw_runtime(w.p, "runtime", race_runtime));
		assert_true(ws_rw_pass_race(w.p) && ws_rw_end(w.p));
		r = ws_rewrite_result(w.m);
		for (uint32_t i = 0; i < r->nsites; i++) {
			update |= r->sites[i].read != NULL;
			assert_true(!r->sites[i].read || (r->sites[i].kind == WS_RW_WRITE && r->sites[i].read == &w.f->insts[0]));
		}
		if (r->nsites != rows[k].checks || update != rows[k].update)
			fail_msg("%u checks: %s", r->nsites, rows[k].body);
		ws_buf_free(&text);
		finish(&w);
	}
}

/* A read of shared memory in an interval in which nobody writes there; `all` are the shared accesses. */
/* A function that is there once and names the begin of dynamic shared memory would have it lie behind the static memory of every kernel of the
 * module that calls it, so that each kernel had as much as the one with the most. What is placed in a kernel may. */
static void no_function_names_dynamic_memory(void **state)
{
	static const char *const runtimes[] = { ws_device_race, ws_device_race_sm90, ws_device_race_remote, ws_device_race_tensor };
	unsigned named = 0;

	for (unsigned n = 0; n < WS_COUNT(runtimes); n++) {
		struct ws_ptx_module *m = ws_ptx_parse("runtime.ptx", runtimes[n], strlen(runtimes[n]), NULL, NULL);

		assert_non_null(m);
		for (uint32_t f = 0; f < m->nfuncs; f++)
			for (uint32_t k = 0; k < m->funcs[f]->ninsts; k++)
				for (unsigned o = 0; o < m->funcs[f]->insts[k].nops; o++) {
					const struct ws_ptx_sym *s = m->funcs[f]->insts[k].ops[o].sym;

					if (!s || strcmp(s->name, "__warpsafe_dynamic"))
						continue;
					named++;
					if (!strncmp(m->funcs[f]->name, "__warpsafe_", 11))
						fail_msg("%s names it", m->funcs[f]->name);
				}
		ws_ptx_free(m);
	}
	assert_true(named > 0);
}

#define ROUNDS(n) "mov.u32 %r5, 0; mov.u32 %r6, " n "; "
#define ON        "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r6; "
static void reads_in_intervals_without_writes_need_no_check(void **state)
{
	static const struct { const char *body; unsigned all, checks; } rows[] = {
		{ "st.shared.u32 [%r1], 1; bar.sync 0; ld.shared.u32 %r2, [%r3];", 2, 1 },
		{ "st.shared.u32 [%r1], 1; ld.shared.u32 %r2, [%r3]; bar.sync 0;", 2, 2 },
		{ "ld.shared.u32 %r2, [%r3]; bar.sync 0; st.shared.u32 [%r1], 1;", 2, 1 },
		{ "st.shared.u32 [%r1], 1; bar.warp.sync -1; ld.shared.u32 %r2, [%r3];", 2, 2 },
		{ "st.shared.u32 [%r1], 1; bar.sync 0; ld.u32 %r2, [%d1];", 2, 2 },
		{ "st.shared.u32 [%r1], 1; bar.sync 0; ld.volatile.shared.u32 %r2, [%r3];", 2, 2 },
		{ "st.shared.u32 [%r1], 1; bar.sync 0; ld.shared.u32 %r2, [%r3]; st.u32 [%d1], 1;", 3, 3 },
		{ "st.shared.u32 [%r1], 1; bar.sync 0; ld.shared.u32 %r2, [%r3]; red.shared.add.u32 [%r1], 1;", 3, 3 },
		{ "st.shared.u32 [%r1], 1; bar.sync 0; ld.shared.u32 %r2, [%r3]; st.global.u32 [%d1], 1;", 3, 2 },
		/* a tile: filled, read, filled anew; and the same with the second barrier left out */
		{ "L: st.shared.u32 [%r1], 1; bar.sync 0; ld.shared.u32 %r2, [%r3]; bar.sync 0; @%p1 bra L;", 2, 1 },
		{ "L: st.shared.u32 [%r1], 1; bar.sync 0; ld.shared.u32 %r2, [%r3]; @%p1 bra L;", 2, 2 },
		/* the inner loop */
		{ "st.shared.u32 [%r1], 1; bar.sync 0; L: ld.shared.u32 %r2, [%r3]; @%p1 bra L; bar.sync 0; "
		  "st.shared.u32 [%r1], 1;", 3, 2 },
		/* some threads leave: they were at all barriers */
		{ "st.shared.u32 [%r1], 1; bar.sync 0; ld.shared.u32 %r2, [%r3]; @%p1 ret; bar.sync 0; st.shared.u32 [%r1], 2;",
		  3, 2 },
		/* barriers in both branches: threads are in different ones of them at the same time */
		{ "@%p1 bra L; bar.sync 0; ld.shared.u32 %r2, [%r3]; bra M; L: bar.sync 0; st.shared.u32 [%r1], 1; M: bar.sync 0;",
		  2, 2 },
		{ "@%p1 bra L; bar.sync 0; ld.shared.u32 %r2, [%r3]; bra M; L: bar.sync 0; M: bar.sync 0; st.shared.u32 [%r1], 1;",
		  2, 1 },
		{ "st.shared.u32 [%r1], 1; bar.sync 0, 64; ld.shared.u32 %r2, [%r3];", 2, 2 },
		{ "st.shared.u32 [%r1], 1; bar.red.popc.u32 %r4, 0, %p1; ld.shared.u32 %r2, [%r3];", 2, 1 },
		{ "st.shared.u32 [%r1], 1; bar.red.popc.u32 %r4, 0, 64, %p1; ld.shared.u32 %r2, [%r3];", 2, 2 },
		/* a barrier for some is a way round it */
		{ "st.shared.u32 [%r1], 1; @%p1 bar.sync 0; ld.shared.u32 %r2, [%r3];", 2, 2 },
		/* threads that go round the loop another number of times meet others behind it */
		{ "L: bar.sync 0; ld.shared.u32 %r2, [%r3]; @%p1 bra L; bar.sync 0; st.shared.u32 [%r1], 1;", 2, 2 },
		/* unless all go round it as often: */
		{ ROUNDS("%ntid.x") "L: st.shared.u32 [%r1], 1; bar.sync 0; " ON "@%p2 bra L; ld.shared.u32 %r2, [%r3];", 2, 1 },
		{ ROUNDS("%tid.x") "L: st.shared.u32 [%r1], 1; bar.sync 0; " ON "@%p2 bra L; ld.shared.u32 %r2, [%r3];", 2, 2 },
		{ ROUNDS("%ntid.x") "L: st.shared.u32 [%r1], 1; bar.sync 0; @%p1 " ON "@%p2 bra L; ld.shared.u32 %r2, [%r3];", 2, 2 },
		{ ROUNDS("%ntid.x") "L: st.shared.u32 [%r1], 1; bar.sync 0; ld.shared.u32 %r2, [%r3]; " ON "@%p2 bra L;", 2, 2 },
		{ ROUNDS("%ntid.x") "L: bar.sync 0; @%p1 bra M; mov.u32 %r4, 1; M: " ON "@%p2 bra N; bra L; N: st.shared.u32 [%r1], 1; bar.sync 0; bra L;"
		  " ld.shared.u32 %r2, [%r3];", 2, 1 },
		{ ROUNDS("%ntid.x") "st.shared.u32 [%r1], 1; L: bar.sync 0; " ON "@%p2 bra M; st.shared.u32 [%r1], 2; bra N; M: ld.shared.u32 %r2, [%r3];"
		  " N: bar.sync 0; @%p2 bra L;", 3, 2 },
		{ "st.shared.u32 [%r1], 1; bar.sync 0; ld.shared.u32 %r2, [%r3]; call reads, ();", 2, 1 },
		{ "st.shared.u32 [%r1], 1; bar.sync 0; ld.shared.u32 %r2, [%r3]; call writes, ();", 2, 2 },
		{ "st.shared.u32 [%r1], 1; bar.sync 0; call syncs, (); ld.shared.u32 %r2, [%r3];", 2, 2 },
	};

	for (size_t k = 0; k < 2 * WS_COUNT(rows); k++) {
		const struct ws_rw_result *r;
		struct ws_buf text = { 0 };
		unsigned checks = 0;
		struct work w;

		ws_buf_printf(&text, ".version 9.0\n.target sm_90\n.address_size 64\n"
		              ".func reads() { .reg .u32 %%r<3>; ld.shared.u32 %%r1, [%%r2]; ret; }\n"
		              ".func writes() { .reg .u32 %%r<3>; st.shared.u32 [%%r2], 1; ret; }\n"
		              ".func syncs() { bar.sync 0; ret; }\n"
		              ".entry k()\n{\n.reg .pred %%p<3>; .reg .u32 %%r<9>; .reg .u64 %%d<9>;\n%s\nret;\n}\n",
		              rows[k / 2].body);
		begin(&w, text.data);
		assert_true(ws_rw_runtime(w.p, "runtime", race_runtime));
		assert_true(k % 2 ? ws_rw_pass_race_all(w.p) : ws_rw_pass_race(w.p));
		assert_true(ws_rw_end(w.p));
		r = ws_rewrite_result(w.m);
		for (uint32_t i = 0; i < r->nsites; i++)
			checks += r->sites[i].func == w.f;
		if (checks != (k % 2 ? rows[k / 2].all : rows[k / 2].checks))
			fail_msg("%u checks: %s", checks, rows[k / 2].body);
		ws_buf_free(&text);
		finish(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(race_checks_accesses),
		cmocka_unit_test(race_follows_releases_and_acquires),
		cmocka_unit_test(releases_matter_where_a_kernel_can_come_to_a_fence),
		cmocka_unit_test(race_follows_clusters), cmocka_unit_test(no_function_names_dynamic_memory),
		cmocka_unit_test(race_follows_bulk_copies),
		cmocka_unit_test(race_follows_barriers),
		cmocka_unit_test(warps_come_together_where_they_must),
		cmocka_unit_test(race_keeps_a_copy_for_launches_without_checks),
		cmocka_unit_test(race_keeps_kernels_that_leave_no_room),
		cmocka_unit_test(race_knows_required_block_sizes),
		cmocka_unit_test(race_sees_every_way_out),
		cmocka_unit_test(race_enters_checked_kernels_alone),
		cmocka_unit_test(race_gives_kernels_a_parameter), cmocka_unit_test(race_adds_a_kernel_in_which_proofs_hold),
		cmocka_unit_test(race_leaves_registers_to_its_calls),
		cmocka_unit_test(race_follows_copies),
		cmocka_unit_test(race_follows_tensors),
		cmocka_unit_test(race_follows_products),
		cmocka_unit_test(race_follows_objects),
		cmocka_unit_test(race_follows_operations),
		cmocka_unit_test(race_says_what_it_cannot_check),
		cmocka_unit_test(race_lists_accesses_without_a_check),
		cmocka_unit_test(race_goes_through_calls),
		cmocka_unit_test(race_does_not_move_tiles),
		cmocka_unit_test(race_leaves_functions_of_full_kernels_alone),
		cmocka_unit_test(race_numbers_what_it_checks),
		cmocka_unit_test(reads_that_repeat_one_need_no_check),
		cmocka_unit_test(a_write_is_checked_for_the_read_before),
		cmocka_unit_test(reads_in_intervals_without_writes_need_no_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
