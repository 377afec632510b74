/* FFT shared by ranks: along y each rank transforms its rows, then every rank gets the columns of its own
 * from all others, and transforms them along x; inverse the other way round.
 *
 * The columns of a rank lie [nx][columns], so that the rows of another rank are one piece there, and only the
 * other side is cut into blocks by a kernel. Inverse a rank gets the rows beside its own, too, and transforms
 * them itself: that spares an exchange. Sums over ranks run in their order: the same bits in every run.
 */
#include "base/integers.h"
#include "field/fft.h"
#include "parallel/all_to_all.h"

enum { CUTS = 4 /* pieces of an array in a block */ };

struct shared_fft {
    struct communicator communicator;
    struct device *device; /* not owned */
    enum precision precision;
    struct slab *slabs;     /* [ranks] */
    uint32_t (*columns)[4]; /* [ranks]: the `shares` of kernels/fft_shared.cl */
    struct buffer *shares;  /* `columns` on the device */
    uint32_t all_columns;   /* of all blocks */
    struct fft *along_y, *along_x;
    struct buffer *rows;   /* real2[arrays][local rows][ny/2 + 1], arrays buffer_view_stride() apart */
    struct buffer *blocks; /* the own rows and those beside, cut by ranks: kernels/fft_shared.cl */
    uint32_t *left_begins; /* [ranks + 1]: which rows each rank leaves for this one, of left_count */
    uint32_t left_count;
    struct buffer *left;   /* real[arrays][left_count][ny] */
    struct buffer *places; /* uint2[left_count]: where fft_shared_add() adds each row that was left */
    size_t box_bytes;      /* of the modes of an array, of all ranks */
    size_t part_bytes;     /* bytes of a block that travel at a time */
    struct pieces out, in;
    struct all_to_all *move;
    struct kernel *cut, *add;
};

static const struct slab *own_slab(const struct shared_fft *shared)
{
    return &shared->slabs[shared->communicator.rank];
}

/* Columns in a row of the rank's block. */
static uint32_t columns_of(const struct shared_fft *shared, int rank)
{
    return shared->columns[rank][2];
}

static size_t mode_bytes(const struct shared_fft *shared)
{
    return 2 * precision_bytes(shared->precision);
}

static size_t row_bytes(const struct shared_fft *shared)
{
    return own_slab(shared)->box.ny * precision_bytes(shared->precision);
}

/* The rank that owns row n of those that `slab` reaches. */
static int owner_of(const struct shared_fft *shared, const struct slab *slab, uint32_t n)
{
    const uint32_t row = slab_global_row(slab, ghost_reached_row(slab, n));
    int owner = shared->communicator.size - 1;
    while (shared->slabs[owner].first_row > row)
        owner--;
    return owner;
}

/* ---- creation ---- */

static enum status find_shares(struct shared_fft *shared, const struct rank_place *place)
{
    const struct grid *box = &place->slab->box;
    const int ranks = place->communicator->size;
    TRY(DEVICE_NEW_ARRAY(place->device, shared->slabs, (size_t)ranks));
    TRY(DEVICE_NEW_ARRAY(place->device, shared->columns, (size_t)ranks));
    for (int rank = 0; rank < ranks; rank++) {
        uint32_t *const own = shared->columns[rank];
        shared->slabs[rank] = ghost_slab(place, rank);
        own[0] = fft_first_column(box, ranks, rank);
        own[1] = fft_first_column(box, ranks, rank + 1) - own[0];
        own[2] = fft_columns(box, ranks, rank);
        own[3] = shared->all_columns;
        shared->all_columns += own[2];
    }
    return buffer_create_with(place->device, (size_t)ranks * sizeof *shared->columns, "columns of ranks",
                              shared->columns, &shared->shares);
}

