/* Permutation: Tables 1 to 5 of the paper of ndpa_shape.h: speed-up of in-place permutations of 3D to 7D
 * volumes over a serial kernel of the host and over an out-of-place one. */
#include "experiments/permutation/permutation.h"
#include "experiments/bench.h"
#include "experiments/permutation/ndpa.h"

#include <stdlib.h>
#include <string.h>

/* ---- one volume; each of its elements is its own linear index at first ---- */

/* In the order of the rows: those that are compared with first. */
enum kernel_kind {
    SERIAL,  /* of the host, one thread */
    NUMPY,   /* of the host, into a new array: not verified, it only serves as a clock */
    THREADS, /* these are the kinds of ndpa.h */
    CB,
    BB,
    RLBB,
    KERNELS
};

/* One volume in cells of one size. */
struct volume_case {
    struct ndpa_shape shape;
    const uint32_t *axes;
    struct times times[KERNELS]; /* wall.count 0: did not run */
    /* The volume after one permutation by the host, and by the device. */
    uint32_t *expected, *met;
    struct buffer *volume;
    struct ndpa *ndpa; /* the kernel that is timed; NULL: the host permutes */
};

static void fill(const struct ndpa_shape *shape, uint32_t *volume)
{
    const uint32_t count = (uint32_t)ndpa_elements(shape);
    for (uint32_t n = 0; n < count; n++)
        volume[n] = n;
}

/* Element after element of the permuted volume. */
static bool is_permuted(const struct ndpa_shape *shape, const uint32_t *axes, const uint32_t *volume)
{
    uint32_t sides[NDPA_MAX_DIMENSIONS], subscript[NDPA_MAX_DIMENSIONS], original[NDPA_MAX_DIMENSIONS];
    const uint64_t count = ndpa_elements(shape);
    for (uint32_t k = 0; k < shape->dimensions; k++)
        sides[k] = shape->sides[axes[k]];
    for (uint64_t n = 0; n < count; n++) {
        ndpa_subscript(shape->dimensions, sides, n, subscript);
        for (uint32_t k = 0; k < shape->dimensions; k++)
            original[axes[k]] = subscript[k];
        if (volume[ndpa_place(shape, axes, subscript)] !=
            ndpa_index(shape->dimensions, shape->sides, original))
            return false;
    }
    return true;
}

static enum status permute(void *volume_case)
{
    const struct volume_case *one = volume_case;
    return one->ndpa ? ndpa_permute(one->ndpa, one->volume)
                     : ndpa_permute_host(&one->shape, one->axes, one->expected);
}

/* Apart from the timed permutations, which go on from one another. */
static enum status verify(void *volume_case, bool *right)
{
    const struct volume_case *one = volume_case;
    const size_t bytes = ndpa_bytes(&one->shape);
    fill(&one->shape, one->ndpa ? one->met : one->expected);
    if (one->ndpa)
        TRY(buffer_write(one->volume, 0, bytes, one->met));
    TRY(permute(volume_case));
    if (one->ndpa)
        TRY(buffer_read(one->volume, 0, bytes, one->met));
    *right = one->ndpa ? one->times[SERIAL].verified && memcmp(one->met, one->expected, bytes) == 0
                       : is_permuted(&one->shape, one->axes, one->expected);
    return STATUS_OK;
}

/* Times and verifies all kernels but numpy, whose result the caller brings: a bench_case() of the
 * volume_case. Elements are compared with the definition in ndpa_shape.h. */
static enum status time_volume(struct bench *bench, void *volume_case)
{
    struct volume_case *one = volume_case;
    const size_t bytes = ndpa_bytes(&one->shape);
    struct subject subject = {
        one, NULL, permute, verify, bench->experiment->warm_ups, bench->repeats, .on_host = true};
    TRY(bench_copy(bench, bytes));
    TRY(DEVICE_NEW_ARRAY(bench->part, one->expected, ndpa_elements(&one->shape)));
    TRY(DEVICE_NEW_ARRAY(bench->part, one->met, ndpa_elements(&one->shape)));
    fill(&one->shape, one->expected);
    TRY(bench_time(bench, &subject, 1, &one->times[SERIAL]));
    TRY(buffer_create(bench->part, bytes, "a volume", &one->volume));
    TRY(buffer_fill(one->volume, 0));
    subject.on_host = false;
    for (int kernel = THREADS; kernel < KERNELS; kernel++) {
        TRY(ndpa_create(bench->part, &one->shape, one->axes,
                        (enum ndpa_kind)(NDPA_THREADS + (kernel - THREADS)), 0, &one->ndpa));
        TRY(bench_time(bench, &subject, 1, &one->times[kernel]));
    }
    return STATUS_OK;
}

