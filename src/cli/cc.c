/* cc.c - `warpsafe cc`: compiles CUDA C++ with Debian's clang and warpsafe's own headers, without NVIDIA's toolkit.
 *
 * A CUDA file is compiled twice. The device pass gives PTX with line tables; it is wrapped in a fat binary container;
 * the host pass embeds that container and registers it with the runtime when the program starts. The program is linked
 * with the libcudart of the simulated GPU, found at run time by its rpath, so that it also runs alone. */
#include "cli/cc_priv.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/fatbin.h"

struct job {                         /* one run of `warpsafe cc` */
	struct ws_cc c;
	char clang[32];              /* its name, found through PATH */
	unsigned version;            /* its major version */
	char *headers, *libraries;   /* folders */
	char *folder;                /* of temporary files; NULL = none was made */
	struct ws_words temporary;   /* to be deleted */
};

/* ---- running programs ---- */

static void show(const struct ws_words *w)
{
	for (size_t i = 0; i < w->n; i++)
		fprintf(stderr, "%s%s", i ? " " : "#$ ", w->v[i]);
	fputc('\n', stderr);
}

/* Runs w and waits. Returns its exit status; 128 + signal when killed; -1 when it cannot be started. */
static int run(const struct ws_words *w, bool verbose)
{
	int status;
	pid_t pid;

	if (verbose)
		show(w);
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0) {
		signal(SIGINT, SIG_DFL);
		execvp(w->v[0], w->v);
		_exit(errno == ENOENT ? 127 : 126);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- clang ---- */

static unsigned version_of(const char *clang)
{
	char command[64], line[64] = "";
	FILE *f;

	snprintf(command, sizeof command, "%s -dumpversion 2>/dev/null", clang);
	f = popen(command, "r");
	if (!f)
		return 0;
	if (!fgets(line, sizeof line, f))
		line[0] = 0;
	pclose(f);
	return (unsigned)strtoul(line, NULL, 10);
}

static bool find_clang(struct job *j)
{
	enum { OLDEST = 14, NEWEST = 19 };

	snprintf(j->clang, sizeof j->clang, "clang");
	j->version = version_of(j->clang);
	for (unsigned v = NEWEST; (j->version < OLDEST || j->version > NEWEST) && v >= OLDEST; v--) {
		snprintf(j->clang, sizeof j->clang, "clang-%u", v);
		j->version = version_of(j->clang);
	}
	if (j->version >= OLDEST)
		return true;
	ws_cli_refuse("cc", "no clang of version %d to %d was found; install it: apt install clang", OLDEST, NEWEST);
	return false;
}

/* The newest architecture that a clang knows (its release notes; clang --cuda-gpu-arch= refuses others). */
static bool check_arch(const struct job *j)
{
	unsigned newest = j->version >= 16 ? 90 : 86;

	if (j->c.sm <= newest && (!j->c.sm_suffix || j->version >= 17))
		return true;
	ws_cli_refuse("cc", "clang %u does not know sm_%u%s; use -arch=sm_%u or install a newer clang", j->version,
	              j->c.sm, j->c.sm_suffix ? "a" : "", newest);
	return false;
}

static bool find_headers(struct job *j)
{
	static const char *const places[] = { "../include/warpsafe/cuda", "../../include/warpsafe/cuda" };
	char *own = ws_cli_own_folder();

	for (size_t i = 0; own && !j->headers && i < WS_COUNT(places); i++) {
		char path[PATH_MAX], full[PATH_MAX];

		if (snprintf(path, sizeof path, "%s/%s/warpsafe_prelude.h", own, places[i]) >= (int)sizeof path)
			continue;
		if (access(path, R_OK) == 0 && realpath(path, full)) {
			*strrchr(full, '/') = 0;
			j->headers = ws_strdup(full);
		}
	}
	free(own);
	if (!j->headers)
		ws_cli_refuse("cc", "include/warpsafe/cuda is not where it belongs beside this program; install again");
	return j->headers;
}

/* ---- file names ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "folder/stem" + suffix; with folder NULL in the working folder. */
static char *file_for(const char *folder, const char *path, const char *suffix)
{
	const char *base = base_name(path), *dot = strrchr(base, '.');
	struct ws_buf b = { 0 };

	ws_buf_printf(&b, "%s%s%.*s%s", folder ? folder : "", folder ? "/" : "",
	              (int)(dot && dot > base ? dot - base : (long)strlen(base)), base, suffix);
	return b.data;
}

/* A temporary file; the name of one that is kept is that of the source. */
static char *temporary(struct job *j, size_t input, const char *suffix)
{
	char mark[64];
	char *name;

	if (j->c.keep)
		return file_for(NULL, j->c.inputs[input].path, suffix);
	snprintf(mark, sizeof mark, "-%zu%s", input, suffix);
	name = file_for(j->folder, j->c.inputs[input].path, mark);
	ws_words_add(&j->temporary, name);
	return name;
}

static bool make_folder(struct job *j)
{
	const char *tmp = getenv("TMPDIR");

	j->folder = ws_cli_temporary_folder("warpsafe-cc");
	if (!j->folder)
		ws_cli_refuse("cc", "no temporary folder in %s: %s", tmp && *tmp ? tmp : "/tmp", strerror(errno));
	return j->folder;
}

static void clean(struct job *j)
{
	for (size_t i = 0; i < j->temporary.n; i++)
		unlink(j->temporary.v[i]);
	if (j->folder)
		rmdir(j->folder);
	free(j->folder);
	ws_words_free(&j->temporary);
	ws_cc_free(&j->c);
	free(j->headers);
	free(j->libraries);
}

/* ---- the fat binary: a container with one PTX entry, as src/cuda/fatbin.h describes it ---- */

static void put16(struct ws_buf *b, unsigned v)
{
	uint8_t p[2] = { (uint8_t)v, (uint8_t)(v >> 8) };
	ws_buf_add(b, p, sizeof p);
}

static void put32(struct ws_buf *b, uint32_t v)
{
	put16(b, v & 0xffff);
	put16(b, v >> 16);
}

static void put64(struct ws_buf *b, uint64_t v)
{
	put32(b, (uint32_t)v);
	put32(b, (uint32_t)(v >> 32));
}

static void make_fatbin(struct ws_buf *b, const char *ptx, size_t len, unsigned sm)
{
	enum { HEADER = 64, FLAGS_64BIT_LINUX = 0x11 };
	static const uint8_t zeros[8];
	size_t padded = (len + 1 + 7) & ~(size_t)7;

	put32(b, WS_FATBIN_MAGIC);
	put16(b, 1);
	put16(b, 16);
	put64(b, HEADER + padded);
	put16(b, 1);                         /* kind: PTX */
	put16(b, 0x101);
	put32(b, HEADER);
	put64(b, padded);
	put32(b, 0);                         /* not compressed */
	put32(b, 0);
	put16(b, 0);                         /* PTX version is in the text */
	put16(b, 0);
	put32(b, sm);
	put32(b, 0);
	put32(b, 0);
	put64(b, FLAGS_64BIT_LINUX);
	put64(b, 0);
	put64(b, 0);
	ws_buf_add(b, ptx, len);
	ws_buf_add(b, zeros, padded - len);
}

static bool write_fatbin(struct job *j, const char *ptx_path, const char *path)
{
	struct ws_buf b = { 0 };
	size_t len;
	char *ptx = ws_read_file(ptx_path, &len);
	FILE *f = ptx ? fopen(path, "wb") : NULL;
	bool good = false;

	if (f) {
		make_fatbin(&b, ptx, len, j->c.sm);
		good = fwrite(b.data, 1, b.len, f) == b.len;
		good = fclose(f) == 0 && good;
	}
	if (!good)
		ws_cli_refuse("cc", "cannot write %s: %s", path, strerror(errno));
	ws_buf_free(&b);
	free(ptx);
	return good;
}

/* ---- passes ---- */

/* What both passes of a CUDA file are called with. --cuda-path keeps clang from looking at an NVIDIA toolkit that may
 * be there; the SDK version makes it launch as CUDA 9.2 and later do. */
static void cuda_words(const struct job *j, struct ws_words *w)
{
	ws_words_add(w, j->clang);
	ws_words_add(w, "-x");
	ws_words_add(w, "cuda");
	ws_words_add(w, "--cuda-path=/nonexistent");
	ws_words_add(w, "-nocudainc");
	ws_words_add(w, "-nocudalib");
	ws_words_add(w, "-Wno-unknown-cuda-version");
	ws_words_add(w, "-Xclang");
	ws_words_add(w, "-target-sdk-version=11.0");
	ws_words_addf(w, "-std=%s", j->c.std ? j->c.std : "gnu++17");
	ws_words_addf(w, "--cuda-gpu-arch=sm_%u%s", j->c.sm, j->c.sm_suffix ? "a" : "");
	ws_words_add(w, "-isystem");
	ws_words_add(w, j->headers);
	ws_words_add(w, "-idirafter");                    /* <warpsafe/tm.cuh> */
	ws_words_addf(w, "%s/../..", j->headers);
	ws_words_add(w, "-include");
	ws_words_addf(w, "%s/warpsafe_prelude.h", j->headers);
	ws_words_add_all(w, &j->c.both);
}

/* The PTX version that the architecture needs and this clang can write. */
static const char *ptx_feature(const struct job *j)
{
	if (j->c.sm_suffix)
		return "+ptx80";
	return j->version >= 16 ? "+ptx78" : j->c.sm > 80 ? "+ptx75" : "+ptx70";
}

static bool write_text(const char *path, const struct ws_buf *text)
{
	FILE *f = fopen(path, "wb");
	bool good = f && fwrite(text->data, 1, text->len, f) == text->len;

	good = f && fclose(f) == 0 && good;
	if (!good)
		ws_cli_refuse("cc", "cannot write %s: %s", path, strerror(errno));
	return good;
}

/* --tm: the PTX with its marked sections as transactions. */
static bool transact(const struct job *j, const char *path)
{
	struct ws_buf messages = { 0 }, text = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &messages };
	size_t len;
	char *ptx = ws_read_file(path, &len);
	struct ws_ptx_module *m = ptx ? ws_ptx_parse(path, ptx, len, NULL, &sink) : NULL;
	bool good = m && ws_rewrite_tm(&j->c.tm, m, &sink);

	if (good) {
		ws_ptx_print(m, &text);
		good = write_text(path, &text);
	} else {
		fprintf(stderr, "%s", messages.len ? messages.data : "");
	}
	ws_ptx_free(m);
	free(ptx);
	ws_buf_free(&text);
	ws_buf_free(&messages);
	return good;
}

