/* version.h - the version told by --version, in reports and in the man page. */
#ifndef WS_VERSION_H
#define WS_VERSION_H

#define WS_VERSION "0.1.0"

#endif
