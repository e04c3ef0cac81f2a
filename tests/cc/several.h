/* several.h - between the files of the test several.cu. */
#ifndef SEVERAL_H
#define SEVERAL_H
#ifdef __cplusplus
extern "C" {
#endif
void launch_other(int *device);
int devices_seen(void);
long bytes_per_block(void);
#ifdef __cplusplus
}
#endif
#endif
