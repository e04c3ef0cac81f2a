/* auto.c - what engine auto chooses, from made-up rates. Ends with 1 and a line for each choice that is wrong. */
#include "warpsafe/tm/auto.h"

static int bad;

static void must(int right, const char *what)
{
	if (!right)
		bad = printf("wrong: %s\n", what);
}

/* Launches until it has settled; rates by engine. */
static enum ws_tm_engine choice(struct ws_tm_features f, const double *rates)
{
	struct ws_tm_auto a;
	int launches = 0;

	for (ws_tm_auto_init(&a, &f); !ws_tm_auto_settled(&a); launches++)
		ws_tm_auto_record(&a, (unsigned long long)rates[ws_tm_auto_engine(&a)], launches % 2 ? 1.0 : 3.0);
	must(launches == (f.opaque ? 2 : 3) * WS_TM_TRIALS, "number of trials");
	return ws_tm_auto_engine(&a);
}

static enum ws_tm_engine first(struct ws_tm_features f)
{
	struct ws_tm_auto a;

	ws_tm_auto_init(&a, &f);
	ws_tm_auto_record(&a, 0, 1);               /* tells nothing */
	return ws_tm_auto_engine(&a);
}

int main(void)
{
	struct ws_tm_features rewrites = { 3, 3, 3, 0, 0 }, searches = { 100, 1, 1, 0, 0 }, opaque = { 100, 1, 1, 1, 0 }, nothing = { 0, 0, 0, 0, 0 };
	double rates[WS_TM_ENGINES] = { 0 };
	struct ws_tm_auto a;
	char why[200], little[8];

	must(first(rewrites) == WS_TM_PSTM && first(nothing) == WS_TM_PSTM, "pstm first where what is read is written");
	must(first(searches) == WS_TM_ISTM && first(opaque) == WS_TM_HSTM, "istm or hstm first where little is written");
	rates[WS_TM_PSTM] = 100;
	rates[WS_TM_ISTM] = 300;
	rates[WS_TM_HSTM] = 200;
	must(choice(rewrites, rates) == WS_TM_ISTM && choice(searches, rates) == WS_TM_ISTM, "the fastest");
	must(choice(opaque, rates) == WS_TM_HSTM, "never istm where attempts must be opaque");
	ws_tm_auto_init(&a, &(struct ws_tm_features){ .reads = 9, .never_abort = 1 });
	must(a.candidates == 1 && ws_tm_auto_engine(&a) == WS_TM_ESTM, "estm alone where read-only sections must not abort");
	ws_tm_auto_init(&a, NULL);
	ws_tm_auto_record(&a, 1000, 0.5);
	must(!strcmp(ws_tm_auto_why(&a, why, sizeof why),
	             "pstm (on trial): pstm 2e+03 commits/s istm not tried yet hstm not tried yet"), why);
	must(strlen(ws_tm_auto_why(&a, little, sizeof little)) == 7, "a text that is too long is cut");
	return bad != 0;
}
