/* Local memory: the versions of the lecture of kernels/local_memory.cl: filters and transposes, 2D kernels
 * with and without a loop over tiles, atomic functions, and a grid whose cells launch child grids. */
#include "experiments/local_memory/local_memory.h"

enum { COPY_BYTES = 1 << 26 };

enum status local_shape_of(const struct device_info *info, uint32_t block, struct local_shape *shape)
{
    const size_t limit = info->group_limit;
    if (limit < REFINEMENT_CELLS)
        return status_fail(STATUS_FAILED, "%s has groups of at most %zu items; this experiment needs %d",
                           info->name, limit, REFINEMENT_CELLS);
    if (block > limit)
        return status_fail(STATUS_USAGE, "--block: %s has groups of at most %zu items, not %u", info->name,
                           limit, block);
    *shape = (struct local_shape){.block = block > 0     ? block
                                           : limit < 256 ? (uint32_t)limit
                                                         : 256,
                                  .tile = 32, /* the banks of the local memory of many GPUs */
                                  .tile_rows = limit >= 256 ? 8 : 2,
                                  .square = limit >= 256 ? 16 : 8};
    return STATUS_OK;
}

enum status local_program_build(struct device *device, const struct local_shape *shape,
                                struct program **program)
{
    return program_build(device, "local_memory.cl", PRECISION_SINGLE, program,
                         "-D BLOCK=%u -D TILE=%u -D TILE_ROWS=%u -D SQUARE=%u", shape->block, shape->tile,
                         shape->tile_rows, shape->square);
}

const struct bench_table timing_table = {
    .columns = {WORD("version", "version", 40), WORD("size", "size", 16), WORD("scope", "scope", 6),
                WORD("words", "words", 5), SPREAD("ms", "time_ms", 1e3), NUMBER("GB/s", "rate_GB/s", 1e-9),
                OF_COPY, NUMBER("Gflop/s", "rate_Gflop/s", 1e-9), NUMBER("Gop/s", "rate_Gop/s", 1e-9),
                NUMBER("Gcells/s", "rate_Gcells/s", 1e-9)}};

enum status timing_report(const struct local_memory *all, const struct timing *timing)
{
    struct times times;
    struct spread values[1 + WORK_KINDS] = {{0}};
    TRY(bench_time(all->bench, &timing->subject, 1, &times));
    bench_words(all->bench, false, times.verified, "part=%s version=%s size=%s", timing->part,
                timing->version, timing->size);
    values[0] = times.total;
    values[1 + timing->kind] = spread_rate(timing->work, values[0]);
    bench_row(all->bench, &timing_table, NULL, values, NULL);
    return STATUS_OK;
}

/* ---- the whole ---- */

static enum status run_local_memory(struct bench *bench)
{
    static enum status (*const parts[LOCAL_PARTS])(struct bench *, void *) = {
        [PART_FILTER] = local_memory_filter,   [PART_TRANSPOSE] = local_memory_transpose,
        [PART_STENCIL] = local_memory_stencil, [PART_ATOMICS] = local_memory_atomics,
        [PART_REFINE] = local_memory_refine,
    };
    struct local_memory all = {.bench = bench, .options = bench->options, .threshold = REFINEMENT_PEAK / 64};
    TRY(local_shape_of(bench->info, all.options->block, &all.shape));
    TRY(local_program_build(bench->device, &all.shape, &all.program));
    printf("local-memory: groups that stage what they share, on %s\n", bench->info->name);
    TRY(bench_copy(bench, COPY_BYTES));
    bench_print_copy(bench);
    for (int part = 0; part < LOCAL_PARTS; part++)
        if ((all.options->parts >> part & 1U) != 0)
            TRY(bench_case(bench, parts[part], &all));
    return STATUS_OK;
}

#define OF(part) (1U << (part))

static const struct option_row rows[] = {
    {"part", 0, "NAME,...", OPTION_SET, AT(parts),
     WORDS({"filter", PART_FILTER}, {"transpose", PART_TRANSPOSE}, {"stencil", PART_STENCIL},
           {"atomics", PART_ATOMICS}, {"refine", PART_REFINE}),
     .usual = "filter,transpose,stencil,atomics,refine",
     .help = "filter, transpose, stencil (with the product), atomics or refine; all without it"},
    {"length", 0, "N", OPTION_NUMBER, AT(length), 3, 1 << 30, .usual = "4194303", .owners = OF(PART_FILTER),
     .help = "Elements of the line of filter"},
    {"cells", 0, "C", OPTION_CELLS, AT(cells), 1, 16384, .usual = "2050x2000",
     .owners = OF(PART_TRANSPOSE) | OF(PART_STENCIL),
     .help = "Of the matrix of transpose and the grid of stencil: N for N x N, or NXxNY"},
    {"product", 0, "N", OPTION_NUMBER, AT(product), 1, 8192, .usual = "300", .owners = OF(PART_STENCIL),
     .help = "Rows and columns of the matrices that stencil multiplies"},
    {"operations", 0, "N", OPTION_NUMBER, AT(operations), 1, 1 << 28, .usual = "1048576",
     .owners = OF(PART_ATOMICS),
     .help = "Operations of each function of atomics, rounded up to whole groups"},
    {"coarse", 0, "N", OPTION_NUMBER, AT(coarse), 1, 2048, .usual = "128", .owners = OF(PART_REFINE),
     .help = "Cells along x and y of the grid of refine"},
    {"block", 0, "I", OPTION_NUMBER, AT(block), 3, 1024, .owners = OF(PART_FILTER) | OF(PART_ATOMICS),
     .help = "Items of a group (I) in filter and atomics; 256 without it, or as many as the device allows"},
    COMMON_ROWS("10", "Timed runs of each kernel, after a warm-up"),
};

const struct experiment experiment_local_memory = {
    .name = "local-memory",
    .summary = "a lecture's kernels in local memory, up to child grids",
    .options = OPTION_TABLE(
        rows, "part",
        "Time kernels that stage in local memory beside those that do not.\v"
        "The kernels of S. Vialle's lecture \"Advanced CUDA programming\", part 1: filter, of a line; "
        "transpose; stencil, the binomial filter of the charge density and a matrix product; atomics, on "
        "words of global and of local memory; refine, a coarse grid with child grids in its densest cells. "
        "Without options it takes about 20 s on two CPU cores.\n\n"
        "Examples:\n"
        "  radixpic bench local-memory\n"
        "  radixpic bench local-memory --part transpose --cells 4096 --device gpu\n"
        "  radixpic bench local-memory --length 268435455 --cells 8192 --device gpu\n"
        "  radixpic bench local-memory --part atomics --operations 16777216\n"),
    .run = run_local_memory,
    .wrong = "a result is not that of the host",
    .warm_ups = 1,
};
