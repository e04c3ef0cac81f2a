/* cli.h - the verbs of `warpsafe`. A verb is one file with one table row (struct ws_verb), listed in main.c. Only this
 * room prints and decides exit statuses. */
#ifndef WS_CLI_H
#define WS_CLI_H

#include "base/options.h"
#include "report/report.h"

enum {                               /* exit statuses */
	WS_EXIT_FINE = 0,
	WS_EXIT_RACE = 1,            /* or --error-exitcode */
	WS_EXIT_USAGE = 2,           /* bad usage or bad input */
	WS_EXIT_FAILED = 3           /* the program under test failed or deadlocked */
};

struct ws_verb {
	const char *name;
	const char *summary;         /* one line of `warpsafe help` */
	const char *usage;           /* what follows the name */
	const char *help;            /* text of `warpsafe help NAME` above the options; ends with a line break */
	int (*run)(int argc, char **argv);       /* argv[0] is the verb's name; returns the exit status */
};
extern const struct ws_verb ws_verb_race, ws_verb_tm, ws_verb_run, ws_verb_sim, ws_verb_cc, ws_verb_ptx, ws_verb_bench;

/* "warpsafe VERB: text" on stderr; returns WS_EXIT_USAGE. verb may be NULL. */
int ws_cli_refuse(const char *verb, const char *fmt, ...) WS_PRINTF(2, 3);
/* The help of a verb, options included. */
void ws_cli_verb_help(const struct ws_verb *verb, struct ws_buf *out);
/* The folder of the running warpsafe (ending without '/'), NULL if the system does not say. The caller frees it. */
char *ws_cli_own_folder(void);
/* The folder of the libraries that stand in for NVIDIA's: beside a built warpsafe, or PREFIX/lib/warpsafe of an
 * installed one. NULL if there is none. The caller frees it. */
char *ws_cli_library_folder(void);

/* A new folder for temporary files, NAME-XXXXXX in TMPDIR or /tmp; the caller removes and frees it. NULL with errno. */
char *ws_cli_temporary_folder(const char *name);

/* The description of that machine of `warpsafe sim`. Owned; NULL: there is none. */
char *ws_cli_machine_path(const char *name);

/* Removes the folder with all files in it; before that, `take` gets the path and name of each, in that order of names (for qsort).
 * Both may be NULL. */
void ws_cli_take_folder(const char *folder, int (*order)(const void *, const void *),
                        void (*take)(void *user, const char *path, const char *name), void *user);

/* ---- race and run ---- */
/* Reads the options before the program. Returns the program's index in argv; 0: *status says what to exit with (help
 * was shown, or the usage is wrong). */
int ws_cli_parse(const struct ws_verb *verb, int argc, char **argv, struct ws_options *o, int *status);

enum ws_program_state { WS_PROGRAM_RAN, WS_PROGRAM_REFUSED };
struct ws_program {
	enum ws_program_state state;
	int status;                  /* RAN: its own status, 128 + signal if it was killed. REFUSED: what to exit with */
	int signal;                  /* that killed it; 0 = none */
};
/* What becomes of the program's output: shown as it is; its standard output goes to stderr, because standard output is
 * for the report; all of it is thrown away. */
enum ws_program_output { WS_OUTPUT_SHOWN, WS_OUTPUT_TO_STDERR, WS_OUTPUT_HIDDEN };
/* Runs argv[0] with the simulated GPU in place and waits for it. The reports of its processes are added to `report`. */
struct ws_program ws_cli_launch(const struct ws_verb *verb, const struct ws_options *o, char **argv,
                                enum ws_program_output output, struct ws_report *report);

/* What a verb that looks for nothing but failures exits with: the program's own status, or WS_EXIT_FAILED when a kernel failed. */
int ws_cli_status(const struct ws_program *p, const struct ws_report *report);

/* Looks at the program before it is started; real: on a real GPU. NULL: fine; else why it cannot be run and what to do,
 * one line, static or in *text, which the caller frees. */
const char *ws_cli_check_program(const char *path, bool real, struct ws_buf *text);

/* ---- --gpu=real ---- */
bool ws_cli_is_real(const struct ws_options *o);
/* Do the options agree with each other and with the GPU that is meant? Answers as ws_cli_check_program. */
const char *ws_cli_check_real(const char *verb, const struct ws_options *o, struct ws_buf *text);
/* Finds the installed driver and writes the library that stands before it into `folder`; sets the environment variable
 * that tells of the driver. Answers as ws_cli_check_program. */
const char *ws_cli_put_stub(const char *libraries, const char *folder, struct ws_buf *text);

#endif