static bool device_pass(struct job *j, const char *source, const char *ptx)
{
	struct ws_words w = { 0 };
	int status;

	cuda_words(j, &w);
	ws_words_add(&w, "--cuda-device-only");
	ws_words_add(&w, "-S");
	ws_words_add(&w, "-gline-tables-only");
	/* warnings come from the host pass, which reads the same text */
	ws_words_add(&w, "-w");
	ws_words_addf(&w, "-O%s", j->c.device_debug ? "0" : j->c.optimize ? j->c.optimize : "2");
	ws_words_add(&w, "-Xclang");
	ws_words_add(&w, "-target-feature");
	ws_words_add(&w, "-Xclang");
	ws_words_add(&w, ptx_feature(j));
	ws_words_add_all(&w, &j->c.device);
	ws_words_add(&w, source);
	ws_words_add(&w, "-o");
	ws_words_add(&w, ptx);
	status = run(&w, j->c.verbose);
	ws_words_free(&w);
	return status == 0 && (!j->c.transactions || transact(j, ptx));
}

static bool host_pass(struct job *j, size_t input, const char *fatbin, const char *object)
{
	struct ws_words w = { 0 };
	int status;

	cuda_words(j, &w);
	ws_words_add(&w, "--cuda-host-only");
	/* lines of the host's code name allocations in reports; a -g among the options gives more */
	ws_words_add(&w, "-gline-tables-only");
	ws_words_add(&w, "-Xclang");
	ws_words_add(&w, "-fcuda-include-gpubinary");
	ws_words_add(&w, "-Xclang");
	ws_words_add(&w, fatbin);
	if (j->c.optimize)
		ws_words_addf(&w, "-O%s", j->c.optimize);
	ws_words_add_all(&w, &j->c.host);
	ws_words_add(&w, "-c");
	ws_words_add(&w, j->c.inputs[input].path);
	ws_words_add(&w, "-o");
	ws_words_add(&w, object);
	status = run(&w, j->c.verbose);
	ws_words_free(&w);
	return status == 0;
}

