/* Halo: who sends which rows to whom, and the messages. */
#include "parallel/halo.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* One row of nodes beside a rank, and its owner. */
struct neighbour_row {
    int reacher, owner; /* ranks */
    uint32_t number;    /* among the rows beside the reacher */
    uint32_t local_row; /* there */
    uint32_t owned_row; /* among the owner's own rows */
};

struct halo {
    struct communicator communicator;
    enum precision precision;
    uint32_t ny;
    uint32_t beside_count;                  /* rows beside this rank */
    struct neighbour_row beside[HALO_ROWS]; /* those */
    uint32_t served_count;                  /* rows of this rank beside others */
    struct neighbour_row *served;           /* those, owned, in the order of the reachers */
    char *received;                         /* owned: a row for each served one */
    int *counts, *begins;                   /* owned: of own rows of every rank, in bytes */
    MPI_Request *requests;                  /* owned */
};

/* The rows beside rank `rank`: above its own, then below, each row of the local grid once. */
static uint32_t rows_beside(const struct partition *partition, const struct grid *box, uint32_t guard,
                            int rank, struct neighbour_row rows[HALO_ROWS])
{
    const struct slab slab = slab_make(box, partition->first[rank], partition_rows(partition, rank), guard);
    uint32_t count = 0;
    uint32_t locals[HALO_ROWS];
    for (uint32_t above = 0; above < SLAB_NODES_ABOVE && slab.rows + above < slab.local.nx; above++)
        locals[count++] = slab.rows + above;
    const uint32_t below = slab.local.nx - SLAB_NODES_BELOW;
    if (below >= slab.rows + count)
        locals[count++] = below;
    for (uint32_t n = 0; n < count; n++) {
        const uint32_t row = slab_global_row(&slab, locals[n]);
        const int owner = partition_owner(partition, row);
        rows[n] = (struct neighbour_row){.reacher = rank,
                                         .owner = owner,
                                         .number = n,
                                         .local_row = locals[n],
                                         .owned_row = row - partition->first[owner]};
    }
    return count;
}

static size_t row_bytes(const struct halo *halo)
{
    return halo->ny * (halo->precision == PRECISION_DOUBLE ? sizeof(double) : sizeof(float));
}

static enum status find_rows(struct halo *halo, const struct partition *partition, const struct grid *box,
                             uint32_t guard)
{
    const int ranks = partition->ranks, me = halo->communicator.rank;
    halo->served = malloc((size_t)ranks * HALO_ROWS * sizeof *halo->served);
    halo->counts = malloc((size_t)ranks * sizeof *halo->counts);
    halo->begins = malloc((size_t)ranks * sizeof *halo->begins);
    if (!halo->served || !halo->counts || !halo->begins)
        return status_fail(STATUS_FAILED, "no memory for the rows between ranks");
    for (int rank = 0; rank < ranks; rank++) {
        struct neighbour_row rows[HALO_ROWS];
        const uint32_t count = rows_beside(partition, box, guard, rank, rows);
        for (uint32_t n = 0; n < count; n++)
            if (rows[n].owner == me)
                halo->served[halo->served_count++] = rows[n];
        if (rank == me) {
            memcpy(halo->beside, rows, count * sizeof rows[0]);
            halo->beside_count = count;
        }
        halo->counts[rank] = (int)(partition_rows(partition, rank) * row_bytes(halo));
        halo->begins[rank] = (int)(partition->first[rank] * row_bytes(halo));
    }
    const size_t served = halo->served_count;
    halo->received = malloc(served * row_bytes(halo) + 1);
    halo->requests = malloc((served + HALO_ROWS) * sizeof *halo->requests);
    if (!halo->received || !halo->requests)
        return status_fail(STATUS_FAILED, "no memory for the rows between ranks");
    return STATUS_OK;
}

enum status halo_create(const struct communicator *communicator, const struct partition *partition,
                        const struct grid *box, uint32_t guard, enum precision precision, struct halo **halo)
{
    *halo = calloc(1, sizeof **halo);
    if (!*halo)
        return status_fail(STATUS_FAILED, "no memory for the rows between ranks");
    (*halo)->communicator = *communicator;
    (*halo)->precision = precision;
    (*halo)->ny = box->ny;
    const enum status status = find_rows(*halo, partition, box, guard);
    if (status != STATUS_OK)
        halo_destroy(halo);
    return status;
}

void halo_destroy(struct halo **halo)
{
    if (!*halo)
        return;
    free((*halo)->served);
    free((*halo)->received);
    free((*halo)->counts);
    free((*halo)->begins);
    free((*halo)->requests);
    free(*halo);
    *halo = NULL;
}

uint32_t halo_rows(const struct halo *halo)
{
    return halo->beside_count;
}

uint32_t halo_local_row(const struct halo *halo, uint32_t n)
{
    return halo->beside[n].local_row;
}

static void add_row(const struct halo *halo, void *sum, const void *row)
{
    if (halo->precision == PRECISION_DOUBLE)
        for (uint32_t j = 0; j < halo->ny; j++)
            ((double *)sum)[j] += ((const double *)row)[j];
    else
        for (uint32_t j = 0; j < halo->ny; j++)
            ((float *)sum)[j] += ((const float *)row)[j];
}

void halo_add(struct halo *halo, void *own, const void *beside)
{
    const size_t bytes = row_bytes(halo);
    int pending = 0;
    for (uint32_t n = 0; n < halo->served_count; n++)
        MPI_Irecv(halo->received + n * bytes, (int)bytes, MPI_BYTE, halo->served[n].reacher,
                  (int)halo->served[n].number, MPI_COMM_WORLD, &halo->requests[pending++]);
    for (uint32_t n = 0; n < halo->beside_count; n++)
        MPI_Isend((const char *)beside + n * bytes, (int)bytes, MPI_BYTE, halo->beside[n].owner, (int)n,
                  MPI_COMM_WORLD, &halo->requests[pending++]);
    MPI_Waitall(pending, halo->requests, MPI_STATUSES_IGNORE);
    for (uint32_t n = 0; n < halo->served_count; n++)
        add_row(halo, (char *)own + halo->served[n].owned_row * bytes, halo->received + n * bytes);
}

void halo_fill(struct halo *halo, const void *own, void *beside)
{
    const size_t bytes = row_bytes(halo);
    int pending = 0;
    for (uint32_t n = 0; n < halo->beside_count; n++)
        MPI_Irecv((char *)beside + n * bytes, (int)bytes, MPI_BYTE, halo->beside[n].owner, (int)n,
                  MPI_COMM_WORLD, &halo->requests[pending++]);
    for (uint32_t n = 0; n < halo->served_count; n++)
        MPI_Isend((const char *)own + halo->served[n].owned_row * bytes, (int)bytes, MPI_BYTE,
                  halo->served[n].reacher, (int)halo->served[n].number, MPI_COMM_WORLD,
                  &halo->requests[pending++]);
    MPI_Waitall(pending, halo->requests, MPI_STATUSES_IGNORE);
}

void halo_gather(struct halo *halo, void *all)
{
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, halo->counts, halo->begins, MPI_BYTE, MPI_COMM_WORLD);
}
