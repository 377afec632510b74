/* Run messages: one for the counts of a run, and one for each attribute of its particles. */
#include "parallel/run_messages.h"

struct run_messages {
    MPI_Request *requests; /* [runs * ATTRIBUTES] */
    int pending;
};

enum { FIRST_TAG = 1024 /* below: other messages' */ };

enum status run_messages_create(struct device *device, size_t runs, struct run_messages **messages)
{
    TRY(DEVICE_NEW(device, *messages));
    return DEVICE_NEW_ARRAY(device, (*messages)->requests, runs * ATTRIBUTES);
}

/* Messages of a run have a tag for each attribute; its counts are sent earlier, with the tag of the first. */
static void begin(struct run_messages *messages, const struct ghost_run *run, bool sends, int attribute,
                  void *elements, size_t count, MPI_Datatype type)
{
    const int tag = FIRST_TAG + run->number * ATTRIBUTES + attribute;
    MPI_Request *request = &messages->requests[messages->pending++];
    if (sends)
        MPI_Isend(elements, (int)count, type, run->rank, tag, MPI_COMM_WORLD, request);
    else
        MPI_Irecv(elements, (int)count, type, run->rank, tag, MPI_COMM_WORLD, request);
}

void run_messages_counts(struct run_messages *messages, const struct ghost_run *run, bool sends, size_t cells,
                         uint32_t *counts)
{
    begin(messages, run, sends, 0, counts, cells, MPI_UINT32_T);
}

void run_messages_particles(struct run_messages *messages, const struct ghost_run *run, bool sends,
                            const struct host_particles *particles, size_t first, size_t count)
{
    for (enum attribute a = 0; a < ATTRIBUTES && count > 0; a++) {
        if (!host_particles_have(particles, a))
            continue;
        MPI_Datatype type = host_particles_type(particles, a);
        begin(messages, run, sends, (int)a, host_particles_at(particles, a, first), count, type);
        MPI_Type_free(&type);
    }
}

void run_messages_end(struct run_messages *messages)
{
    if (messages->pending > 0)
        MPI_Waitall(messages->pending, messages->requests, MPI_STATUSES_IGNORE);
    messages->pending = 0;
}
