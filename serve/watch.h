/* Folders of this machine whose photos come in by themselves. Links are not followed, hidden files are left out. */
#ifndef BROAD_SERVE_WATCH_H
#define BROAD_SERVE_WATCH_H

#include "serve/server.h"

/* Looks through watched folders every two seconds. */
int serve_watch_start(serve_server *server);
void serve_watch_stop(serve_server *server);
int serve_watch_add(serve_server *server, const char *folder); /* an absolute path of a folder */
int serve_watch_remove(serve_server *server, const char *folder);
/* Takes all photos of a folder that have not been written to for `still` seconds, shown as below `shown`. copy: into the
 * project. */
int serve_watch_take(serve_server *server, const char *folder, const char *shown, int copy, int still);

#endif
