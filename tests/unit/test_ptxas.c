/* The toolkit's compiler (real/ptxas.h): scripts that play it, found or not, that fail, hang, say nothing or nonsense; and the one
 * that is installed, if any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <dirent.h>
#include <elf.h>
#include <signal.h>

#include "base/process.h"
#include "real/ptxas.h"

static const uint64_t second = 1000000000;
static char folder[] = "/tmp/warpsafe-ptxas-XXXXXX";
static const char module[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
			     ".func one(.param .b64 p)\n{\n\tret;\n}\n"
			     ".visible .entry k()\n{\n\tret;\n}\n";
#define VERSION "echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit 0; fi\n"
#define ASKED "#!/bin/sh\nif [ \"$1\" = --version ]; then "
/* The first bytes of machine code: ELF of 64 bits, EM_CUDA = 190. */
#define MAKES "printf '\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0\\276\\0%80s' x >\"$4\"; cat \"$2\" >>\"$4\"; echo $1 >>\"$4\"\n"

static char *in_folder(const char *name)
{
	struct ws_buf b = { 0 };

	ws_buf_printf(&b, "%s/%s", folder, name);
	return b.data;
}

static void write_script(const char *text)
{
	char *path = in_folder("ptxas");
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, 0700), 0);
	free(path);
}

static unsigned lasted;
static void note_it_lasts(void) { lasted++; }

/* Compiles by that script; the first line of what went wrong, or what was made behind the first 20 bytes. */
static char *by_target(const char *script, const char *text, int driver, uint64_t limit_ns, bool *fine)
{
	char *path = in_folder("ptxas");
	struct ws_ptxas_job j = { .path = path, .text = text, .len = strlen(text), .cc = 90, .driver = driver, .limit_ns = limit_ns, .lasts = note_it_lasts, .patience_ns = second / 10 };
	struct ws_buf why = { 0 };
	void *cubin;
	size_t len = 0;

	write_script(script);
	*fine = ws_ptxas_compile(&j, &cubin, &len, &why);
	free(path);
	if (*fine) {
		assert_true(len > 20 && !memcmp(cubin, ELFMAG, SELFMAG));
		ws_buf_free(&why);
		ws_buf_add(&why, (char *)cubin + 20, len - 20);
		free(cubin);
	} else {
		assert_null(cubin);
		assert_non_null(why.data);
	}
	return why.data;
}

static void expect(const char *script, int driver, uint64_t limit_ns, bool fine, const char *has)
{
	bool was;
	char *said = by_target(script, module, driver, limit_ns, &was);

	assert_int_equal(was, fine);
	if (!strstr(said, has))
		fail_msg("'%s' does not have '%s'", said, has);
	free(said);
}


static void compiles(void **state)
{
	expect(ASKED VERSION MAKES, 13000, 10 * second, true, ".visible .entry k()");
	expect(ASKED VERSION MAKES, 13010, 10 * second, true, "-arch=sm_90\n");
}

static void targets(void **state)
{
	static const struct { const char *target, *arch; } rows[] = {
		{ "sm_90a", "-arch=sm_90a\n" }, { "sm_90", "-arch=sm_90\n" }, { "sm_80", "-arch=sm_90\n" }, { "sm_100a", "-arch=sm_90\n" },
	};

	for (size_t k = 0; k < WS_COUNT(rows); k++) {
		struct ws_buf text = { 0 };
		bool fine;
		char *made;

		ws_buf_printf(&text, ".version 8.0\n.target %s\n", rows[k].target);
		made = by_target(ASKED VERSION MAKES, text.data, 13000, 10 * second, &fine);
		assert_true(fine);
		assert_non_null(strstr(made, rows[k].arch));
		free(made);
		ws_buf_free(&text);
	}
}

static void environment(void **state)
{
	setenv("LD_PRELOAD", "/nonexistent/ours.so", 1);
	setenv("WARPSAFE_DRIVER", "secret", 1);
	setenv("KEPT", "kept", 1);
	expect(ASKED VERSION MAKES "echo \"[$LD_PRELOAD$WARPSAFE_DRIVER$KEPT]\" >>\"$4\"\n", 13000, 10 * second, true, "[kept]");
	unsetenv("LD_PRELOAD");
	unsetenv("WARPSAFE_DRIVER");
	unsetenv("KEPT");
}

static void versions(void **state)
{
	expect(ASKED VERSION MAKES, 12090, 10 * second, false, "is of CUDA 13.0, and the driver of 12.9");
	expect(ASKED "echo nonsense; exit 0; fi\n" MAKES, 13000, 10 * second, false, "does not say its version");
	expect(ASKED "exit 3; fi\n" MAKES, 13000, 10 * second, false, "ended with status 3");
}

static void failures(void **state)
{
	char *path = in_folder("ptxas");

	expect(ASKED VERSION "echo 'ptxas fatal: no' >&2; echo more; exit 255\n", 13000, 10 * second, false, "ended with status 255: ptxas fatal: no");
	expect(ASKED VERSION "kill -9 $$\n", 13000, 10 * second, false, "ended with status 137");
	expect(ASKED VERSION "exit 0\n", 13000, 10 * second, false, "has made no machine code");
	expect(ASKED VERSION "echo something that is longer than the header of a file with machine code, but is none >\"$4\"\n", 13000, 10 * second, false,
	       "has made no machine code");
	expect("#!/nonexistent\n", 13000, 10 * second, false, "ended with status 127");
	free(path);
}