/* ---- numpy: a Python process whose standard output is its times in seconds, a line each ---- */

/* Arguments: sides, axes, repeats. copy() makes the new array contiguous whatever the axes are. */
static const char script[] =
    "import sys, time, numpy\n"
    "sides, axes = ([int(word) for word in text.split(',')] for text in sys.argv[1:3])\n"
    "volume = numpy.arange(numpy.prod(sides), dtype=numpy.uint32).reshape(sides)\n"
    "for _ in range(int(sys.argv[3]) + 1):\n"
    "    start = time.perf_counter()\n"
    "    numpy.transpose(volume, axes).copy()\n"
    "    print(repr(time.perf_counter() - start))\n";

/* False where the program is missing or fails, as without numpy or memory. The first time is the warm-up's.
 * Program and script are in the environment, where the shell reads nothing into their characters. */
static bool time_by(const char *python, const char *sides, const char *axes, uint32_t repeats,
                    struct samples *samples)
{
    char command[512], line[64];
    samples->count = 0;
    snprintf(command, sizeof command,
             "exec \"$RADIXPIC_PYTHON\" -c \"$RADIXPIC_SCRIPT\" %s %s %u 2>/dev/null", sides, axes, repeats);
    if (setenv("RADIXPIC_PYTHON", python, 1) != 0 || setenv("RADIXPIC_SCRIPT", script, 1) != 0)
        return false;
    FILE *output = popen(command, "r");
    for (uint32_t n = 0; output && fgets(line, sizeof line, output); n++)
        if (n > 0)
            samples_add(samples, strtod(line, NULL));
    const bool succeeded = output && pclose(output) == 0;
    unsetenv("RADIXPIC_PYTHON");
    unsetenv("RADIXPIC_SCRIPT");
    return succeeded && samples->count == repeats;
}

/* Times numpy.transpose(volume, axes).copy() of 32-bit elements inside a Python of its own, `repeats` times
 * after a warm-up; sides and axes are "8,8,8" and "2,1,0". `python` is a program to run, or NULL: python3 or
 * /usr/bin/python3, the first that gives times. Where none does the spread is of no timing. */
static struct spread time_numpy(const char *python, const char *sides, const char *axes, uint32_t repeats)
{
    struct samples samples;
    const bool timed = python ? time_by(python, sides, axes, repeats, &samples)
                              : time_by("python3", sides, axes, repeats, &samples) ||
                                    time_by("/usr/bin/python3", sides, axes, repeats, &samples);
    return timed ? spread_of(&samples) : (struct spread){0};
}

/* ---- the paper's tables ---- */

enum { USUAL_REPEATS = 10, LARGE_REPEATS = 3, MOST_SIDE = 1 << 20 };
enum { LARGE_VOLUME = 1 << 24 /* elements: not without --table */, LARGE_VOLUME_OF_CPU = 1 << 20 };

/* The paper gives numbers of elements, of which these sides are ours. Table 2 has a volume of 4,194,394
 * elements, which no sides divisible by 4 have: 4,194,304 is meant. Table 3 gets a smaller one too. */
static const struct permutation_table permutation_tables[PERMUTATION_TABLES] = {
    {1, 3, {2, 4}, 2, {{8, 8, 8}, {16, 16, 16}, {32, 32, 32}, {64, 64, 64}, {128, 128, 128}}, 5, {0}},
    {2, 4, {2, 4}, 2, {{8, 8, 8, 8}, {16, 16, 16, 16}, {32, 32, 32, 32}, {32, 32, 64, 64}}, 4, {0}},
    {3, 5, {2, 3}, 2, {{12, 12, 12, 12, 12}, {36, 42, 42, 42, 42}}, 2, {0}},
    {4, 6, {2}, 1, {{10, 10, 10, 10, 10, 10}}, 1, {0}},
    {5, 7, {2}, 1, {{10, 10, 10, 10, 10, 10, 10}}, 1, {0}},
};

static const char *const names[KERNELS] = {"serial", "numpy", "threads", "CB", "BB", "RLBB"};

struct options {
    struct common_options common;
    struct option_list table_numbers, sides, blocks, axes;
    const char *python;
    struct permutation_table tables[PERMUTATION_TABLES]; /* to run, as resolve() makes them of these */
    uint32_t table_count;
};

/* A volume of the table in one of its cells, elements of 4 bytes. */
static struct ndpa_shape shape_of(const struct permutation_table *table, uint32_t volume, uint32_t cell)
{
    struct ndpa_shape shape = {.dimensions = table->dimensions, .cell_side = table->cell_sides[cell]};
    memcpy(shape.sides, table->sides[volume], sizeof shape.sides);
    return shape;
}

