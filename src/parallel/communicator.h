/* Communicator: the ranks of this run, through MPI. One rank is not a special case: every call works on it.
 *
 * Errors: where all ranks come by anyway (the end of a phase, of a file), communicator_agree() makes one
 * rank's failure that of all, and one rank speaks. A rank that fails alone, between two such places, takes
 * all others down with it in communicator_stop().
 */
#ifndef RADIXPIC_PARALLEL_COMMUNICATOR_H
#define RADIXPIC_PARALLEL_COMMUNICATOR_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct communicator {
    int rank, size;
    int local_rank, local_size; /* among the ranks of the same machine */
    int processors;             /* that a rank of several has to itself; 0: all that the process may run on */
    bool is_branch;             /* made by communicator_branch() */
};

/* Starts MPI, unless it runs already, where a launcher such as mpirun or srun started the process. Another
 * process is one rank, which needs no MPI: MPI_Init() would take half a second, for Open MPI starts a daemon.
 * The second call starts it for a library that needs it on one rank too. */
STATUS_CHECKED enum status communicator_start(struct communicator *communicator);
STATUS_CHECKED enum status communicator_start_mpi(void);

/* MPI runs now. */
bool communicator_runs(void);

/* Lets MPI go on with what it has still to send, where a rank waits for others without it. */
void communicator_progress(void);

/* Before communicator_start() too: whether mpirun started more than one rank, and whether this one is the
 * first or alone. What every rank would print alike is for the first. */
bool communicator_is_parallel(void);
bool communicator_is_first(void);

/* The first line of what the MPI library says of itself. */
void communicator_library(size_t size, char text[static size]);

/* Collective: STATUS_OK when it is so on every rank; else the code of the lowest rank that failed, with its
 * message, on all ranks. */
STATUS_CHECKED enum status communicator_agree(const struct communicator *communicator, enum status status);

/* Collective: STATUS_USAGE, with both in the sentence, where the text that a rank has for `what` is not that
 * of rank 0. */
STATUS_CHECKED enum status communicator_require_same(const struct communicator *communicator,
                                                     const char *what, const char *text);

/* As communicator_agree() after work in which the ranks wait for one another: a rank that failed cannot see
 * whether the others come here or wait in that work. Without them it soon returns its own failure, not agreed
 * on, which communicator_stop() then makes the end of all. Ranks that wait for long sleep, so that the others
 * have the processor. */
STATUS_CHECKED enum status communicator_meet(const struct communicator *communicator, enum status status);

/* For a library: its caller may end a rank while the others go on. That rank then waits in MPI_Finalize() for
 * them, and their next communicator_meet() fails. */
void communicator_meet_at_end(const struct communicator *communicator);

/* This rank is to print the message of the failure `status`: it failed alone, or is the lowest rank of an
 * agreed failure, or the first where all ranks find the same bad usage before MPI runs. A rank other than the
 * first waits before it returns. */
bool communicator_speaks(enum status status);

/* Ends MPI where it was started: with MPI_Finalize() after success and after a failure that all ranks agreed
 * on before anything was written, else with MPI_Abort(), so that no rank waits for this one. Then it does not
 * return where there are several ranks. */
void communicator_stop(enum status status);

/* For what is not main(): where `status` is a failure of this rank alone, writes the text to the error output
 * and ends all ranks. */
void communicator_require_agreed(enum status status, const char *text);

/* ---- for the threads that write files, beside those of the steps ---- */

/* Collective. A second communicator of the same ranks, for agree(), gather(), broadcast(), send() and
 * receive() in a thread of its own: what is collective there does not meet what is collective here. There is
 * one. */
STATUS_CHECKED enum status communicator_branch(const struct communicator *communicator,
                                               struct communicator *result);

/* MPI can be called from several threads at a time. */
bool communicator_allows_threads(const struct communicator *communicator);

/* A message of up to 2 GiB from one rank to another. Blocking; both sleep where they wait for long, and
 * receive() returns how many bytes came. Messages between two ranks keep their order. */
void communicator_send(const struct communicator *communicator, int to, size_t bytes, const void *values);
size_t communicator_receive(const struct communicator *communicator, int from, size_t most, void *values);

/* all[size][bytes] <- values[bytes] of each rank. Collective. */
void communicator_gather(const struct communicator *communicator, size_t bytes, const void *values,
                         void *all);

/* ---- collective sums and the like; the same result, bit for bit, on every rank and in every run ---- */

/* Sums in the order of the ranks. */
void communicator_sum(const struct communicator *communicator, size_t count, double *values);
void communicator_sum_counts(const struct communicator *communicator, size_t count, uint64_t *values);
void communicator_max(const struct communicator *communicator, size_t count, double *values);

/* The mean of `all` numbers of at least 0, of which this rank has values[count]: from a sum of integers, so
 * that it is the same on any ranks. */
double communicator_mean(const struct communicator *communicator, uint64_t all, uint64_t count,
                         const double *values);

/* Deals `all` items out to the ranks in their order, as evenly as can be. Returns the first item of this
 * rank, and in *count how many it has. */
uint64_t communicator_share(const struct communicator *communicator, uint64_t all, uint64_t *count);

/* The bytes of rank 0, on all ranks. */
void communicator_broadcast(const struct communicator *communicator, size_t bytes, void *values);

#endif