/* Which rows of nodes other ranks leave, and for which own ones. */
static enum status find_left(struct shared_fft *shared, uint32_t arrays)
{
    const int ranks = shared->communicator.size, me = shared->communicator.rank;
    struct device *const device = shared->device;
    uint32_t *left = NULL, (*places)[2] = NULL, count = 0, placed = 0;
    TRY(DEVICE_NEW_ARRAY(device, left, SLAB_NODES_BESIDE * (size_t)ranks));
    TRY(DEVICE_NEW_ARRAY(device, places, SLAB_NODES_BESIDE * (size_t)ranks));
    TRY(DEVICE_NEW_ARRAY(device, shared->left_begins, (size_t)ranks + 1));
    for (int rank = 0; rank < ranks; rank++) {
        const struct slab *slab = &shared->slabs[rank];
        for (uint32_t n = slab->rows; n < ghost_reached_rows(slab); n++)
            if (rank != me && owner_of(shared, slab, n) == me)
                left[count++] =
                    slab_global_row(slab, ghost_reached_row(slab, n)) - own_slab(shared)->first_row;
        shared->left_begins[rank + 1] = count;
    }
    for (uint32_t row = 0; row < own_slab(shared)->rows && placed < count; row++)
        for (uint32_t n = 0; n < count; n++)
            if (left[n] == row) {
                places[placed][0] = row;
                places[placed++][1] = n;
            }
    shared->left_count = count;
    TRY(buffer_create(device, arrays * count * row_bytes(shared), "rows left by other ranks", &shared->left));
    return buffer_create_with(device, count * sizeof *places, "places of rows left by other ranks", places,
                              &shared->places);
}

static enum status create_move(struct shared_fft *shared, const struct rank_place *place,
                               enum gather_transport transport, const uint32_t batch[FFT_DIRECTIONS],
                               uint32_t arrays)
{
    const size_t ranks = (size_t)place->communicator->size;
    const size_t most_pieces = arrays * ranks * (CUTS + SLAB_NODES_BESIDE);
    size_t *most = NULL;
    TRY(DEVICE_NEW_ARRAY(place->device, most, ranks * ranks));
    TRY(DEVICE_NEW_ARRAY(place->device, shared->out.list, most_pieces));
    TRY(DEVICE_NEW_ARRAY(place->device, shared->in.list, most_pieces));
    for (size_t from = 0; from < ranks; from++)
        for (size_t to = 0; to < ranks; to++) {
            const struct slab *slab = &shared->slabs[from];
            const size_t modes[FFT_DIRECTIONS] = {
                [FFT_FORWARD] = (size_t)slab->rows * columns_of(shared, (int)to),
                [FFT_INVERSE] =
                    (size_t)ghost_reached_rows(&shared->slabs[to]) * columns_of(shared, (int)from)};
            size_t bytes = batch[FFT_FORWARD] * (ghost_reached_rows(slab) - slab->rows) * row_bytes(shared);
            for (enum fft_direction w = 0; w < FFT_DIRECTIONS; w++)
                if (batch[w] * modes[w] * mode_bytes(shared) > bytes)
                    bytes = batch[w] * modes[w] * mode_bytes(shared);
            most[from * ranks + to] = bytes;
        }
    return all_to_all_create(place, transport, most, &shared->move);
}

static enum status create_buffers(struct shared_fft *shared, uint32_t arrays)
{
    struct device *const device = shared->device;
    const size_t row_of_blocks = shared->all_columns * mode_bytes(shared);
    struct program *program = NULL;
    TRY(buffer_create(device, arrays * buffer_view_stride(shared->along_y->modes_bytes),
                      "modes of the rank's rows", &shared->rows));
    TRY(buffer_fill(shared->rows, 0)); /* nothing sets those far from the own ones */
    TRY(buffer_create(device, arrays * ghost_reached_rows(own_slab(shared)) * row_of_blocks,
                      "modes on their way between ranks", &shared->blocks));
    TRY(program_build(device, "fft_shared.cl", shared->precision, &program, "%s", ""));
    TRY(kernel_create(program, "fft_shared_cut", &shared->cut));
    return kernel_create(program, "fft_shared_add", &shared->add);
}

/* ---- between ranks ---- */

/* Outside of the caller's region, which the wait is not part of. */
static enum status move(struct shared_fft *shared, uint32_t parts)
{
    TRY(device_region_end(shared->device, STAGE_FIELD, 0, STATUS_OK));
    TRY(all_to_all_move(shared->move, parts, &shared->out, &shared->in));
    shared->out.count = shared->in.count = 0;
    return device_region_begin(shared->device);
}

