/* Communicator: start and end of MPI, agreement, and sums in the order of the ranks. */
#include "parallel/communicator.h"

#include <math.h>
#include <mpi.h>
#include <sched.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How the last failure stands among the ranks; main() asks for it when everything else is gone. */
static struct {
    bool agreed;   /* all ranks have the failure */
    bool silenced; /* a lower rank prints it */
} failure;

enum {
    WAIT_FOR_LOWER_RANK = 200000 /* microseconds */,
    LONGEST_WAIT = 2000000,
    WAIT_AGAIN = 2000,
    WAIT_FOR_MESSAGE = 50,
    PATIENT_TRIES = 1000
};

/* Seconds that a rank which failed gives the others to come to where it is. */
static const double patience = 2;

/* A communicator of all ranks for communicator_meet() alone: its calls never match another call in which a
 * rank still waits. */
static MPI_Comm meeting = MPI_COMM_NULL;

/* This rank is about to end, in meet_at_end(); and a rank has ended, as all have learned in a meeting. */
static int is_ending, one_has_ended;

/* A communicator of all ranks for the threads that write files. */
static MPI_Comm branch = MPI_COMM_NULL;

static MPI_Comm comm_of(const struct communicator *communicator)
{
    return communicator->is_branch ? branch : MPI_COMM_WORLD;
}

bool communicator_runs(void)
{
    int started = 0, stopped = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&stopped);
    return started && !stopped;
}

void communicator_progress(void)
{
    int found = 0;
    if (communicator_runs())
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

/* A number of this process by MPI, or before MPI runs by variables that Open MPI, or the PMI of MPICH and
 * others, sets in a process that it starts; 0 where there is none. */
static int launched_number(int (*ask)(MPI_Comm communicator, int *number), const char *open_mpi,
                           const char *pmi)
{
    int number = 0;
    if (communicator_runs()) {
        ask(MPI_COMM_WORLD, &number);
        return number;
    }
    const char *const texts[] = {getenv(open_mpi), getenv(pmi)};
    for (int n = 0; n < 2; n++)
        if (texts[n] && atoi(texts[n]) > number)
            number = atoi(texts[n]);
    return number;
}

/* A launcher started this process: the environment has variables of Open MPI, of a process manager's
 * interface (PMI, PMI2, PMIx: MPICH, Intel MPI, Slurm, Flux, PALS), or of the launcher itself. */
static bool is_launched(void)
{
    static const char *const prefixes[] = {
        "OMPI_COMM_WORLD_", "PMI_",  "PMI2_", "PMIX_RANK=", "SLURM_PROCID=", "MPI_LOCAL",
        "MV2_COMM_WORLD_",  "FLUX_", "PALS_", "ALPS_",      "JSM_",          "MPIRUN_"};
    for (char **entry = environ; *entry; entry++)
        for (size_t n = 0; n < sizeof prefixes / sizeof prefixes[0]; n++)
            if (strncmp(*entry, prefixes[n], strlen(prefixes[n])) == 0)
                return true;
    return false;
}

bool communicator_is_parallel(void)
{
    return launched_number(MPI_Comm_size, "OMPI_COMM_WORLD_SIZE", "PMI_SIZE") > 1;
}

static int own_rank(void)
{
    return launched_number(MPI_Comm_rank, "OMPI_COMM_WORLD_RANK", "PMI_RANK");
}

bool communicator_is_first(void)
{
    return own_rank() == 0;
}

void communicator_library(size_t size, char text[static size])
{
    char name[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(name, &length);
    snprintf(text, size, "%.*s", (int)strcspn(name, ",\n"), name);
}

enum status communicator_start_mpi(void)
{
    int provided;
    if (!communicator_runs() && MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS)
        return status_fail(STATUS_FAILED, "MPI does not start");
    if (meeting == MPI_COMM_NULL)
        MPI_Comm_dup(MPI_COMM_WORLD, &meeting);
    return STATUS_OK;
}

/* The processors for this rank: one on which n ranks of this machine may run counts 1/n. At least 1. */
static int find_processors(MPI_Comm here)
{
    cpu_set_t own;
    int ranks[CPU_SETSIZE];
    double processors = 0;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    for (size_t n = 0; n < CPU_SETSIZE; n++)
        ranks[n] = CPU_ISSET(n, &own) != 0;
    MPI_Allreduce(MPI_IN_PLACE, ranks, CPU_SETSIZE, MPI_INT, MPI_SUM, here);
    for (size_t n = 0; n < CPU_SETSIZE; n++)
        processors += CPU_ISSET(n, &own) ? 1.0 / ranks[n] : 0;
    return processors > 1 ? (int)(processors + 1e-6) : 1;
}

enum status communicator_start(struct communicator *communicator)
{
    *communicator = (struct communicator){.size = 1, .local_size = 1};
    if (!communicator_runs() && !is_launched())
        return STATUS_OK;
    TRY(communicator_start_mpi());
    MPI_Comm_rank(MPI_COMM_WORLD, &communicator->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &communicator->size);
    MPI_Comm here;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, communicator->rank, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &communicator->local_rank);
    MPI_Comm_size(here, &communicator->local_size);
    communicator->processors = find_processors(here);
    MPI_Comm_free(&here);
    return STATUS_OK;
}

/* Until the request is done; after a while asleep, which leaves the processor to the steps. */
static void wait_patiently(MPI_Request *request, MPI_Status *status)
{
    int done = 0;
    MPI_Test(request, &done, status);
    for (int tried = 0; !done; tried++) {
        if (tried > PATIENT_TRIES)
            usleep(WAIT_FOR_MESSAGE);
        MPI_Test(request, &done, status);
    }
}

/* Within a collective call, for free(). */
static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) {
        fputs("radixpic: no memory for messages between ranks\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED);
    }
    return memory;
}

