/* Local memory, part transpose: rows to columns, naively, through tiles, and through tiles with padded rows.
 */
#include "experiments/local_memory_parts.h"

#include <stdlib.h>

static const char *const version_names[TURN_VERSIONS] = {
    [TURN_NAIVE] = "without local memory",
    [TURN_TILED] = "through tiles",
    [TURN_PADDED] = "through tiles of padded rows",
};

struct turn {
    enum turn_version version;
    uint32_t rows, columns;
    uint32_t *numbers, *result; /* of the host: words, which the kernels move as they are */
    struct buffer *in, *out;
};

static enum status run_turn(struct ladder *ladder, void *context)
{
    struct turn *turn = context;
    return local_turn_run(ladder->kernels, turn->version, turn->rows, turn->columns, turn->in, turn->out);
}

static bool is_turned(const struct turn *turn)
{
    for (size_t i = 0; i < turn->rows; i++)
        for (size_t j = 0; j < turn->columns; j++)
            if (turn->result[j * turn->rows + i] != turn->numbers[i * turn->columns + j])
                return false;
    return true;
}

static enum status climb(struct ladder *ladder, struct turn *turn)
{
    const size_t count = (size_t)turn->rows * turn->columns;
    struct rung rung = {
        .part = "transpose", .version = version_names[turn->version], .scope = "", .unit = "GB/s"};
    snprintf(rung.size, sizeof rung.size, "%ux%u", turn->rows, turn->columns);
    rung.work = 2.0 * (double)(count * sizeof(float));
    TRY(buffer_fill(turn->out, UINT32_MAX));
    TRY(ladder_time(ladder, run_turn, turn, &rung));
    TRY(buffer_read(turn->out, 0, count * sizeof(float), turn->result));
    rung.verified = is_turned(turn);
    ladder_print(ladder, &rung);
    ladder_note(ladder, &rung);
    return STATUS_OK;
}

enum status ladder_transpose(struct ladder *ladder)
{
    struct turn turn = {.rows = ladder->options.cells[0], .columns = ladder->options.cells[1]};
    const size_t count = (size_t)turn.rows * turn.columns;
    char title[128];
    enum status status = STATUS_OK;
    turn.numbers = malloc(count * sizeof *turn.numbers);
    turn.result = malloc(count * sizeof *turn.result);
    if (!turn.numbers || !turn.result)
        TRY_CLEANUP(status_fail(STATUS_FAILED, "--cells: no memory for two matrices of %u x %u", turn.rows,
                                turn.columns));
    for (size_t n = 0; n < count; n++)
        turn.numbers[n] = (uint32_t)n;
    TRY_CLEANUP(ladder_array(ladder, count, turn.numbers, &turn.in));
    TRY_CLEANUP(ladder_array(ladder, count, NULL, &turn.out));
    snprintf(title, sizeof title, "Transpose, tiles of %u x %u", ladder->shape.tile, ladder->shape.tile);
    ladder_print_head(ladder, title);
    for (int version = 0; version < TURN_VERSIONS; version++) {
        turn.version = (enum turn_version)version;
        TRY_CLEANUP(climb(ladder, &turn));
    }
cleanup:
    buffer_destroy(&turn.out);
    buffer_destroy(&turn.in);
    free(turn.result);
    free(turn.numbers);
    return status;
}