static bool compile_cuda(struct job *j, size_t input, const char *object)
{
	char *ptx = temporary(j, input, ".ptx"), *fatbin = temporary(j, input, ".fatbin");
	bool good = device_pass(j, j->c.inputs[input].path, ptx) && write_fatbin(j, ptx, fatbin) &&
	            host_pass(j, input, fatbin, object);

	free(ptx);
	free(fatbin);
	return good;
}

/* C and C++ files see the runtime API's headers too. */
static bool compile_host(struct job *j, size_t input, const char *object)
{
	struct ws_words w = { 0 };
	const char *path = j->c.inputs[input].path, *dot = strrchr(path, '.');
	bool c = dot && (strcmp(dot, ".c") == 0 || strcmp(dot, ".i") == 0) && !j->c.language;
	int status;

	ws_words_add(&w, j->clang);
	if (j->c.language) {
		ws_words_add(&w, "-x");
		ws_words_add(&w, j->c.language);
	}
	if (!c && (!dot || (dot[1] != 's' && dot[1] != 'S')))
		ws_words_addf(&w, "-std=%s", j->c.std ? j->c.std : "gnu++17");
	ws_words_add(&w, "-gline-tables-only");
	ws_words_add(&w, "-isystem");
	ws_words_add(&w, j->headers);
	ws_words_add(&w, "-idirafter");
	ws_words_addf(&w, "%s/../..", j->headers);
	ws_words_add_all(&w, &j->c.both);
	if (j->c.optimize)
		ws_words_addf(&w, "-O%s", j->c.optimize);
	ws_words_add_all(&w, &j->c.host);
	ws_words_add(&w, "-c");
	ws_words_add(&w, path);
	ws_words_add(&w, "-o");
	ws_words_add(&w, object);
	status = run(&w, j->c.verbose);
	ws_words_free(&w);
	return status == 0;
}