/* It is ended, with all that it has started; and when nobody may see how it ends. */
/* Who waits is told once that it takes a while, and not where it does not. */
static void lasts(void **state)
{
	lasted = 0;
	expect(ASKED VERSION "exit 1\n", 13000, 10 * second, false, "ended with status 1");
	assert_int_equal(lasted, 0);
	expect(ASKED VERSION "sleep 1; exit 1\n", 13000, 10 * second, false, "ended with status 1");
	assert_int_equal(lasted, 1);
}

static void hangs(void **state)
{
	uint64_t start = ws_monotonic_ns();
	char *mark = in_folder("alive");
	struct ws_buf script = { 0 };

	ws_buf_printf(&script, ASKED VERSION "(sleep 2; echo x >%s) & sleep 100\n", mark);
	expect(script.data, 13000, second / 2, false, "has taken longer than");
	assert_true(ws_monotonic_ns() - start < 30 * second);
	sleep(3);
	assert_int_not_equal(access(mark, F_OK), 0);
	ws_buf_free(&script);
	free(mark);
}

static void signal_is_ignored(void **state)
{
	signal(SIGCHLD, SIG_IGN);
	expect(ASKED VERSION MAKES, 13000, 10 * second, true, "entry");
	expect(ASKED VERSION "exit 1\n", 13000, 10 * second, false, "has made no machine code");
	signal(SIGCHLD, SIG_DFL);
}

/* ---- where it is ---- */
static void set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static void found(void **state)
{
	char *path = in_folder("ptxas"), *bin = in_folder("bin"), *below = in_folder("bin/ptxas"), *was = ws_strdup(getenv("PATH")), *at;
	struct ws_buf list = { 0 };

	write_script(ASKED VERSION);
	ws_buf_printf(&list, ":/nonexistent:relative:%s:/usr/bin", folder);
	set("CUDA_HOME", NULL);
	set("CUDA_PATH", NULL);
	set("PATH", list.data);
	at = ws_ptxas_find();
	assert_string_equal(at, path);
	free(at);
	chmod(path, 0600);                           /* not to be executed */
	set("PATH", "");
	at = ws_ptxas_find();
	assert_true(!at || !strcmp(at, "/usr/local/cuda/bin/ptxas"));
	free(at);
	chmod(path, 0700);
	mkdir(bin, 0700);
	rename(path, below);
	set("CUDA_HOME", "/nonexistent");
	set("CUDA_PATH", folder);
	at = ws_ptxas_find();
	assert_string_equal(at, below);
	free(at);
	set("CUDA_PATH", NULL);
	set("PATH", was);
	unlink(below);
	rmdir(bin);
	ws_buf_free(&list);
	free(path);
	free(bin);
	free(below);
	free(was);
}

/* Another file in its place has another mark. */
static void marks(void **state)
{
	char *path = in_folder("ptxas"), *one, *other;

	write_script("#!/bin/sh\n");
	one = ws_ptxas_mark(path);
	write_script("#!/bin/sh\n# more\n");
	other = ws_ptxas_mark(path);
	assert_string_not_equal(one, other);
	free(one);
	one = ws_ptxas_mark(path);
	assert_string_equal(one, other);
	free(one);
	free(other);
	free(path);
}

static void work(void **state)
{
	static const char function[] = "\n.func one(.param .b64 p)\n{\n\tret;\n}\n.visible ";

	assert_int_equal(ws_ptxas_work(module, 0), strlen(module));
	assert_int_equal(ws_ptxas_work(module, 1), strlen(module));
	assert_int_equal(ws_ptxas_work(module, 4), strlen(module) + 3 * strlen(function));
	assert_int_equal(ws_ptxas_work(".version 7.0\n.func a()\n{\n}\n.func b()\n{\n}\n", 2), 12 + 2 * 29);
}

static void real_one(void **state)
{
	char *path = ws_ptxas_find();
	struct ws_ptxas_job j = { .path = path, .text = module, .len = strlen(module), .cc = 90, .driver = 1 << 20, .limit_ns = 60 * second };
	struct ws_buf why = { 0 };
	void *cubin;
	size_t len = 0;

	if (!path) {
		print_message("skipped: there is no ptxas\n");
		skip();
	}
	assert_true(ws_ptxas_compile(&j, &cubin, &len, &why));
	assert_true(len > sizeof(Elf64_Ehdr));
	free(cubin);
	j.text = ".version 7.0\n.target sm_70\n.address_size 64\n.entry k() { this is no instruction; }\n";
	j.len = strlen(j.text);
	assert_false(ws_ptxas_compile(&j, &cubin, &len, &why));
	assert_non_null(strstr(why.data, "ended with status"));
	ws_buf_free(&why);
	free(path);
}

/* No file is left, nor a process. */
static void nothing_left(void **state)
{
	char *path = in_folder("ptxas");
	DIR *d;
	int n = 0;

	unlink(path);
	free(path);
	d = opendir(folder);
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	assert_int_equal(n, 0);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compiles), cmocka_unit_test(targets), cmocka_unit_test(environment), cmocka_unit_test(versions),
		cmocka_unit_test(failures), cmocka_unit_test(lasts), cmocka_unit_test(hangs), cmocka_unit_test(signal_is_ignored), cmocka_unit_test(found),
		cmocka_unit_test(marks), cmocka_unit_test(work), cmocka_unit_test(real_one), cmocka_unit_test(nothing_left),
	};

	if (!mkdtemp(folder))
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