/* The own rows of nodes become their sums over ranks. */
static enum status add_left(struct shared_fft *shared, uint32_t arrays, struct buffer *nodes)
{
    const struct slab *slab = own_slab(shared);
    const size_t row = row_bytes(shared), stride = buffer_view_stride(shared->along_y->real_bytes);
    for (uint32_t c = 0; c < arrays; c++) {
        for (uint32_t n = slab->rows; n < ghost_reached_rows(slab); n++)
            pieces_add(&shared->out, (struct piece){0, owner_of(shared, slab, n), nodes,
                                                    c * stride + ghost_reached_row(slab, n) * row, row});
        for (int rank = 0; rank < shared->communicator.size; rank++) {
            const uint32_t begin = shared->left_begins[rank];
            pieces_add(&shared->in,
                       (struct piece){0, rank, shared->left, (c * shared->left_count + begin) * row,
                                      (shared->left_begins[rank + 1] - begin) * row});
        }
    }
    TRY(move(shared, 1));
    const struct launch launch = {shared->left_count, device_row_items(shared->device, slab->box.ny),
                                  STAGE_OTHER, 0};
    return KERNEL_LAUNCH(shared->add, launch, shared->left, shared->places, shared->left_count, slab->box.ny,
                         arrays, nodes, (uint32_t)(stride / precision_bytes(shared->precision)));
}

/* Rows of another rank, or of this one, that go between modes and blocks: its own ones, or all that it
 * reaches, in the order of ghost_reached_row(). */
static uint32_t rows_of(const struct shared_fft *shared, int rank, enum fft_direction direction)
{
    const struct slab *slab = &shared->slabs[rank];
    return direction == FFT_FORWARD ? slab->rows : ghost_reached_rows(slab);
}

/* Between the rows and the blocks of other ranks, and the own columns of the modes. */
static enum status cut(struct shared_fft *shared, enum fft_direction direction, uint32_t arrays,
                       struct buffer *modes)
{
    const struct slab *slab = own_slab(shared);
    const int me = shared->communicator.rank;
    const uint32_t rows = rows_of(shared, me, direction), modes_y = shared->along_y->columns;
    const struct launch launch = {rows, device_row_items(shared->device, modes_y), STAGE_OTHER, 0};
    const size_t stride = buffer_view_stride(shared->along_y->modes_bytes) / mode_bytes(shared);
    const size_t modes_stride = buffer_view_stride(shared->along_x->modes_bytes) / mode_bytes(shared);
    return KERNEL_LAUNCH(shared->cut, launch, shared->rows, (uint32_t)stride, modes_y, slab->local.nx, rows,
                         ghost_upward_rows(slab), shared->shares, (uint32_t)shared->communicator.size,
                         (uint32_t)me, arrays, direction == FFT_INVERSE, modes, (uint32_t)modes_stride,
                         slab->first_row, slab->box.nx, shared->blocks);
}

/* Rows begin to before end of another rank's, of one array of modes: the own ones are one piece. */
static void add_modes(struct shared_fft *shared, struct pieces *pieces, struct piece piece, uint32_t begin,
                      uint32_t end)
{
    const struct slab *slab = &shared->slabs[piece.rank];
    const size_t row = columns_of(shared, shared->communicator.rank) * mode_bytes(shared),
                 array = piece.offset;
    for (uint32_t n = begin, next; n < end; n = next) {
        next = n < slab->rows ? at_most(slab->rows, end) : n + 1;
        piece.offset = array + slab_global_row(slab, ghost_reached_row(slab, n)) * row;
        piece.bytes = (next - n) * row;
        pieces_add(pieces, piece);
    }
}

/* Rows begin to before end of the own ones, of one array, in the block of another rank. */
static void add_block(struct shared_fft *shared, struct pieces *pieces, struct piece piece, uint32_t begin,
                      uint32_t end)
{
    const size_t row = columns_of(shared, piece.rank) * mode_bytes(shared);
    piece.offset += begin * row;
    piece.bytes = (end - begin) * row;
    pieces_add(pieces, piece);
}

/* A cut of an array, in the block and in the modes, for the rank and the part of the piece. */
static void add_unit(struct shared_fft *shared, enum fft_direction direction, struct piece piece,
                     uint32_t arrays, uint32_t unit, struct buffer *modes)
{
    struct pieces *const of_blocks = direction == FFT_FORWARD ? &shared->out : &shared->in;
    struct pieces *const of_modes = direction == FFT_FORWARD ? &shared->in : &shared->out;
    const uint32_t c = unit / CUTS, q = unit % CUTS;
    const uint32_t rows = rows_of(shared, piece.rank, direction),
                   own_rows = rows_of(shared, shared->communicator.rank, direction);
    const size_t before = (size_t)shared->columns[piece.rank][3] * own_rows * arrays;
    piece.buffer = shared->blocks;
    piece.offset = (before + (size_t)c * own_rows * columns_of(shared, piece.rank)) * mode_bytes(shared);
    add_block(shared, of_blocks, piece, own_rows * q / CUTS, own_rows * (q + 1) / CUTS);
    piece.buffer = modes;
    piece.offset = c * buffer_view_stride(shared->along_x->modes_bytes);
    add_modes(shared, of_modes, piece, rows * q / CUTS, rows * (q + 1) / CUTS);
}

