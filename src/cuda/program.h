/* program.h - the device code of the program: fat binaries, modules, kernels and variables. */
#ifndef WS_PROGRAM_H
#define WS_PROGRAM_H

#include "cuda/fatbin.h"
#include "cuda/session.h"

struct ws_binary;

/* A kernel as the host knows it. Its address is what we hand out as cudaKernel_t, cudaFunction_t and CUfunction. */
struct ws_function {
	struct ws_binary *binary;
	char *name, *plain;               /* as in PTX; for people */
	struct ws_gpu_kernel *kernel;     /* NULL until the binary is loaded */
	int max_dynamic_shared, carveout; /* set by the program */
	bool non_portable_cluster;        /* it too: clusters of more than 8 blocks */
	struct ws_dim3 required_cluster;  /* it too; 0 = not set */
	bool counted;                     /* told as unchecked */
	const void *stub;                 /* the host's function, or NULL */
	bool cluster_known;               /* the stub's section was asked for a cluster size */
};

struct ws_variable {
	struct ws_binary *binary;
	char *name, *plain;
	void **managed; /* the host's pointer to a __managed__ variable, or NULL */
	size_t size;
};

/* A fat binary that the program registered, or a module or library that it loaded. */
struct ws_binary {
	void *self;              /* handles are pointers to this field */
	struct ws_fatbin *parts; /* several are linked together */
	size_t nparts;
	char *label; /* names the binary in messages: "app.1" */
	void *copy;  /* bytes that the images point into, if they are ours */
	struct ws_ptx_module **ptx;
	struct ws_instrumented **instrumented; /* what was rewritten of them, by number; NULL = nothing was */
	size_t nptx;
	struct ws_gpu_module *module;
	int state; /* 0 not loaded, 1 loaded, else: -error code */
	struct ws_function **functions;
	size_t nfunctions, fcap;
	struct ws_variable **variables;
	size_t nvariables, vcap;
};

/* The lock of the tables below and of streams, events and graphs. Never held while a kernel or a callback runs. */
void ws_front_lock(void);
void ws_front_unlock(void);

/* ---- registration, before main ---- */
struct ws_binary *ws_binary_register(const void *wrapper);
void ws_binary_unregister(struct ws_binary *b);
void ws_binary_function(struct ws_binary *b, const void *host, const char *name);
void ws_binary_variable(struct ws_binary *b, const void *host, const char *name, size_t size, void **managed);

/* ---- modules loaded by the program (driver API, cudaLibraryLoad*) ---- */
/* A fat binary, PTX or ELF in memory; len 0: as long as it says. NULL: *error. The data are copied. */
struct ws_binary *ws_binary_load(const void *data, size_t len, int *error);
struct ws_binary *ws_binary_load_file(const char *path, int *error);
void ws_binary_unload(struct ws_binary *b);
bool ws_binary_valid(const struct ws_binary *b);

/* What cuLinkComplete gives (drv_link.c): this header, then for each input u64 bytes and the bytes. */
#define WS_LINKED_MAGIC "WSLINKED"
struct ws_linked_header {
	char magic[8];
	uint64_t len; /* of all, header included */
};

/* ---- use: the binary is loaded into the simulated GPU when something of it is first needed ---- */
int ws_binary_ready(struct ws_binary *b); /* 0 or an error code, told on stderr once */
struct ws_function *ws_binary_find(struct ws_binary *b, const char *name, int *error);
/* By the host's function pointer or a handle. NULL: *error. */
struct ws_function *ws_function_of(const void *host_or_handle, int *error);
int ws_function_ready(struct ws_function *f);
/* The memory of a variable by the host's address of it; NULL: *error. */
struct ws_mem *ws_variable_of(const void *host, int *error);
struct ws_mem *ws_binary_var(struct ws_binary *b, const char *name, int *error);
/* Loads every binary with __managed__ variables and gives the host its pointers to them. */
int ws_managed_ready(struct ws_binary *b);

#endif