uint32_t permutation_fit_cells(struct permutation_table *table, size_t local_memory)
{
    uint32_t kept = 0, smallest = 0;
    for (uint32_t n = 0; n < table->cell_count; n++) {
        const uint32_t side = table->cell_sides[n];
        const struct ndpa_shape cell = {.dimensions = table->dimensions, .cell_side = side};
        if (n == 0 || ndpa_cell_elements(&cell) <= local_memory / sizeof(uint32_t))
            table->cell_sides[kept++] = side;
        else if (smallest == 0 || side < smallest)
            smallest = side;
    }
    table->cell_count = kept;
    return smallest;
}

static bool wants_numpy(const struct options *options)
{
    return !options->python || strcmp(options->python, "none") != 0;
}

/* ---- words ---- */

enum { TEXT = 96 };

/* "128x128x128", or with something else between. */
static const char *joined(uint32_t count, const uint32_t *numbers, const char *between, char text[TEXT])
{
    size_t length = 0;
    for (uint32_t k = 0; k < count; k++)
        length += (size_t)snprintf(text + length, TEXT - length, "%s%u", k > 0 ? between : "", numbers[k]);
    return text;
}

/* Rates are of the device's clock, on the host of the wall's; speedups of the wall's alone. */
static const struct bench_table kernel_table = {
    .columns = {WORD("elements", "elements", 10), WORD("block", "block", 6), WORD("kernel", "kernel", 8),
                SPREAD("ms", "wall_ms", 1e3), NUMBER("on device", "device_ms", 1e3),
                NUMBER("GB/s", "rate_GB/s", 1), OF_COPY, NUMBER("over serial", "speedup_serial", 1),
                NUMBER("over numpy", "speedup_numpy", 1)}};

/* numpy has no cells: its row is that of the first cell alone. */
static void report_kernel(struct bench *bench, const struct permutation_table *table,
                          const struct volume_case *one, int kernel)
{
    const struct ndpa_shape *shape = &one->shape;
    const struct times *times = &one->times[kernel];
    const struct spread *wall = &times->wall, *device = &times->stages[STAGE_OUTPUT];
    const bool is_numpy = kernel == NUMPY;
    char sides[TEXT], axes[TEXT], cells[TEXT];
    if (wall->count == 0 || (is_numpy && shape->cell_side != table->cell_sides[0]))
        return;
    snprintf(cells, sizeof cells, " side=%u block=%llu", shape->cell_side,
             (unsigned long long)ndpa_cell_elements(shape));
    bench_words(bench, kernel < THREADS, is_numpy ? NOT_COMPARED : times->verified,
                "table=%u volume=%s axes=%s elements=%llu%s kernel=%s", table->number,
                joined(shape->dimensions, shape->sides, "x", sides),
                joined(shape->dimensions, one->axes, ",", axes), (unsigned long long)ndpa_elements(shape),
                is_numpy ? "" : cells, names[kernel]);
    const struct spread values[] = {
        *wall, kernel < THREADS ? (struct spread){0} : *device,
        spread_rate(2e-9 * (double)ndpa_bytes(shape), kernel < THREADS ? *wall : *device),
        spread_rate(one->times[SERIAL].wall.median, *wall),
        spread_rate(one->times[NUMPY].wall.median, *wall)};
    bench_row(bench, &kernel_table, NULL, values, is_numpy ? "into another array" : NULL);
}

/* ---- the whole ---- */

/* numpy: one timing serves all cells. */
static enum status run_volume(struct bench *bench, const struct permutation_table *table, uint32_t volume)
{
    const struct options *options = bench->options;
    const struct ndpa_shape first = shape_of(table, volume, 0);
    const uint64_t elements = ndpa_elements(&first);
    const uint64_t large = bench->info->is_cpu ? LARGE_VOLUME_OF_CPU : LARGE_VOLUME;
    const bool with_numpy = wants_numpy(options);
    struct spread numpy = {0};
    char text[TEXT], axes[TEXT];
    if (options->common.repeats == 0)
        bench->repeats = elements > large ? LARGE_REPEATS : USUAL_REPEATS;
    if (elements > LARGE_VOLUME) /* which takes long */
        printf("  %llu elements: %s some tens of seconds\n", (unsigned long long)elements,
               with_numpy ? "numpy and the serial kernel take" : "the kernels take");
    fflush(stdout);
    if (with_numpy)
        numpy = time_numpy(options->python, joined(first.dimensions, first.sides, ",", text),
                           joined(first.dimensions, table->axes, ",", axes), bench->repeats);
    if (with_numpy && numpy.count == 0)
        printf("  numpy: %s gave no times, for want of numpy or of memory, of %s\n",
               options->python ? options->python : "python3",
               joined(first.dimensions, first.sides, "x", text));
    for (uint32_t cell = 0; cell < table->cell_count; cell++) {
        struct volume_case one = {
            .shape = shape_of(table, volume, cell), .axes = table->axes, .times[NUMPY].wall = numpy};
        TRY(bench_case(bench, time_volume, &one));
        for (int kernel = 0; kernel < KERNELS; kernel++)
            report_kernel(bench, table, &one, kernel);
    }
    return STATUS_OK;
}