/* From blocks to modes, or inverse back: of a part all that is for one rank lies together, so that it moves
 * in few transfers. */
static enum status exchange(struct shared_fft *shared, enum fft_direction direction, uint32_t arrays,
                            struct buffer *modes)
{
    const int ranks = shared->communicator.size, me = shared->communicator.rank;
    const uint32_t units = arrays * CUTS;
    const size_t pair_bytes = arrays * shared->box_bytes / ((size_t)ranks * (size_t)ranks);
    const uint32_t parts = at_least(at_most(pair_bytes / shared->part_bytes, units), 1);
    for (uint32_t part = 0; part < parts; part++)
        for (int rank = 0; rank < ranks; rank++)
            for (uint32_t unit = divide_up(part * units, parts);
                 unit < divide_up((part + 1) * units, parts) && rank != me; unit++)
                add_unit(shared, direction, (struct piece){.part = part, .rank = rank}, arrays, unit, modes);
    return move(shared, parts);
}

/* ---- a transform ---- */

static enum status forward(struct shared_fft *shared, uint32_t arrays, struct buffer *nodes,
                           struct buffer *modes)
{
    TRY(add_left(shared, arrays, nodes));
    TRY(fft_run(shared->along_y, FFT_FORWARD, arrays, nodes, shared->rows));
    TRY(cut(shared, FFT_FORWARD, arrays, modes));
    TRY(exchange(shared, FFT_FORWARD, arrays, modes));
    return fft_run(shared->along_x, FFT_FORWARD, arrays, shared->rows, modes);
}

static enum status inverse(struct shared_fft *shared, uint32_t arrays, struct buffer *nodes,
                           struct buffer *modes)
{
    TRY(fft_run(shared->along_x, FFT_INVERSE, arrays, shared->rows, modes));
    TRY(exchange(shared, FFT_INVERSE, arrays, modes));
    TRY(cut(shared, FFT_INVERSE, arrays, modes));
    return fft_run(shared->along_y, FFT_INVERSE, arrays, nodes, shared->rows);
}

static enum status run(const struct fft *fft, enum fft_direction direction, uint32_t arrays,
                       struct buffer *real, struct buffer *modes)
{
    return (direction == FFT_FORWARD ? forward : inverse)(fft->plans, arrays, real, modes);
}

enum status fft_create_shared(const struct rank_place *place, enum gather_transport transport,
                              size_t part_bytes, enum transform_library library,
                              const uint32_t batch[FFT_DIRECTIONS], struct fft **fft)
{
    struct device *const device = place->device;
    const struct grid *box = &place->slab->box;
    const uint32_t modes_y = box->ny / 2 + 1;
    const uint32_t arrays = batch[batch[FFT_INVERSE] > batch[FFT_FORWARD]]; /* the most */
    struct shared_fft *shared = NULL;
    TRY(DEVICE_NEW(device, *fft));
    TRY(DEVICE_NEW(device, shared));
    *shared = (struct shared_fft){.communicator = *place->communicator,
                                  .device = device,
                                  .precision = place->precision,
                                  .part_bytes = part_bytes,
                                  .box_bytes = fft_complex_bytes(box, modes_y, place->precision)};
    TRY(find_shares(shared, place));
    TRY(find_left(shared, batch[FFT_FORWARD]));
    TRY(create_move(shared, place, transport, batch, arrays));
    TRY(fft_create(device, &place->slab->local, FFT_ALONG_Y, modes_y, place->precision, library, batch,
                   &shared->along_y));
    TRY(fft_create(device, box, FFT_ALONG_X, columns_of(shared, place->communicator->rank), place->precision,
                   library, batch, &shared->along_x));
    TRY(create_buffers(shared, arrays));
    **fft = *shared->along_y;
    (*fft)->bytes += shared->along_x->bytes;
    (*fft)->modes_bytes = shared->along_x->modes_bytes;
    (*fft)->columns = shared->along_x->columns;
    (*fft)->run = run;
    (*fft)->plans = shared;
    return STATUS_OK;
}
