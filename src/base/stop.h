/* Stop: signals, as a request that the run checks between steps, or as errors of the write that met them. */
#ifndef RADIXPIC_BASE_STOP_H
#define RADIXPIC_BASE_STOP_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Notes which signals are ignored: before libraries are initialised, for they set handlers. (UCX, within Open
 * MPI, sets one for SIGHUP.) */
void stop_note_ignored(void);

/* The program starts. From now on a thread receives the signals that ask the program to end, and SIGQUIT,
 * whatever libraries do: they are blocked in this thread and all that come from it, so that no handler of a
 * library runs for them. (LLVM, within PoCL, sets handlers that lose signals and remove the files of a kernel
 * build.) Until stop_watch() they end the process as the system does it by default; one that was noted as
 * ignored stays so. A write to a closed pipe, or beyond the limit of a file's size, fails with its errno:
 * SIGPIPE and SIGXFSZ end the process no more. Fails where no thread can be started. */
STATUS_CHECKED enum status stop_begin(void);

/* From now on the first of these signals is only noted. A second SIGTERM or SIGINT ends the process at once,
 * unless it comes within half a second of the first of the two: timeout, mpirun and terminals send one
 * request as two signals. No other signal ends it after the first: SIGXCPU comes every second, and batch
 * systems announce a SIGTERM by another one. */
void stop_watch(const int *signals, size_t count);

/* All those that the config may name, for what leaves nothing to go on with. */
void stop_watch_all(void);

/* From now on SIGABRT and SIGBUS, by which libraries end a program that called stop_begin(), print
 * `sentence`, which stays the caller's, and end it with STATUS_NO_DEVICE. NULL: the same sentence, again, for
 * a library may have set handlers of its own. */
void stop_explain(const char *sentence);

/* In a process that did not call stop_begin(), and keeps its own handlers: from here to the guard's end the
 * sentence is printed there too, before what the process does at these signals. Guards may overlap, in any
 * threads. */
void stop_guard(bool begins);

/* From now on they end the program as the system does by default. */
void stop_explain_end(void);

/* The signal that came since, or 0. */
int stop_signal(void);

/* "TERM", "INT", ... */
const char *stop_name(int number);

#endif