/* The cells that were not asked for must fit local memory. */
static enum status run_table(struct bench *bench, struct permutation_table *table)
{
    const struct options *options = bench->options;
    const size_t local_memory = bench->info->local_memory;
    const uint32_t side = options->blocks.count > 0 ? 0 : permutation_fit_cells(table, local_memory);
    char axes[TEXT];
    if (side > 0)
        printf(
            "\nleft out: cells of %u^%u elements and more, which the %zu bytes of local memory do not hold\n",
            side, table->dimensions, local_memory);
    printf("\n");
    if (table->number > 0)
        printf("Table %u: ", table->number);
    printf("%uD, axes %s\n", table->dimensions, joined(table->dimensions, table->axes, ",", axes));
    bench_head(&kernel_table);
    for (uint32_t volume = 0; volume < table->volume_count; volume++)
        TRY(run_volume(bench, table, volume));
    return STATUS_OK;
}

static enum status run_permutation(struct bench *bench)
{
    struct options *options = bench->options;
    printf("permutation: in place, elements of 4 bytes, on %s\n", bench->info->name);
    for (uint32_t n = 0; n < options->table_count; n++)
        TRY(run_table(bench, &options->tables[n]));
    return STATUS_OK;
}

/* ---- options ---- */

/* Table `number` of the paper without its large volumes, where it was not asked for. */
static void add_table(struct options *options, uint32_t number)
{
    const struct option_list *asked = &options->table_numbers, *axes = &options->axes;
    struct permutation_table *table = &options->tables[options->table_count];
    *table = permutation_tables[number - 1];
    bool wanted = asked->count == 0 && (axes->count == 0 || axes->count == table->dimensions);
    for (uint32_t n = 0; n < asked->count; n++)
        wanted = wanted || asked->items[n] == number;
    for (uint32_t n = 0; n < table->volume_count && asked->count == 0; n++) {
        const struct ndpa_shape shape = shape_of(table, n, 0);
        if (ndpa_elements(&shape) > LARGE_VOLUME)
            table->volume_count = n; /* they are in the order of their sizes */
    }
    options->table_count += wanted;
}

/* In cells of 2, 3 and 4 as far as they divide all sides. */
static void add_volume(struct options *options)
{
    const struct option_list *sides = &options->sides;
    struct permutation_table *table = &options->tables[options->table_count++];
    *table = (struct permutation_table){.dimensions = sides->count, .volume_count = 1};
    memcpy(table->sides[0], sides->items, sizeof table->sides[0]);
    for (uint32_t p = 2; p <= 4; p++) {
        bool divides_all = true;
        for (uint32_t k = 0; k < sides->count; k++)
            divides_all = divides_all && sides->items[k] % p == 0;
        if (divides_all)
            table->cell_sides[table->cell_count++] = p;
    }
}

/* With the cells and axes asked for: axes must permute the table's, and cells divide all its volumes. */
static enum status resolve_table(const struct options *options, struct permutation_table *table)
{
    static const uint32_t any_axes[PERMUTATION_MAX_DIMENSIONS] = {0, 1, 2, 3, 4, 5, 6, 7};
    const struct option_list *blocks = &options->blocks, *axes = &options->axes;
    if (blocks->count > 0) {
        memcpy(table->cell_sides, blocks->items, sizeof table->cell_sides);
        table->cell_count = blocks->count;
    }
    if (table->cell_count == 0)
        return status_fail(STATUS_USAGE, "--volume: neither 2 nor 3 nor 4 divides all sides; say --block");
    if (axes->count > 0 && axes->count != table->dimensions)
        return status_fail(STATUS_USAGE, "--axes: %u axes for a volume of %u dimensions", axes->count,
                           table->dimensions);
    for (uint32_t k = 0; k < table->dimensions; k++)
        table->axes[k] = axes->count > 0 ? axes->items[k] : table->dimensions - 1 - k;
    for (uint32_t cell = 0; cell < table->cell_count; cell++)
        for (uint32_t n = 0; n < table->volume_count; n++) {
            const struct ndpa_shape shape = shape_of(table, n, cell);
            TRY(bench_blame(ndpa_elements(&shape) > UINT32_MAX ? "--volume" : "--block",
                            ndpa_check(&shape, any_axes)));
            TRY(bench_blame("--axes", ndpa_check(&shape, table->axes)));
        }
    return STATUS_OK;
}

