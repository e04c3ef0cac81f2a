/* A driver that plays the installed one where the simulated GPU cannot: it takes any code, prints what it is given, has
 * graphs, and exports a function that nobody has heard of. FAKE_CC is its compute capability (90). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct module { char *what; char own; };     /* the module of a library is another handle: the address of `own` */
struct function { struct module *module; char *name; int of_library; };
struct link { size_t inputs, len; char text[1 << 16]; };
struct node { struct function *f; };
struct graph { struct node nodes[16]; size_t n; int capturing; };

static int cc(void) { return getenv("FAKE_CC") ? atoi(getenv("FAKE_CC")) : 90; }
static struct graph the_graph;

int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *v) { return *v = getenv("FAKE_VERSION") ? atoi(getenv("FAKE_VERSION")) : 13000, 0; }
int cuDeviceGetCount(int *n) { return *n = getenv("FAKE_TWO_KINDS") ? 2 : 1, 0; }
int cuDeviceGetName(char *name, int len, int device) { return snprintf(name, (size_t)len, "fake"), 0; }
int cuCtxGetCurrent(void **c) { return *c = &the_graph, 0; }
int cuCtxGetDevice(int *d) { return *d = 0, 0; }
int cuNeverHeardOf(int x) { return x + 1000; }
int cuNeverHeardOfData = 5;

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	int c = device ? 70 : cc();

	return *value = attribute == 75 ? c / 10 : c % 10, 0;
}

/* ---- modules ---- */
static int load(const char *call, void **out, const char *what)
{
	struct module *m = calloc(1, sizeof *m);

	printf("driver: %s %s\n", call, what);
	m->what = strdup(what);
	return *out = m, 0;
}

static const char *kind(const void *image)
{
	static const unsigned char container[] = { 0x50, 0xed, 0x55, 0xba }, wrapper[] = { 0xb1, 0x43, 0x62, 0x46 };
	static _Thread_local char text[64];

	if (memcmp(image, "CUBIN", 5) == 0) {
		snprintf(text, sizeof text, "%s", (const char *)image);
		return text;
	}
	return memcmp(image, container, 4) == 0 ? "a container" : memcmp(image, wrapper, 4) == 0 ? "a wrapper"
	       : memcmp(image, "\177ELF", 4) == 0 ? "an ELF file" : "text";
}

/* As one that is older than the compiler which made an ELF file. */
static int load_data(const char *call, void **out, const void *image)
{
	if (getenv("FAKE_OLD") && memcmp(image, "\177ELF", 4) == 0)
		return printf("driver: %s refuses\n", call), 200;
	return load(call, out, kind(image));
}

int cuModuleLoadData(void **out, const void *image) { return load_data("cuModuleLoadData", out, image); }
int cuModuleLoadFatBinary(void **out, const void *image) { return load("cuModuleLoadFatBinary", out, kind(image)); }
int cuModuleLoad(void **out, const char *path) { return load("cuModuleLoad", out, "a file"); }
int cuModuleUnload(void *m) { return 0; }

int cuModuleLoadDataEx(void **out, const void *image, unsigned n, int *options, void **values)
{
	printf("driver: %u options\n", n);
	if (getenv("FAKE_REFUSES") && memcmp(image, "CUBIN", 5) == 0)
		return 200;
	return load("cuModuleLoadDataEx", out, kind(image));
}

int cuLibraryLoadData(void **out, const void *image, int *jit, void **jit_values, unsigned njit, int *options, void **values,
                      unsigned n)
{
	return load_data("cuLibraryLoadData", out, image);
}

int cuLibraryUnload(void *l) { return 0; }
int cuLibraryGetModule(void **out, void *library) { return *out = &((struct module *)library)->own, 0; }

int cuModuleGetFunction(void **out, void *module, const char *name)
{
	struct function *f = calloc(1, sizeof *f);

	f->module = module;
	f->name = strdup(name);
	return *out = f, 0;
}

int cuLibraryGetKernel(void **out, void *library, const char *name)
{
	return cuModuleGetFunction(out, library, name), ((struct function *)*out)->of_library = 1, 0;
}

int cuKernelGetFunction(void **out, void *kernel)
{
	return cuModuleGetFunction(out, ((struct function *)kernel)->module, ((struct function *)kernel)->name);
}
int cuFuncGetName(const char **name, void *f) { return *name = ((struct function *)f)->name, 0; }
int cuFuncGetModule(void **m, void *f)
{
	struct function *x = f;

	return *m = x->of_library ? (void *)&x->module->own : x->module, 0;
}