/* The text of `speaker`, on all ranks, for free(). */
static char *share_text(const struct communicator *communicator, int speaker, const char *text)
{
    int length = (int)strlen(text) + 1;
    MPI_Bcast(&length, 1, MPI_INT, speaker, comm_of(communicator));
    char *shared = allocate((size_t)length);
    if (communicator->rank == speaker)
        memcpy(shared, text, (size_t)length);
    MPI_Bcast(shared, length, MPI_CHAR, speaker, comm_of(communicator));
    return shared;
}

enum status communicator_agree(const struct communicator *communicator, enum status status)
{
    if (communicator->size == 1)
        return status;
    int mine = status == STATUS_OK ? communicator->size : communicator->rank, lowest = 0;
    if (communicator->is_branch) {
        MPI_Request request;
        MPI_Iallreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm_of(communicator), &request);
        wait_patiently(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm_of(communicator));
    }
    int code = STATUS_OK;
    if (lowest < communicator->size) {
        code = (int)status;
        MPI_Bcast(&code, 1, MPI_INT, lowest, comm_of(communicator));
        char *message = share_text(communicator, lowest, status_message());
        if (communicator->rank != lowest)
            (void)status_fail_lines((enum status)code, "%s", message);
        free(message);
    }
    if (communicator->is_branch)
        return (enum status)code;
    failure.agreed = code != STATUS_OK; /* whatever there was before has been survived */
    failure.silenced = failure.agreed && communicator->rank != lowest;
    return (enum status)code;
}

enum status communicator_require_same(const struct communicator *communicator, const char *what,
                                      const char *text)
{
    if (communicator->size == 1)
        return STATUS_OK;
    char *first = share_text(communicator, 0, text);
    const enum status status =
        strcmp(text, first) == 0
            ? STATUS_OK
            : status_fail(STATUS_USAGE, "%s: rank 0 has %s, rank %d has %s; all ranks of a run need the same",
                          what, first, communicator->rank, text);
    free(first);
    return communicator_agree(communicator, status);
}

enum status communicator_meet(const struct communicator *communicator, enum status status)
{
    if (communicator->size == 1)
        return status;
    MPI_Request request;
    int all_are_here = 0;
    const double begin = MPI_Wtime();
    MPI_Iallreduce(&is_ending, &one_has_ended, 1, MPI_INT, MPI_MAX, meeting, &request);
    for (int tried = 0;; tried++) {
        MPI_Test(&request, &all_are_here, MPI_STATUS_IGNORE);
        if (all_are_here)
            return communicator_agree(communicator, status);
        if (status != STATUS_OK && !is_ending && MPI_Wtime() - begin > patience)
            return status;
        if (tried > PATIENT_TRIES)
            usleep(WAIT_AGAIN);
    }
}

/* What MPI_Finalize() calls first. */
static int meet_at_end(MPI_Comm self, int key, void *communicator, void *unused)
{
    (void)self, (void)key, (void)unused;
    const enum status ends = status_fail(STATUS_FAILED, "rank %d has ended", own_rank());
    is_ending = true;
    return one_has_ended || communicator_meet(communicator, ends) ? MPI_SUCCESS : MPI_ERR_INTERN;
}

void communicator_meet_at_end(const struct communicator *communicator)
{
    static struct communicator kept;
    int key;
    if (kept.size > 0 || communicator->size == 1)
        return;
    kept = *communicator;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, meet_at_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &kept);
}

bool communicator_speaks(enum status status)
{
    if (failure.agreed)
        return !failure.silenced;
    /* Several ranks may fail for the same cause; the end of the lowest then ends the others before they
     * speak, and of the command line only the lowest is to speak. */
    const int rank = own_rank(), wait = rank * WAIT_FOR_LOWER_RANK;
    usleep((useconds_t)(wait < LONGEST_WAIT ? wait : LONGEST_WAIT));
    return communicator_runs() || status != STATUS_USAGE || rank == 0;
}

