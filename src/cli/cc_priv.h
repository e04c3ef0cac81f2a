/* cc_priv.h - `warpsafe cc` in two parts: cc_options.c reads the command line, cc.c runs clang. */
#ifndef WS_CC_PRIV_H
#define WS_CC_PRIV_H

#include "cli/cli.h"
#include "rewrite/rewrite.h"

struct ws_words {                    /* a list of owned strings; v[n] is NULL once something was added */
	char **v;
	size_t n, cap;
};
void ws_words_add(struct ws_words *w, const char *s);
void ws_words_addf(struct ws_words *w, const char *fmt, ...) WS_PRINTF(2, 3);
void ws_words_add_all(struct ws_words *w, const struct ws_words *more);
void ws_words_free(struct ws_words *w);

enum ws_cc_kind { WS_CC_CUDA, WS_CC_HOST, WS_CC_LINK };
enum ws_cc_mode { WS_CC_PROGRAM, WS_CC_OBJECT, WS_CC_PREPROCESS, WS_CC_PTX };

struct ws_cc_input {
	const char *path;            /* in argv */
	enum ws_cc_kind kind;
	size_t link_at;              /* its place among the words of the link */
};

struct ws_cc {
	enum ws_cc_mode mode;
	struct ws_cc_input *inputs;
	size_t ninputs, cap;
	const char *output;          /* -o; NULL = not given */
	unsigned sm;                 /* 70; 0 = not given */
	char sm_suffix;              /* 'a' or 0 */
	struct ws_words host, device, both, link;        /* options; link: objects and libraries in order too */
	const char *language;        /* of -x; NULL = by suffix */
	const char *optimize;        /* "2", "0"; NULL = not given */
	const char *std;             /* "c++17"; NULL = not given */
	bool device_debug, keep, verbose;
	bool transactions;           /* marked sections are made transactions, by these settings */
	struct ws_tm_settings tm;
};

/* Fills *c from argv (argv[0] is the verb). false: *status says what to exit with; help was shown, or one line said
 * what is wrong. Free with ws_cc_free either way. */
bool ws_cc_parse(struct ws_cc *c, int argc, char **argv, int *status);
void ws_cc_free(struct ws_cc *c);

#endif