/* With --axes alone, the tables of as many dimensions. A tiny volume is permuted to see whether --python
 * works. */
static enum status resolve(struct bench *bench)
{
    struct options *options = bench->options;
    const char *python = options->python;
    if (options->sides.count == 1)
        return status_fail(STATUS_USAGE, "--volume: expected 2 to %d numbers, of its dimensions, found %u",
                           PERMUTATION_MAX_DIMENSIONS, options->sides.items[0]);
    if (options->sides.count > 0 && options->table_numbers.count > 0)
        return status_fail(STATUS_USAGE, "--volume and --table exclude each other");
    if (options->sides.count > 0)
        add_volume(options);
    for (uint32_t number = 1; number <= PERMUTATION_TABLES && options->sides.count == 0; number++)
        add_table(options, number);
    if (options->table_count == 0)
        return status_fail(STATUS_USAGE, "--axes: no table is of %u dimensions; say --volume",
                           options->axes.count);
    for (uint32_t n = 0; n < options->table_count; n++)
        TRY(resolve_table(options, &options->tables[n]));
    return !python || !wants_numpy(options) || time_numpy(python, "2,2", "1,0", 1).count > 0
               ? STATUS_OK
               : status_fail(STATUS_USAGE,
                             "--python: %s does not run or has no numpy; --python none leaves numpy out",
                             python);
}

static const struct option_row rows[] = {
    {"table", 0, "1..5,...", OPTION_LIST, AT(table_numbers), 1, PERMUTATION_TABLES,
     .most = PERMUTATION_TABLES,
     .help = "A table of the paper with all its volumes. Without it all tables, and of volumes those up to "
             "16777216 elements: Table 3 without its 112021056"},
    {"volume", 0, "N,N,...", OPTION_LIST, AT(sides), 1, MOST_SIDE, .most = PERMUTATION_MAX_DIMENSIONS,
     .help = "Instead of tables a volume of these sides, the last axis fastest"},
    {"block", 0, "P,...", OPTION_LIST, AT(blocks), 2, MOST_SIDE, .most = PERMUTATION_MAX_CELLS,
     .distinct = true,
     .help = "Side of a cell; the paper's block size is P^N. Without it those of the tables, of --volume 2, "
             "3 and 4 as far as they divide the sides and fit local memory"},
    {"axes", 0, "K,K,...", OPTION_LIST, AT(axes), 0, PERMUTATION_MAX_DIMENSIONS - 1,
     .most = PERMUTATION_MAX_DIMENSIONS,
     .help = "Permutation of the axes 0 to N-1 as in numpy.transpose; reversed without it, as in the paper"},
    COMMON_ROWS(NULL,
                "Timed permutations of each kind, after two to warm up; 10 without it, 3 of large volumes"),
    {"python", 0, "PROGRAM", OPTION_TEXT, AT(python),
     .help = "Python that has numpy, or none to leave numpy out; without it the first of python3 and "
             "/usr/bin/python3 that has"},
};

const struct experiment experiment_permutation = {
    .name = "permutation",
    .summary = "in-place permutation of 3D to 7D volumes, Tables 1 to 5 of NDPA",
    .options = OPTION_TABLE(
        rows, NULL,
        "Permute the axes of volumes of 2 to 8 dimensions in place.\v"
        "Tables 1 to 5 of M. E. Ali and others, \"NDPA: A generalized efficient parallel in-place "
        "N-Dimensional Permutation Algorithm\", 2015: speed-up of the kernels CB (cell-based), BB "
        "(bar-based) and RLBB (with look-up tables) over the same algorithm on one thread of the host and "
        "over numpy's transpose into a new array. \"threads\" is a cell for each work-item, as in the paper. "
        "Without options it takes about 20 s on two CPU cores, Table 3 alone a minute or more.\n\n"
        "Examples:\n"
        "  radixpic bench permutation\n"
        "  radixpic bench permutation --table 3 --device gpu\n"
        "  radixpic bench permutation --volume 64,96,128 --block 4 --axes 1,2,0\n"),
    .resolve = resolve,
    .run = run_permutation,
    .wrong = "a volume was not permuted rightly",
    .warm_ups = 2,
};
