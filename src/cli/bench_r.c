/* bench_r.c - claims R1 to R5 and R8 (Ramamurthy, "Towards scalar synchronization in SIMT architectures", 2011): examples 1 to 20,
 * each on a machine, right or a deadlock as the text says; and what it leaves as future work. */
#include "cli/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct example {
	const char *claim, *number, *machine, *unit, *paper;     /* unit NULL: none; machine "plain": without call entries */
	const char *want;                /* words of the output; NULL: a deadlock that is told */
};

static const struct example examples[] = {
	{"R1", "1", "fermi", NULL, "deadlock", NULL},
	{"R1", "3", "fermi", NULL, "deadlock", NULL},
	{"R1", "4", "fermi", NULL, "deadlock: different locks", NULL},
	{"R1", "4-two-warps", "fermi", NULL, "deadlock: two warps hold each other's", NULL},
	{"R1", "7", "fermi", NULL, "deadlock: spin lock and break", NULL},
	{"R1", "15", "fermi", NULL, "one thread of a warp only", NULL},
	{"R1", "16", "fermi", NULL, "one thread of a warp only", NULL},
	{"R2", "5", "fermi", NULL, "works", "right"},
	{"R2", "6", "fermi", NULL, "works", "right"},
	{"R2", "7-adapted", "fermi", NULL, "works", "right"},
	{"R2", "8-enough", "fermi", NULL, "enters when the whole warp has acquired", "all together"},
	{"R2", "17", "fermi", NULL, "works", "right"},
	{"R2", "19", "fermi", NULL, "works", "right"},
	{"R3", "9", "fermi", "simt-lock", "works", "right"},
	{"R3", "10", "fermi", "simt-lock", "works: early unlock and break", "right"},
	{"R3", "11", "fermi", "simt-lock", "works: nested", "right"},
	{"R3", "18", "fermi", "simt-lock", "works, with sections in vain", "in vain: some"},
	{"R3", "20", "fermi", "simt-lock", "works", "right"},
	{"R4", "2", "fermi", NULL, "X = 4 with call entries", "right"},
	{"R4", "2", "plain", NULL, "X = 3 without", "is 3, not 4"},
	{"R5", "12", "fermi", "simt-lock", "deadlock", NULL},
	{"R5", "13", "fermi", "simt-lock", "deadlock", NULL},
	{"R8", "12", "fermi", "simt-lock,fixup=1", "future work", "right"},
	{"R8", "11", "fermi", "lock-queue", "not with queues (5.2.2)", "right"},
	{"R8", "20", "fermi", "lock-queue,records=3", "not with queues (5.2.2)", "right"},
	{"R8", "try", "fermi", "simt-lock,backoff=100", "future work", "right"},
	{"R8", "try-many", "fermi", "lock-queue", "future work", "right"},
	{"R8", "try-for", "fermi", "simt-lock", "future work", "right"},
	{"R8", "semaphore", "fermi", "simt-lock", "future work", "right"},
	{"R8", "semaphore", "fermi", "lock-queue", "future work", "right"},
	{"R8", "grid-barrier", "fermi", "simt-lock", "future work", "right"},
	{"R8", "1", "h200", NULL, "without a stack: future work", "right"},
	{"R8", "13", "h200", "simt-lock", "without a stack: future work", "right"},
	{"R8", "20", "h200", "lock-queue", "without a stack: future work", "right"},
};

/* fermi without call entries, in the claim's folder. Owned; NULL: b->trouble. */
static char *plain_machine(struct ws_bench *b)
{
	struct ws_buf to = { 0 };
	size_t len;
	char *from = ws_cli_machine_path("fermi"), *text = from ? ws_read_file(from, &len) : NULL;
	FILE *f;

	ws_buf_printf(&to, "%s/plain.conf", b->folder);
	f = text ? fopen(to.data, "w") : NULL;
	if (!f || fprintf(f, "%s\ncore.calls = plain\n", text) < 0 || fclose(f) != 0)
		ws_bench_trouble(b, "cannot write %s", to.data);
	free(from);
	free(text);
	return to.data;
}

static void one(struct ws_bench *b, const struct example *e)
{
	bool plain = strcmp(e->machine, "plain") == 0;
	char *file = plain ? plain_machine(b) : NULL, *output = NULL, *errors;
	struct ws_buf config = { 0 }, unit = { 0 };
	const char *options[3] = { NULL }, *arguments[] = { e->number, NULL }, *ours;

	ws_buf_printf(&config, "--config=%s", plain ? file : e->machine);
	options[0] = config.data;
	if (e->unit)
		ws_buf_printf(&unit, "--unit=%s", e->unit);
	options[1] = unit.data;          /* or NULL */
	b->may_fail = true;
	errors = b->trouble ? NULL : ws_bench_run(b, "sim", "locks/examples", options, arguments, &output);
	if (errors && output) {
		char *end = strrchr(output, '\n');
		bool dead = strstr(errors, "deadlock: ") != NULL, holds = e->want ? strstr(output, e->want) != NULL : dead;

		if (end)
			*end = 0;
		end = strrchr(output, '\n');
		ours = dead ? "deadlock, told" : end ? end + 1 : output;
		ws_bench_row(b, holds, e->number, e->machine, e->unit ? e->unit : "-", e->paper, ours, NULL);
	}
	b->may_fail = false;
	free(errors);
	free(output);
	free(file);
	ws_buf_free(&config);
	ws_buf_free(&unit);
}

static void run(struct ws_bench *b, const char *claim)
{
	for (size_t i = 0; i < WS_COUNT(examples) && !b->trouble; i++)
		if (!strcmp(examples[i].claim, claim))
			one(b, &examples[i]);
}

static void run_r1(struct ws_bench *b) { run(b, "R1"); }
static void run_r2(struct ws_bench *b) { run(b, "R2"); }
static void run_r3(struct ws_bench *b) { run(b, "R3"); }
static void run_r4(struct ws_bench *b) { run(b, "R4"); }
static void run_r5(struct ws_bench *b) { run(b, "R5"); }
static void run_r8(struct ws_bench *b) { run(b, "R8"); }

static const char *const columns[] = { "example", "machine", "unit", "paper", "ours", NULL };
static const char note[] = "The examples are kernels of bench/locks/examples.cu; docs/UNITS.md says where instructions depart from the text.\n\n";

const struct ws_claim ws_claim_r1 = { "R1", "locks of CPUs under the reconvergence stack", "Ramamurthy 2011, 1.1, 3.1, 5.1",
	columns, run_r1, note, true };
const struct ws_claim ws_claim_r2 = { "R2", "loops round critical sections, and a semaphore", "Ramamurthy 2011, 3.1, 3.2, 6.5",
	columns, run_r2, note, true };
const struct ws_claim ws_claim_r3 = { "R3", "lock and unlock instructions", "Ramamurthy 2011, 4.1 to 4.4, 6.5", columns, run_r3, note, true };
const struct ws_claim ws_claim_r4 = { "R4", "recursion under the stack", "Ramamurthy 2011, 2.2.3", columns, run_r4, note, true };
const struct ws_claim ws_claim_r5 = { "R5", "what the instructions cannot do", "Ramamurthy 2011, 4.5", columns, run_r5, note, true };
const struct ws_claim ws_claim_r8 = { "R8", "tries, semaphores, a barrier, nested queues, the fix-up, no stack", "Ramamurthy 2011, 3.2, 3.3, 4.5, 9.2",
	columns, run_r8, note, true };
