/* Fuzz target: the reader of JSON reports. Property besides "no crash": what was read and written again is read again,
 * and every form can be made of it. */
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ws_report *r = ws_report_new(), *again = ws_report_new();
	struct ws_text_options opt = { true, NULL, 3, false };
	struct ws_buf json = { 0 }, more = { 0 };

	if (ws_report_read_json(r, (const char *)data, size, NULL)) {
		ws_report_write_json(r, &json);
		if (!ws_report_read_json(again, json.data, json.len, NULL))
			abort();
		ws_report_write_json(again, &more);
		if (strcmp(json.data, more.data) != 0)
			abort();
		ws_report_write_text(r, &opt, &more);
		ws_report_write_sarif(r, &more);
		ws_report_write_html(r, &more);
	}
	ws_buf_free(&json);
	ws_buf_free(&more);
	ws_report_free(r);
	ws_report_free(again);
	return 0;
}