static bool preprocess(struct job *j, size_t input)
{
	struct ws_words w = { 0 };
	int status;

	cuda_words(j, &w);
	ws_words_add(&w, "--cuda-host-only");
	ws_words_add_all(&w, &j->c.host);
	ws_words_add(&w, "-E");
	ws_words_add(&w, j->c.inputs[input].path);
	if (j->c.output) {
		ws_words_add(&w, "-o");
		ws_words_add(&w, j->c.output);
	}
	status = run(&w, j->c.verbose);
	ws_words_free(&w);
	return status == 0;
}

static bool link_program(struct job *j)
{
	struct ws_words w = { 0 };
	int status;

	j->libraries = ws_cli_library_folder();
	if (!j->libraries) {
		ws_cli_refuse("cc", "libcudart.so is not where it belongs beside this program; build or install again");
		return false;
	}
	ws_words_add(&w, j->clang);
	ws_words_add(&w, "--driver-mode=g++");
	ws_words_add_all(&w, &j->c.link);
	ws_words_addf(&w, "-L%s", j->libraries);
	ws_words_addf(&w, "-Wl,-rpath,%s", j->libraries);
	ws_words_add(&w, "-lcudart");
	ws_words_add(&w, "-o");
	ws_words_add(&w, j->c.output ? j->c.output : "a.out");
	status = run(&w, j->c.verbose);
	ws_words_free(&w);
	return status == 0;
}

