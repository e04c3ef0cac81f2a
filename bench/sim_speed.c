/* sim_speed.c - speed of the simulated GPU in PTX thread-instructions a second: five kernels, run plain on one core,
 * with the race detector, and on two host threads. Results are checked against the host.
 *
 *     sim_speed [--seconds=S] [--csv] [--plain] [--detect] [--clocked=MACHINE.conf] [--only=KERNEL] [--stats] [--touched] [--cpu]
 *               [bench/ptx/speed.ptx]
 *
 * --plain, --detect, --clocked (on a machine with a clock, one host thread) and --only leave the others out (for profiles).
 * --stats says what memory the detector used; --touched, in place of detection, how many bytes the kernels touch. --cpu takes processor time, which other work on the machine hardly moves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "detect/detect.h"
#include "gpu/gpu.h"
#include "timing/timing.h"

enum { N = 1 << 20, DIM = 256, BINS = 256, ROUNDS = 200, THREADS = 256 };

struct rig {
	struct ws_gpu *gpu;
	struct ws_gpu_module *module;
	struct ws_mem *a, *b, *c;
	const struct ws_detector *detector;      /* NULL = none */
	void *detector_self;
};

struct bench {
	const char *kernel;
	uint32_t grid[3], block[3];
	uint32_t n;                      /* the last parameter */
	unsigned buffers;                /* parameters before it */
	bool (*check)(const struct rig *r);
};

static const float *floats(const struct ws_mem *m)
{
	return (const float *)(const void *)m->host;
}

static const char *only;                 /* kernel; NULL = all */
static bool stats, cpu;
static const char *detector = "shadow";

/* ---- results ---- */
static bool check_add(const struct rig *r)
{
	for (int i = 0; i < N; i++)
		if (floats(r->c)[i] != floats(r->a)[i] + floats(r->b)[i])
			return false;
	return true;
}

static bool check_matrix(const struct rig *r)
{
	for (int row = 0; row < DIM; row += 37)
		for (int col = 0; col < DIM; col++) {
			float sum = 0;

			for (int k = 0; k < DIM; k++)
				sum = __builtin_fmaf(floats(r->a)[row * DIM + k], floats(r->b)[k * DIM + col], sum);
			if (sum != floats(r->c)[row * DIM + col])
				return false;
		}
	return true;
}

/* a holds bits of floats; the kernel counts their low bytes. It is launched several times. */
static bool check_histogram(const struct rig *r)
{
	const uint32_t *in =
		(const uint32_t *)(const void *)r->a->host, *bins = (const uint32_t *)(const void *)r->b->host;
	uint32_t want[BINS] = {0};

	for (int i = 0; i < N; i++)
		want[in[i] & 255]++;
	for (int i = 0; i < BINS; i++)
		if ((uint64_t)bins[i] * want[0] != (uint64_t)bins[0] * want[i])
			return false;
	return true;
}

static bool check_reduce(const struct rig *r)
{
	for (int b = 0; b < N / THREADS; b++) {
		float part[THREADS];

		memcpy(part, floats(r->a) + b * THREADS, sizeof part);
		for (int s = THREADS / 2; s; s >>= 1)
			for (int t = 0; t < s; t++)
				part[t] += part[t + s];
		if (part[0] != floats(r->b)[b])
			return false;
	}
	return true;
}

static bool check_arithmetic(const struct rig *r)
{
	for (int i = 0; i < N / 4; i += 1001)
		if (!(floats(r->a)[i] == floats(r->a)[i]))
			return false;
	return true;
}

static const struct bench benches[] = {
	{"vector_add", {N / THREADS, 1, 1}, {THREADS, 1, 1}, N, 3, check_add},
	{"matrix_multiply", {DIM / 16, DIM / 16, 1}, {16, 16, 1}, DIM, 3, check_matrix},
	{"histogram", {64, 1, 1}, {THREADS, 1, 1}, N, 2, check_histogram},
	{"reduce", {N / THREADS, 1, 1}, {THREADS, 1, 1}, N, 2, check_reduce},
	{"arithmetic", {N / 4 / THREADS, 1, 1}, {THREADS, 1, 1}, ROUNDS, 1, check_arithmetic},
};

/* ---- one configuration ---- */
static bool rig_start(struct rig *r, const struct ws_gpu_config *config, struct ws_ptx_module *ptx)
{
	struct ws_gpu_error err = {0};

	r->detector = NULL;
	r->gpu = ws_gpu_create(config);
	r->module = r->gpu ? ws_gpu_module_load(r->gpu, &ptx, 1, &err) : NULL;
	if (!r->module) {
		fprintf(stderr, "sim_speed: %s\n", err.text.data ? err.text.data : "no simulated GPU");
		return false;
	}
	return true;
}

