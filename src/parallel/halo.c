/* Halo: which rows go to which ranks, and the messages. */
#include "parallel/halo.h"

#include <mpi.h>
#include <string.h>

struct halo {
    struct communicator communicator;
    uint32_t ny, first_row;
    uint32_t beside_count;                    /* rows beside this rank */
    struct ghost_row beside[GHOST_NODE_ROWS]; /* those */
    uint32_t served_count;                    /* rows of this rank beside others */
    struct ghost_row *served;                 /* those, in the order of the reachers */
    double *received;                         /* a row for each served one */
    MPI_Request *requests;
};

static enum status find_rows(struct halo *halo, struct device *device, const struct partition *partition,
                             const struct grid *box, uint32_t ghost)
{
    const int ranks = partition->ranks, me = halo->communicator.rank;
    TRY(DEVICE_NEW_ARRAY(device, halo->served, (size_t)ranks * GHOST_NODE_ROWS));
    for (int rank = 0; rank < ranks; rank++) {
        struct ghost_row rows[GHOST_NODE_ROWS];
        const uint32_t count = ghost_rows_of_nodes(partition, box, ghost, rank, rows);
        for (uint32_t n = 0; n < count; n++)
            if (rows[n].owner == me)
                halo->served[halo->served_count++] = rows[n];
        if (rank == me) {
            memcpy(halo->beside, rows, count * sizeof rows[0]);
            halo->beside_count = count;
        }
    }
    TRY(DEVICE_NEW_ARRAY(device, halo->received, (size_t)halo->served_count * halo->ny));
    return DEVICE_NEW_ARRAY(device, halo->requests, (size_t)halo->served_count + GHOST_NODE_ROWS);
}

enum status halo_create(const struct communicator *communicator, struct device *device,
                        const struct partition *partition, const struct grid *box, uint32_t ghost,
                        struct halo **halo)
{
    TRY(DEVICE_NEW(device, *halo));
    (*halo)->communicator = *communicator;
    (*halo)->ny = box->ny;
    (*halo)->first_row = partition->first[communicator->rank];
    return find_rows(*halo, device, partition, box, ghost);
}

uint32_t halo_rows(const struct halo *halo)
{
    return halo->beside_count;
}

uint32_t halo_local_row(const struct halo *halo, uint32_t n)
{
    return halo->beside[n].local_row;
}

/* Where a served row begins among the own ones. */
static size_t served_begin(const struct halo *halo, uint32_t n)
{
    return (size_t)(halo->served[n].row - halo->first_row) * halo->ny;
}

void halo_add(struct halo *halo, double *own, const double *beside)
{
    const size_t ny = halo->ny;
    int pending = 0;
    for (uint32_t n = 0; n < halo->served_count; n++)
        MPI_Irecv(halo->received + n * ny, (int)ny, MPI_DOUBLE, halo->served[n].reacher,
                  (int)halo->served[n].number, MPI_COMM_WORLD, &halo->requests[pending++]);
    for (uint32_t n = 0; n < halo->beside_count; n++)
        MPI_Isend(beside + n * ny, (int)ny, MPI_DOUBLE, halo->beside[n].owner, (int)n, MPI_COMM_WORLD,
                  &halo->requests[pending++]);
    MPI_Waitall(pending, halo->requests, MPI_STATUSES_IGNORE);
    for (uint32_t n = 0; n < halo->served_count; n++)
        for (size_t j = 0; j < ny; j++)
            own[served_begin(halo, n) + j] += halo->received[n * ny + j];
}

void halo_fill(struct halo *halo, const double *own, double *beside)
{
    const size_t ny = halo->ny;
    int pending = 0;
    for (uint32_t n = 0; n < halo->beside_count; n++)
        MPI_Irecv(beside + n * ny, (int)ny, MPI_DOUBLE, halo->beside[n].owner, (int)n, MPI_COMM_WORLD,
                  &halo->requests[pending++]);
    for (uint32_t n = 0; n < halo->served_count; n++)
        MPI_Isend(own + served_begin(halo, n), (int)ny, MPI_DOUBLE, halo->served[n].reacher,
                  (int)halo->served[n].number, MPI_COMM_WORLD, &halo->requests[pending++]);
    MPI_Waitall(pending, halo->requests, MPI_STATUSES_IGNORE);
}