/* ---- the whole ---- */

/* One source file to an object that takes its place in the link. */
static bool compile(struct job *j, size_t input)
{
	struct ws_cc_input *in = &j->c.inputs[input];
	bool last = j->c.mode == WS_CC_OBJECT, good;
	char *object;

	if (last)
		object = j->c.output ? ws_strdup(j->c.output) : file_for(NULL, in->path, ".o");
	else
		object = temporary(j, input, ".o");
	good = in->kind == WS_CC_CUDA ? compile_cuda(j, input, object) : compile_host(j, input, object);
	if (!last) {
		free(j->c.link.v[in->link_at]);
		j->c.link.v[in->link_at] = ws_strdup(object);
	}
	free(object);
	return good;
}

static bool ptx_only(struct job *j, size_t input)
{
	char *ptx = j->c.output ? ws_strdup(j->c.output) : file_for(NULL, j->c.inputs[input].path, ".ptx");
	bool good = device_pass(j, j->c.inputs[input].path, ptx);

	free(ptx);
	return good;
}

static bool process(struct job *j)
{
	for (size_t i = 0; i < j->c.ninputs; i++) {
		const struct ws_cc_input *in = &j->c.inputs[i];

		if (access(in->path, R_OK) != 0) {
			ws_cli_refuse("cc", "cannot read %s: %s", in->path, strerror(errno));
			return false;
		}
		if (in->kind == WS_CC_LINK)
			continue;
		if (j->c.mode == WS_CC_PREPROCESS ? !preprocess(j, i) :
		    j->c.mode == WS_CC_PTX ? !ptx_only(j, i) : !compile(j, i))
			return false;
	}
	return j->c.mode != WS_CC_PROGRAM || link_program(j);
}

static int cc_main(int argc, char **argv)
{
	struct job j = { 0 };
	int status = WS_EXIT_USAGE;

	if (ws_cc_parse(&j.c, argc, argv, &status)) {
		/* an interrupt ends clang; this process stays to delete its files */
		signal(SIGINT, SIG_IGN);
		status = WS_EXIT_USAGE;
		if (find_clang(&j) && check_arch(&j) && find_headers(&j) && make_folder(&j) && process(&j))
			status = WS_EXIT_FINE;
	}
	clean(&j);
	return status;
}

const struct ws_verb ws_verb_cc = {
	.name = "cc",
	.summary = "compile CUDA C++ without NVIDIA's toolkit",
	.usage = "[options] app.cu [more.cu .c .cpp .o .a] -o app",
	.help =
	"Compiles with clang and warpsafe's own CUDA headers; the program runs on the simulated GPU, under warpsafe\n"
	"run and warpsafe race or alone. Options are clang's; those of nvcc that have a meaning here are understood:\n"
	"  -arch=sm_NN         GPU architecture (default sm_70)\n"
	"  -c, -o FILE, -E     object file, output, preprocess only\n"
	"  --ptx               write the PTX of each CUDA file and stop\n"
	"  -I -D -U -O -g -std -l -L   as usual; -O is also the device's (default 2)\n"
	"  -G                  device code without optimization\n"
	"  -use_fast_math, -ftz=, -prec-div=, -prec-sqrt=, -fmad=\n"
	"  -Xcompiler X, -Xlinker X    X for the host's compiler, for the linker\n"
	"  --tm, --tm-engine=NAME      make marked sections (WS_ATOMIC) transactions; engines: see warpsafe help tm\n"
	"  --keep              keep the PTX, fat binary and object files\n"
	"  -v                  show the commands\n",
	.run = cc_main,
};