static void fill(struct rig *r)
{
	struct ws_mem **m[] = {&r->a, &r->b, &r->c};
	uint32_t seed = 1;

	for (int k = 0; k < 3; k++) {
		*m[k] = ws_gpu_mem_new(r->gpu, N * 4, 0, WS_MEM_DEVICE, "sim_speed");
		for (int i = 0; i < N; i++) {
			seed = seed * 1664525 + 1013904223;
			((float *)(void *)(*m[k])->host)[i] = (float)(seed >> 8) * 0x1p-24f;
		}
	}
}

static void empty(struct rig *r)
{
	ws_gpu_mem_free(r->gpu, r->a->addr);
	ws_gpu_mem_free(r->gpu, r->b->addr);
	ws_gpu_mem_free(r->gpu, r->c->addr);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Million thread-instructions a second, the best of the launches that fit into the time; 0 after an error. */
static double measure(struct rig *r, const struct bench *b, double seconds)
{
	struct ws_gpu_kernel *k = ws_gpu_module_kernel(r->module, b->kernel);
	struct ws_gpu_error err = {0};
	struct ws_gpu_stats s;
	struct { uint64_t p[3]; } params;
	uint8_t buffer[64];
	struct ws_gpu_launch l = {.params = buffer};
	double best = 0, spent = 0;

	fill(r);
	if (!strcmp(b->kernel, "histogram"))
		memset(r->b->host, 0, BINS * 4);
	params.p[0] = r->a->addr;
	params.p[1] = r->b->addr;
	params.p[2] = r->c->addr;
	memcpy(buffer, params.p, b->buffers * 8u);
	memcpy(buffer + b->buffers * 8u, &b->n, 4);
	memcpy(l.grid, b->grid, sizeof l.grid);
	memcpy(l.block, b->block, sizeof l.block);
	while (spent < seconds) {
		double before = cpu ? cpu_seconds() : 0;

		if (!ws_gpu_launch(r->gpu, k, &l, &s, &err)) {
			fprintf(stderr, "sim_speed: %s\n", err.text.data);
			ws_buf_free(&err.text);
			return 0;
		}
		if (cpu)
			s.seconds = cpu_seconds() - before;
		spent += s.seconds;
		if ((double)s.thread_instructions / s.seconds > best)
			best = (double)s.thread_instructions / s.seconds;
	}
	if (!b->check(r)) {
		fprintf(stderr, "sim_speed: %s: wrong result\n", b->kernel);
		return 0;
	}
	if (stats && r->detector && r->detector->measure)
		r->detector->measure(r->detector_self);
	empty(r);
	return best * 1e-6;
}

static bool run_all(struct ws_ptx_module *ptx, const struct ws_gpu_config *config, double seconds, double *out)
{
	struct rig r;

	if (!rig_start(&r, config, ptx))
		return false;
	for (size_t i = 0; i < WS_COUNT(benches); i++)
		out[i] = only && strcmp(only, benches[i].kernel) ? 1 : measure(&r, &benches[i], seconds);
	ws_gpu_destroy(r.gpu);
	return true;
}

static void tell_stats(const struct ws_detector *d, void *self)
{
	struct ws_buf b = {0};

	if (!stats || !d->stats)
		return;
	d->stats(self, &b);
	fprintf(stderr, "sim_speed: %s\n", b.data);
	ws_buf_free(&b);
}

static bool run_detected(struct ws_ptx_module *ptx, double seconds, double *out)
{
	const struct ws_detector *d = ws_detector_find(detector);
	struct ws_detect_config dc = {.granularity = 1, .shared = true, .global = true};
	struct ws_report *report = ws_report_new();
	struct ws_gpu_config config = {.host_threads = 1};
	struct rig r;
	bool ok = d != NULL;

	if (ok) {
		config.observer = d->ops;
		config.observer_self = d->create(&dc, report);
		ok = rig_start(&r, &config, ptx);
	}
	if (ok) {
		if (d->attach)
			d->attach(config.observer_self, r.gpu);
		r.detector = d;
		r.detector_self = config.observer_self;
		for (size_t i = 0; i < WS_COUNT(benches); i++)
			out[i] = only && strcmp(only, benches[i].kernel) ? 1 : measure(&r, &benches[i], seconds);
		tell_stats(d, config.observer_self);
		ws_gpu_destroy(r.gpu);
		if (ws_report_count(report, WS_ERROR))
			fprintf(stderr, "sim_speed: the detector reports races in kernels that have none\n");
		d->destroy(config.observer_self);
	}
	ws_report_free(report);
	return ok;
}

static bool run_clocked(struct ws_ptx_module *ptx, const char *path, uint32_t hosts, double seconds, double *out)
{
	struct ws_buf why = {0};
	struct ws_sink sink = {ws_sink_to_buf, &why};
	size_t len;
	char *text = ws_read_file(path, &len);
	struct ws_machine m;
	bool ok = text && ws_machine_read(&m, path, text, &sink);

	if (!ok)
		fprintf(stderr, "sim_speed: %s: %s\n", path, text ? why.data : "cannot be read");
	if (ok) {
		struct ws_timing *t = ws_timing_new(&m, NULL);
		struct ws_gpu_config config = {.host_threads = hosts, .sms = m.cores, .clock = &ws_timing_clock, .clock_self = t,
		                               .divergence = m.stack ? WS_DIV_STACK : WS_DIV_ITS};

		ok = run_all(ptx, &config, seconds, out);
		why.len = 0;
		ws_timing_text(t, &why);
		if (stats)
			fputs(why.data, stderr);
		ws_timing_free(t);
	}
	free(text);
	ws_buf_free(&why);
	return ok;
}

static double mean(const double *v)
{
	double product = 1;

	for (size_t i = 0; i < WS_COUNT(benches); i++)
		product *= v[i];
	return __builtin_pow(product, 1.0 / (double)WS_COUNT(benches));
}

static void row(const char *name, const double *v, bool csv)
{
	printf(csv ? "%s" : "%-22s", name);
	for (size_t i = 0; i < WS_COUNT(benches); i++)
		printf(csv ? ",%.1f" : " %15.0f", v[i]);
	printf(csv ? ",%.1f\n" : " %10.0f\n", mean(v));
}

static void heading(bool csv)
{
	printf(csv ? "configuration" : "%-22s", "million/s");
	for (size_t i = 0; i < WS_COUNT(benches); i++)
		printf(csv ? ",%s" : " %15s", benches[i].kernel);
	printf(csv ? ",mean\n" : " %10s\n", "mean");
}

static struct ws_ptx_module *load(const char *path)
{
	struct ws_buf diag = {0};
	struct ws_sink sink = {ws_sink_to_buf, &diag};
	size_t len;
	char *text = ws_read_file(path, &len);
	struct ws_ptx_module *m = text ? ws_ptx_parse(path, text, len, NULL, &sink) : NULL;

	if (!text)
		perror(path);
	else if (!m)
		fputs(diag.data ? diag.data : "", stderr);
	ws_buf_free(&diag);
	free(text);
	return m;
}

int main(int argc, char **argv)
{
	const char *path = "bench/ptx/speed.ptx";
	double seconds = 0.5, plain[8] = {0}, detected[8] = {0}, two[8] = {0};
	const char *clocked = NULL;
	bool csv = false, only_plain = false, only_detect = false, ok = true;
	struct ws_ptx_module *ptx;

	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--seconds=", 10))
			seconds = atof(argv[i] + 10);
		else if (!strcmp(argv[i], "--csv"))
			csv = true;
		else if (!strcmp(argv[i], "--plain"))
			only_plain = true;
		else if (!strcmp(argv[i], "--detect"))
			only_detect = true;
		else if (!strncmp(argv[i], "--clocked=", 10))
			clocked = argv[i] + 10;
		else if (!strcmp(argv[i], "--stats"))
			stats = true;
		else if (!strcmp(argv[i], "--touched"))
			detector = "touched", only_detect = stats = true;
		else if (!strcmp(argv[i], "--cpu"))
			cpu = true;
		else if (!strncmp(argv[i], "--only=", 7))
			only = argv[i] + 7;
		else
			path = argv[i];
	}
	ptx = load(path);
	if (!ptx)
		return 2;
	heading(csv);
	if (clocked) {
		ok = run_clocked(ptx, clocked, 1, seconds, plain);
		row("clocked", plain, csv);
		if (ok && !only_plain) {
			ok = run_clocked(ptx, clocked, 2, seconds, two);
			row("two host threads", two, csv);
		}
		ws_ptx_free(ptx);
		return ok ? 0 : 1;
	}
	if (!only_detect) {
		ok = run_all(ptx, &(struct ws_gpu_config){.host_threads = 1}, seconds, plain);
		row("plain", plain, csv);
	}
	if (ok && !only_plain) {
		if (run_detected(ptx, seconds, detected))
			row("race detection", detected, csv);
		ok = only_detect || run_all(ptx, &(struct ws_gpu_config){.host_threads = 2}, seconds, two);
	}
	if (ok && !only_plain && !only_detect) {
		row("two host threads", two, csv);
	}
	ws_ptx_free(ptx);
	return ok && (only_detect || mean(plain) > 0) ? 0 : 1;
}
