/* Rows: one MPI_Alltoallv each way. Ranges in the order of the ranks need no packing: what goes to a rank, or
 * comes from it, is one piece of the range. */
#include "parallel/rows.h"

#include <mpi.h>

/* Which rows of a range each rank has in the other division. */
struct pieces {
    MPI_Datatype row; /* with the gap up to the next one */
    int *counts;      /* [ranks]: rows for, or from, each rank */
    int *begins;      /* [ranks]: where they begin, from the first row of the range */
};

struct row_exchange {
    struct pieces sides[2]; /* here, there */
};

static void free_type(void *type)
{
    MPI_Type_free(type);
}

/* Counts are of rows, so that a message may hold more than 2^31 doubles. */
static enum status create_pieces(const struct communicator *communicator, struct device *device,
                                 uint32_t columns, const struct row_division *division,
                                 const uint32_t *other_first, struct pieces *pieces)
{
    const size_t ranks = (size_t)communicator->size;
    const uint32_t own_begin = division->first[communicator->rank];
    const uint32_t own_end = division->first[communicator->rank + 1];
    TRY(DEVICE_NEW_ARRAY(device, pieces->counts, ranks));
    TRY(DEVICE_NEW_ARRAY(device, pieces->begins, ranks));
    for (size_t rank = 0; rank < ranks; rank++) {
        const uint32_t begin = other_first[rank] > own_begin ? other_first[rank] : own_begin;
        const uint32_t end = other_first[rank + 1] < own_end ? other_first[rank + 1] : own_end;
        if (begin < end) {
            pieces->counts[rank] = (int)(end - begin);
            pieces->begins[rank] = (int)(begin - own_begin);
        }
    }
    MPI_Datatype numbers;
    MPI_Type_contiguous((int)columns, MPI_DOUBLE, &numbers);
    MPI_Type_create_resized(numbers, 0, (MPI_Aint)(division->stride * sizeof(double)), &pieces->row);
    MPI_Type_free(&numbers);
    MPI_Type_commit(&pieces->row);
    return device_at_close(device, free_type, &pieces->row);
}

enum status rows_create(const struct communicator *communicator, struct device *device, uint32_t columns,
                        const struct row_division *here, const struct row_division *there,
                        struct row_exchange **exchange)
{
    const struct row_division *const divisions[2] = {here, there};
    enum status status = DEVICE_NEW(device, *exchange);
    for (int side = 0; side < 2 && status == STATUS_OK; side++)
        status = create_pieces(communicator, device, columns, divisions[side], divisions[1 - side]->first,
                               &(*exchange)->sides[side]);
    return communicator_agree(communicator, status);
}

void rows_move(const struct row_exchange *exchange, bool back, const double *source, double *target)
{
    const struct pieces *from = &exchange->sides[back], *to = &exchange->sides[!back];
    MPI_Alltoallv(source, from->counts, from->begins, from->row, target, to->counts, to->begins, to->row,
                  MPI_COMM_WORLD);
}