void communicator_stop(enum status status)
{
    if (!communicator_runs())
        return;
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* After a failed write MPI's end can crash on the file that HDF5 could not close. */
    if (status != STATUS_FAILED &&
        (failure.agreed || status == STATUS_OK || status == STATUS_STOPPED || size == 1))
        MPI_Finalize();
    else if (failure.agreed)
        MPI_Barrier(MPI_COMM_WORLD); /* so that mpirun ends no rank before the message is out */
    else if (size > 1)
        MPI_Abort(MPI_COMM_WORLD, (int)status);
}

void communicator_require_agreed(enum status status, const char *text)
{
    if (status == STATUS_OK || failure.agreed || !communicator_runs())
        return;
    fprintf(stderr, "radixpic: %s\n", text);
    MPI_Abort(MPI_COMM_WORLD, (int)status);
}

/* ---- the threads that write files ---- */

enum status communicator_branch(const struct communicator *communicator, struct communicator *result)
{
    *result = *communicator;
    result->is_branch = true;
    if (communicator->size > 1 && branch == MPI_COMM_NULL &&
        MPI_Comm_dup(MPI_COMM_WORLD, &branch) != MPI_SUCCESS)
        return status_fail(STATUS_FAILED, "MPI makes no second communicator");
    return STATUS_OK;
}

bool communicator_allows_threads(const struct communicator *communicator)
{
    int provided = MPI_THREAD_MULTIPLE;
    if (communicator->size > 1)
        MPI_Query_thread(&provided);
    return provided == MPI_THREAD_MULTIPLE;
}

void communicator_send(const struct communicator *communicator, int to, size_t bytes, const void *values)
{
    MPI_Request request;
    MPI_Isend(values, (int)bytes, MPI_BYTE, to, 0, comm_of(communicator), &request);
    wait_patiently(&request, MPI_STATUS_IGNORE);
}

size_t communicator_receive(const struct communicator *communicator, int from, size_t most, void *values)
{
    MPI_Request request;
    MPI_Status received;
    int bytes = 0;
    MPI_Irecv(values, (int)most, MPI_BYTE, from, 0, comm_of(communicator), &request);
    wait_patiently(&request, &received);
    MPI_Get_count(&received, MPI_BYTE, &bytes);
    return (size_t)bytes;
}

/* ---- sums ---- */

void communicator_gather(const struct communicator *communicator, size_t bytes, const void *values, void *all)
{
    memcpy(all, values, bytes);
    if (communicator->size > 1)
        MPI_Allgather(values, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm_of(communicator));
}

/* A reduction of MPI may take any order; this takes that of the ranks. */
void communicator_sum(const struct communicator *communicator, size_t count, double *values)
{
    if (communicator->size == 1 || count == 0)
        return;
    const size_t ranks = (size_t)communicator->size;
    double *all = allocate(ranks * count * sizeof *all);
    MPI_Allgather(values, (int)count, MPI_DOUBLE, all, (int)count, MPI_DOUBLE, MPI_COMM_WORLD);
    for (size_t n = 0; n < count; n++) {
        values[n] = 0;
        for (size_t rank = 0; rank < ranks; rank++)
            values[n] += all[rank * count + n];
    }
    free(all);
}

void communicator_sum_counts(const struct communicator *communicator, size_t count, uint64_t *values)
{
    if (communicator->size > 1)
        MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

void communicator_max(const struct communicator *communicator, size_t count, double *values)
{
    if (communicator->size > 1)
        MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

void communicator_broadcast(const struct communicator *communicator, size_t bytes, void *values)
{
    if (communicator->size > 1)
        MPI_Bcast(values, (int)bytes, MPI_BYTE, 0, comm_of(communicator));
}

double communicator_mean(const struct communicator *communicator, uint64_t all, uint64_t count,
                         const double *values)
{
    const int bits = 62 - ilogb((double)all);
    double most = 0;
    uint64_t sum = 0;
    for (uint64_t n = 0; n < count; n++)
        most = fmax(most, values[n]);
    communicator_max(communicator, 1, &most);
    for (uint64_t n = 0; n < count && most > 0; n++)
        sum += (uint64_t)ldexp(values[n] / most, bits);
    communicator_sum_counts(communicator, 1, &sum);
    return ldexp(most, -bits) * (double)sum / (double)all;
}

uint64_t communicator_share(const struct communicator *communicator, uint64_t all, uint64_t *count)
{
    const uint64_t ranks = (uint64_t)communicator->size, rank = (uint64_t)communicator->rank;
    const uint64_t part = all / ranks, rest = all % ranks;
    *count = part + (rank < rest);
    return rank * part + (rank < rest ? rank : rest);
}
