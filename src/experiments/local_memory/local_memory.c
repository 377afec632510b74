/* Local memory: the ladder of S. Vialle's lecture "Advanced CUDA programming", part 1: filters and transposes
 * through local memory, 2D kernels with and without a loop over tiles, atomic functions, and a grid whose
 * cells launch child grids. */
#include "experiments/local_memory/local_memory.h"

#include <stdarg.h>

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

/* ---- rungs ---- */

enum status ladder_time(const struct ladder *ladder, const struct rung *rung, const char *more,
                        struct times *times)
{
    struct bench *bench = ladder->bench;
    TRY(bench_time(bench, &rung->subject, 1, times));
    bench_words(bench, false, times->verified, "part=%s version=%s size=%s%s", rung->part, rung->version,
                rung->size, more);
    bench_row(bench, times->stages[rung->stage], 1e3, "time_ms");
    bench_row(bench, spread_rate(1e-9 * rung->work, times->stages[rung->stage]), 1, "rate_%s", rung->unit);
    return STATUS_OK;
}

enum status ladder_climb(const struct ladder *ladder, const struct rung *rung)
{
    struct times times;
    TRY(ladder_time(ladder, rung, "", &times));
    const struct spread seconds = times.stages[rung->stage];
    const double rate = per_second(1e-9 * rung->work, seconds.median);
    printf("  %-40s %18s", rung->version, rung->size);
    spread_print(seconds, 1e3, 10, 4);
    printf(" %10.2f %-8s", rate, rung->unit);
    if (rung->unit[1] == 'B')
        printf(" %7.1f %%", bench_copy_share(ladder->bench, rate));
    else
        printf(" %9s", "-");
    printf("  %s\n", times.verified ? "verified" : "WRONG");
    fflush(stdout);
    return STATUS_OK;
}

void ladder_print_head(const struct ladder *ladder, const char *title_format, ...)
{
    va_list arguments;
    va_start(arguments, title_format);
    printf("\n");
    vprintf(title_format, arguments);
    va_end(arguments);
    printf("; ms, medians of %u:\n", ladder->options->common.repeats);
    printf("  %-40s %18s %10s  [%9s, %9s] %19s %9s\n", "version", "size", "median", "min", "max", "rate",
           "of a copy");
}

/* ---- the whole ---- */

static enum status run_local_memory(struct bench *bench)
{
    static enum status (*const parts[LOCAL_PARTS])(struct bench *, void *) = {
        [PART_FILTER] = ladder_filter,   [PART_TRANSPOSE] = ladder_transpose, [PART_STENCIL] = ladder_stencil,
        [PART_ATOMICS] = ladder_atomics, [PART_REFINE] = ladder_refine,
    };
    struct ladder ladder = {.bench = bench, .options = bench->options, .threshold = REFINEMENT_PEAK / 64};
    TRY(local_shape_of(bench->info, ladder.options->block, &ladder.shape));
    TRY(local_program_build(bench->device, &ladder.shape, &ladder.program));
    printf("local-memory: groups that stage what they share, on %s\n", bench->info->name);
    TRY(bench_copy(bench, COPY_BYTES));
    bench_print_copy(bench);
    for (int part = 0; part < LOCAL_PARTS; part++)
        if ((ladder.options->parts >> part & 1U) != 0)
            TRY(bench_case(bench, parts[part], &ladder));
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
    .summary = "a lecture's ladder of local memory, up to child grids",
    .options = OPTION_TABLE(
        rows, "part",
        "Climb the ladder of local memory, kernel by kernel.\v"
        "The kernels of S. Vialle's lecture \"Advanced CUDA programming\", part 1: filter, of a line, "
        "through juxtaposed and overlapping blocks in local memory (what CUDA calls shared memory); "
        "transpose, through tiles, with padded rows too; stencil, 2D kernels: the binomial filter of the "
        "charge density, which stages once, and a matrix product, which loops over tiles; atomics, on words "
        "of global and of local memory; refine, a coarse grid some of whose cells get a child grid. Without "
        "options it takes about 20 s on two CPU cores.\n\n"
        "Examples:\n"
        "  radixpic bench local-memory\n"
        "  radixpic bench local-memory --part transpose --cells 4096 --device gpu\n"
        "  radixpic bench local-memory --length 268435455 --cells 8192 --device gpu\n"
        "  radixpic bench local-memory --part atomics --operations 16777216\n"),
    .run = run_local_memory,
    .wrong = "a result is not that of the host",
    .warm_ups = 1,
};
