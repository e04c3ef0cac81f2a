/* bench_tm.c - plays workloads of bench/tm for claims: on the clocked GPU, whose cycles count, or on a real one, whose time does. */
#include "cli/bench_tm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The sum of what all kernels of a document of counters took; negative: there is none. */
static double cycles_of(const char *path)
{
	json_t *root = json_load_file(path, 0, NULL), *process, *kernel;
	double cycles = root ? 0 : -1;
	size_t i, j;

	json_array_foreach(json_object_get(root, "processes"), i, process)
		json_array_foreach(json_object_get(process, "kernels"), j, kernel)
			cycles += json_number_value(json_object_get(kernel, "cycles"));
	json_decref(root);
	return cycles;
}

/* The program's line about that way: "NAME WAY N sections N ms N million/s N aborts a commit, N alone right". */
static bool read_line(struct ws_bench *b, const char *output, const char *workload, const char *way, struct ws_tm_figure *f,
                      double *ms)
{
	for (const char *at = output; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
		char name[32], its_way[32], line[256];
		double rate;
		int n;

		snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
		n = sscanf(line, "%31s %31s %lf sections %lf ms %lf million/s %lf aborts", name, its_way, &f->sections, ms, &rate,
		           &f->aborts);
		if (n < 5 || strcmp(name, workload) || strcmp(its_way, way))
			continue;
		if (n < 6)
			f->aborts = 0;
		if (!strstr(line, "  right"))
			ws_bench_trouble(b, "%s with %s has a wrong result", workload, way);
		return !b->trouble;
	}
	return false;
}

enum { MOST_ARGUMENTS = 12 };

/* Parts text at its spaces, in place, behind the first n arguments. */
static void part(char *text, const char **arguments, int n)
{
	char *rest;

	for (char *at = strtok_r(text, " ", &rest); at && n < MOST_ARGUMENTS - 1; at = strtok_r(NULL, " ", &rest))
		arguments[n++] = at;
	arguments[n] = NULL;
}

/* What the program has written of these ways; `cycles` is what all kernels took together, or negative: then it is time that counts. */
static void read_figures(struct ws_bench *b, const char *output, const char *workload, const char *const *ways, int n, double cycles,
                         struct ws_tm_figure *figures)
{
	for (int i = 0; i < n && !b->trouble; i++) {
		double ms = 0, cost;

		if (!read_line(b, output, workload, ways[i], &figures[i], &ms))
			continue;
		cost = b->real ? ms * 1e3 : cycles;
		figures[i].cost = cost / figures[i].sections;
		figures[i].there = cost > 0;
	}
}

/* One process plays these ways. */
static void play(struct ws_bench *b, const char *program, const char *workload, const char *const *ways, int n,
                 const char *arguments, struct ws_tm_figure *figures)
{
	struct ws_buf counters = { 0 }, w = { 0 }, name = { 0 }, path = { 0 };
	const char *args[MOST_ARGUMENTS], *real[] = { "--gpu=real", NULL };
	char *text = ws_strdup(arguments), *output = NULL, *errors;

	ws_buf_printf(&path, "%s/counters", b->folder);
	ws_buf_printf(&counters, "--counters=%s", path.data);
	const char *clocked[] = { "--config=gtx480", counters.data, NULL };

	for (int i = 0; i < n; i++)
		ws_buf_printf(&w, "%s%s", i ? "," : "way=", ways[i]);
	ws_buf_printf(&name, "workload=%s", workload);
	args[0] = w.data;
	args[1] = name.data;
	part(text, args, 2);
	errors = ws_bench_run(b, b->real ? "run" : "sim", program, b->real ? real : clocked, args, &output);
	if (errors)
		read_figures(b, output, workload, ways, n, b->real ? -1 : cycles_of(path.data), figures);
	free(errors);
	free(output);
	free(text);
	ws_buf_free(&counters);
	ws_buf_free(&w);
	ws_buf_free(&name);
	ws_buf_free(&path);
}

void ws_bench_tm_ways(struct ws_bench *b, const char *program, const char *workload, const char *const *ways, int n,
                      const char *arguments, struct ws_tm_figure *figures)
{
	memset(figures, 0, (size_t)n * sizeof *figures);
	if (b->real)
		play(b, program, workload, ways, n, arguments, figures);
	for (int i = 0; i < n && !b->real && !b->trouble; i++)
		play(b, program, workload, &ways[i], 1, arguments, &figures[i]);
}

/* ---- cells ---- */
void ws_cell_add(struct ws_cell *c, const char *fmt, ...)
{
	size_t at = strlen(c->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->text + at, sizeof c->text - at, fmt, ap);
	va_end(ap);
}

void ws_cell_ratio(struct ws_cell *c, const char *name, struct ws_tm_figure f, double against)
{
	double x = f.there && against > 0 ? f.cost / against : 0;

	ws_cell_add(c, "%s%s ", c->text[0] ? ", " : "", name);
	if (!f.there)
		ws_cell_add(c, "not there");
	else
		ws_cell_add(c, x >= 100 ? "%.0fx" : "%.2fx", x);
}