/* All functions of any module: a kernel, and the one that the pass for races sets beside it. */
int cuModuleGetFunctionCount(unsigned *n, void *module) { return *n = 2, 0; }
int cuModuleEnumerateFunctions(void **out, unsigned n, void *module)
{
	static const char *const names[] = { "__warpsafe_plain_each", "each" };

	for (unsigned i = 0; i < n && i < 2; i++)
		cuModuleGetFunction(&out[i], module, names[i]);
	return 0;
}

/* Functions that the program comes to by calls which warpsafe does not know: of a kernel that it has, and of no module. */
int cuHiddenFunction(void **out, void *kernel)
{
	return cuLibraryGetKernel(out, ((struct function *)kernel)->module, ((struct function *)kernel)->name);
}

int cuSecretFunction(void **out, const char *name)
{
	struct module *m = calloc(1, sizeof *m);

	return cuModuleGetFunction(out, m, name);
}

/* ---- linking: a "cubin" is text that says of what it was made ---- */
int cuLinkCreate_v2(unsigned n, int *options, void **values, void **state)
{
	for (unsigned i = 0; i < n; i++) {
		if (options[i] == 0)
			printf("driver: at most %d registers\n", (int)(uintptr_t)values[i]);
		if (options[i] == 34)
			printf("driver: compiles with %d threads\n", (int)(uintptr_t)values[i]);
		if (options[i] == 34 && getenv("FAKE_ONE_THREAD"))
			return 1;
	}
	return *state = calloc(1, sizeof(struct link)), 0;
}

int cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name, unsigned n, int *options, void **values)
{
	struct link *l = state;

	printf("driver: input of type %d, %zu bytes\n", type, size);
	l->inputs++;
	if (type == 1 && ((char *)data)[size - 1])
		return 218;
	return getenv("FAKE_NO_COMPILER") ? 218 : 0;
}

int cuLinkAddFile_v2(void *state, int type, const char *path, unsigned n, int *options, void **values)
{
	return ((struct link *)state)->inputs++, 0;
}

int cuLinkComplete(void *state, void **cubin, size_t *size)
{
	struct link *l = state;

	*size = (size_t)snprintf(l->text, sizeof l->text, "CUBIN of %zu", l->inputs) + 1;
	return *cubin = l->text, 0;
}

int cuLinkDestroy(void *state) { return free(state), 0; }

/* ---- launches, streams, graphs ---- */
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **params, void **extra)
{
	if (the_graph.capturing && stream)
		the_graph.nodes[the_graph.n++].f = f;
	return 0;
}

/* What cuGetProcAddress gives is not what is exported. */
static int inner_launch(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, void *stream, void **params, void **extra)
{
	return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

int cuStreamIsCapturing(void *stream, int *status) { return *status = the_graph.capturing && stream, 0; }
int cuStreamBeginCapture_v2(void *stream, int mode) { return the_graph.capturing = 1, 0; }
int cuStreamEndCapture(void *stream, void **graph) { return the_graph.capturing = 0, *graph = &the_graph, 0; }
int cuGraphGetNodes(void *graph, void **nodes, size_t *n)
{
	struct graph *g = graph;

	for (size_t i = 0; nodes && i < g->n && i < *n; i++)
		nodes[i] = &g->nodes[i];
	return *n = g->n, 0;
}
int cuGraphNodeGetType(void *node, int *type) { return *type = 0, 0; }
int cuGraphKernelNodeGetParams_v2(void *node, void *params) { return *(void **)params = ((struct node *)node)->f, 0; }
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) { return *exec = graph, 0; }
int cuGraphNodeSetEnabled(void *exec, void *node, unsigned enabled) { return 0; }
int cuGraphLaunch(void *exec, void *stream) { return 0; }

int cuGetProcAddress_v2(const char *name, void **f, int version, uint64_t flags, int *found)
{
	if (strcmp(name, "cuLaunchKernel") == 0)
		return *f = (void *)inner_launch, 0;
	if (strcmp(name, "cuModuleLoadData") == 0)
		return *f = (void *)cuModuleLoadData, 0;
	if (strcmp(name, "cuGetProcAddress") == 0)
		return *f = (void *)cuGetProcAddress_v2, 0;
	return *f = NULL, 500;
}
