/* Halo: which rows go to which ranks, and the messages. */
#include "parallel/halo.h"

#include <mpi.h>

/* A row that a message brings or takes. */
struct halo_row {
    int rank; /* the other one */
    int tag;  /* the row's number among those that the rank beside it reaches */
    uint32_t local_row;
};

struct halo {
    size_t row_bytes;
    uint32_t ny;
    uint32_t beside_count; /* rows beside this rank's own */
    struct halo_row beside[SLAB_NODES_BELOW + SLAB_NODES_ABOVE];
    uint32_t served_count;   /* own rows beside those of others */
    struct halo_row *served; /* in the order of the ranks that reach them */
    char *received;          /* a row for each served one */
    MPI_Request *requests;
};

/* The rows beside the own ones of rank `rank` of which one of the two is this rank. */
static void add_rows(struct halo *halo, const struct partition *partition, const struct slab *slab, int rank,
                     int me)
{
    for (uint32_t n = slab->rows; n < ghost_reached_rows(slab); n++) {
        const uint32_t local_row = ghost_reached_row(slab, n), row = slab_global_row(slab, local_row);
        const int owner = partition_owner(partition, row), tag = (int)(n - slab->rows);
        if (owner == me)
            halo->served[halo->served_count++] = (struct halo_row){rank, tag, row - partition->first[me]};
        if (rank == me)
            halo->beside[halo->beside_count++] = (struct halo_row){owner, tag, local_row};
    }
}

enum status halo_create(const struct rank_place *place, struct halo **halo)
{
    struct device *device = place->device;
    const struct partition *partition = place->partition;
    const size_t most_beside = sizeof(*halo)->beside / sizeof(*halo)->beside[0];
    TRY(DEVICE_NEW(device, *halo));
    struct halo *created = *halo;
    created->ny = place->slab->box.ny;
    created->row_bytes = created->ny * precision_bytes(place->precision);
    TRY(DEVICE_NEW_ARRAY(device, created->served, (size_t)partition->ranks * most_beside));
    for (int rank = 0; rank < partition->ranks; rank++) {
        const struct slab slab = ghost_slab(place, rank);
        add_rows(created, partition, &slab, rank, place->communicator->rank);
    }
    TRY(DEVICE_NEW_ARRAY(device, created->received, created->served_count * created->row_bytes));
    return DEVICE_NEW_ARRAY(device, created->requests,
                            FIELD_COMPONENTS * (created->served_count + most_beside));
}

static void *row_at(const struct halo *halo, void *local, const struct halo_row *row)
{
    return (char *)local + row->local_row * halo->row_bytes;
}

static void add_row(const struct halo *halo, void *sum, const void *row)
{
    if (halo->row_bytes == halo->ny * sizeof(double))
        for (uint32_t j = 0; j < halo->ny; j++)
            ((double *)sum)[j] += ((const double *)row)[j];
    else
        for (uint32_t j = 0; j < halo->ny; j++)
            ((float *)sum)[j] += ((const float *)row)[j];
}

void halo_add(struct halo *halo, void *local)
{
    const int bytes = (int)halo->row_bytes;
    int pending = 0;
    for (uint32_t n = 0; n < halo->served_count; n++)
        MPI_Irecv(halo->received + n * halo->row_bytes, bytes, MPI_BYTE, halo->served[n].rank,
                  halo->served[n].tag, MPI_COMM_WORLD, &halo->requests[pending++]);
    for (uint32_t n = 0; n < halo->beside_count; n++)
        MPI_Isend(row_at(halo, local, &halo->beside[n]), bytes, MPI_BYTE, halo->beside[n].rank,
                  halo->beside[n].tag, MPI_COMM_WORLD, &halo->requests[pending++]);
    MPI_Waitall(pending, halo->requests, MPI_STATUSES_IGNORE);
    for (uint32_t n = 0; n < halo->served_count; n++)
        add_row(halo, row_at(halo, local, &halo->served[n]), halo->received + n * halo->row_bytes);
}

/* Messages of one row for several arrays arrive in the order in which they were sent. */
void halo_fill(struct halo *halo, size_t count, void *const local[])
{
    const int bytes = (int)halo->row_bytes;
    int pending = 0;
    for (size_t a = 0; a < count; a++) {
        for (uint32_t n = 0; n < halo->beside_count; n++)
            MPI_Irecv(row_at(halo, local[a], &halo->beside[n]), bytes, MPI_BYTE, halo->beside[n].rank,
                      halo->beside[n].tag, MPI_COMM_WORLD, &halo->requests[pending++]);
        for (uint32_t n = 0; n < halo->served_count; n++)
            MPI_Isend(row_at(halo, local[a], &halo->served[n]), bytes, MPI_BYTE, halo->served[n].rank,
                      halo->served[n].tag, MPI_COMM_WORLD, &halo->requests[pending++]);
    }
    MPI_Waitall(pending, halo->requests, MPI_STATUSES_IGNORE);
}
