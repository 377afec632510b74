/* Local memory kernels: the program, its launch shapes, and what its atomic functions must do. */
#include "experiments/local_memory/local_memory.h"

#include <string.h>

struct local_kernels {
    struct device *device; /* not owned */
    struct local_shape shape;
    struct kernel *staged[STAGED_VERSIONS], *atomics[ATOMIC_SCOPES], *parent, *child;
    struct kernel *enqueuing_parent; /* NULL before local_refine_prepare() */
    uint32_t launches;               /* that the device's own queue holds */
};

static uint32_t at_most(size_t limit, uint32_t wanted)
{
    return limit < wanted ? (uint32_t)limit : wanted;
}

enum status local_shape_of(const struct device_info *info, uint32_t block, struct local_shape *shape)
{
    const size_t limit = info->group_limit;
    if (limit < REFINEMENT_CELLS)
        return status_fail(STATUS_FAILED, "%s has groups of at most %zu items; this experiment needs %d",
                           info->name, limit, REFINEMENT_CELLS);
    if (block > limit)
        return status_fail(STATUS_USAGE, "--block: %s has groups of at most %zu items, not %u", info->name,
                           limit, block);
    *shape = (struct local_shape){.block = block > 0 ? block : at_most(limit, 256),
                                  .tile = 32, /* the banks of the local memory of many GPUs */
                                  .tile_rows = limit >= 256 ? 8 : 2,
                                  .square = limit >= 256 ? 16 : 8};
    return STATUS_OK;
}

enum status local_kernels_create(struct device *device, struct local_shape shape,
                                 struct local_kernels **kernels)
{
    static const char *const staged[STAGED_VERSIONS] = {
        [LINE_PLAIN] = "line_plain",
        [LINE_V1] = "line_v1",
        [LINE_V2] = "line_v2",
        [LINE_V3] = "line_v3",
        [LINE_V4] = "line_v4",
        [TURN_NAIVE] = "transpose_naive",
        [TURN_TILED] = "transpose_tiled",
        [TURN_PADDED] = "transpose_padded",
        [PRODUCT_PLAIN] = "product_plain",
        [PRODUCT_TILED] = "product_tiled",
    };
    struct program *program = NULL;
    TRY(DEVICE_NEW(device, *kernels));
    struct local_kernels *made = *kernels;
    made->device = device;
    made->shape = shape;
    TRY(program_build(device, "local_memory.cl", PRECISION_SINGLE, &program,
                      "-D BLOCK=%u -D TILE=%u -D TILE_ROWS=%u -D SQUARE=%u", shape.block, shape.tile,
                      shape.tile_rows, shape.square));
    for (int version = 0; version < STAGED_VERSIONS; version++)
        TRY(kernel_create(program, staged[version], &made->staged[version]));
    TRY(kernel_create(program, "atomics_global", &made->atomics[SCOPE_DEVICE]));
    TRY(kernel_create(program, "atomics_local", &made->atomics[SCOPE_GROUP]));
    TRY(kernel_create(program, "refine_parent", &made->parent));
    return kernel_create(program, "refine_child", &made->child);
}

/* ---- staging ---- */

static size_t parts_of(size_t length, size_t part)
{
    return (length + part - 1) / part;
}

uint32_t local_line_length(enum staged_version version, uint32_t block, uint32_t length)
{
    switch (version) {
    case LINE_V1:
        return length / block * block;
    case LINE_V3:
        return length < block ? 0 : (length - 2) / (block - 2) * (block - 2) + 2;
    default:
        return length;
    }
}

enum status local_staged_run(struct local_kernels *kernels, enum staged_version version,
                             struct staged_size size, struct buffer *const in[2], struct buffer *out)
{
    const size_t block = kernels->shape.block, tile = kernels->shape.tile, square = kernels->shape.square;
    struct kernel *kernel = kernels->staged[version];
    struct launch launch = {parts_of(size.columns, block), block, STAGE_OTHER, 0};
    if (version == LINE_V3 || version == LINE_V4)
        launch.groups = parts_of(size.columns > 2 ? size.columns - 2 : 1, block - 2);
    if (version <= LINE_V4)
        return KERNEL_LAUNCH(kernel, launch, arg_buffer(in[0]), arg_buffer(out), arg_uint(size.columns));
    if (version <= TURN_PADDED) {
        launch.groups = parts_of(size.rows, tile) * parts_of(size.columns, tile);
        launch.items = tile * kernels->shape.tile_rows;
        return KERNEL_LAUNCH(kernel, launch, arg_buffer(in[0]), arg_buffer(out), arg_uint(size.rows),
                             arg_uint(size.columns));
    }
    launch.groups = parts_of(size.rows, square) * parts_of(size.columns, square);
    launch.items = square * square;
    return KERNEL_LAUNCH(kernel, launch, arg_buffer(in[0]), arg_buffer(in[1]), arg_buffer(out),
                         arg_uint(size.rows), arg_uint(size.inner), arg_uint(size.columns));
}

/* ---- atomic functions ---- */

uint32_t local_atomics_initial(enum atomic_function function)
{
    return function == ATOMIC_MIN || function == ATOMIC_AND ? UINT32_MAX : 0;
}

uint32_t local_atomics_apply(enum atomic_function function, uint32_t word, uint32_t n, uint32_t address)
{
    const uint32_t operand = atomic_operand(n);
    switch (function) {
    case ATOMIC_ADD:
        return word + operand;
    case ATOMIC_SUB:
        return word - operand;
    case ATOMIC_MIN:
        return operand < word ? operand : word;
    case ATOMIC_MAX:
        return operand > word ? operand : word;
    case ATOMIC_INC:
    case ATOMIC_CMPXCHG:
        return word + 1;
    case ATOMIC_DEC:
        return word - 1;
    case ATOMIC_AND:
        return word & (operand | atomic_pattern(address));
    case ATOMIC_OR:
        return word | (operand & atomic_pattern(address));
    case ATOMIC_XOR:
        return word ^ operand;
    default:
        return n + 1; /* xchg */
    }
}

enum status local_atomics_run(struct local_kernels *kernels, const struct atomic_case *chosen,
                              struct buffer *words, struct buffer *returned)
{
    const struct launch launch = {chosen->groups, chosen->block, STAGE_OTHER, 0};
    return KERNEL_LAUNCH(kernels->atomics[chosen->scope], launch, arg_buffer(words), arg_buffer(returned),
                         arg_uint(chosen->function), arg_uint(chosen->addresses), arg_uint(chosen->rounds),
                         arg_uint(local_atomics_initial(chosen->function)));
}

/* The word that operation n goes to. */
static uint32_t word_of(const struct atomic_case *chosen, uint32_t n)
{
    const uint32_t item = n % (chosen->block * chosen->groups);
    return chosen->scope == SCOPE_DEVICE
               ? item % chosen->addresses
               : item / chosen->block * chosen->addresses + item % chosen->block % chosen->addresses;
}

/* All numbers that were put into a word came out of it once, or are there still; and so is what was there
 * first. */
static bool is_exchanged(const struct atomic_case *chosen, const uint32_t *words, const uint32_t *returned,
                         uint32_t *seen)
{
    const uint32_t operations = local_atomics_operations(chosen), count = local_atomics_words(chosen);
    uint32_t firsts = 0;
    memset(seen, 0, operations * sizeof *seen);
    for (uint32_t n = 0; n < operations + count; n++) {
        const bool came = n < operations;
        const uint32_t value = came ? returned[n] : words[n - operations];
        const uint32_t word = came ? word_of(chosen, n) : n - operations;
        firsts += value == 0;
        if (value > 0 && (value > operations || seen[value - 1]++ > 0 || word_of(chosen, value - 1) != word))
            return false;
    }
    return firsts == count;
}

bool local_atomics_right(const struct atomic_case *chosen, const uint32_t *words, const uint32_t *returned,
                         uint32_t *scratch)
{
    const uint32_t count = local_atomics_words(chosen);
    if (chosen->function == ATOMIC_XCHG)
        return is_exchanged(chosen, words, returned, scratch);
    for (uint32_t n = 0; n < count; n++)
        scratch[n] = local_atomics_initial(chosen->function);
    for (uint32_t n = 0; n < local_atomics_operations(chosen); n++) {
        uint32_t *word = &scratch[word_of(chosen, n)];
        *word = local_atomics_apply(chosen->function, *word, n, word_of(chosen, n) % chosen->addresses);
    }
    return memcmp(words, scratch, count * sizeof *words) == 0;
}

/* ---- refinement ---- */

/* The parent, and how many cells it has listed. */
static enum status run_parent(struct local_kernels *kernels, const struct refinement *refinement,
                              uint32_t *listed)
{
    const uint64_t cells = (uint64_t)refinement->cells * refinement->cells;
    const struct launch launch = launch_covering(cells, device_group_items(kernels->device, 64), STAGE_FIELD,
                                                 cells * sizeof(uint32_t));
    TRY(buffer_fill(refinement->counts, 0));
    TRY(KERNEL_LAUNCH(kernels->parent, launch, arg_buffer(refinement->values), arg_buffer(refinement->listed),
                      arg_buffer(refinement->counts), arg_uint(refinement->cells),
                      arg_uint(refinement->threshold)));
    return buffer_read(refinement->counts, 0, sizeof *listed, listed);
}

static enum status list_all_cells(const struct refinement *refinement, uint32_t *listed)
{
    void *memory = NULL;
    *listed = refinement->cells * refinement->cells;
    TRY(buffer_map(refinement->listed, &memory));
    for (uint32_t cell = 0; cell < *listed; cell++)
        ((uint32_t *)memory)[cell] = cell;
    return buffer_unmap(refinement->listed, memory);
}

enum status local_refine_prepare(struct local_kernels *kernels)
{
    enum { LAUNCHES = 8192 };
    struct program *program = NULL;
    if (kernels->enqueuing_parent)
        return STATUS_OK;
    TRY(program_build_enqueuing(kernels->device, "local_memory_enqueue.cl", PRECISION_SINGLE, &program, "%s",
                                ""));
    TRY(device_child_queue(kernels->device, LAUNCHES, &kernels->launches));
    return kernel_create(program, "refine_parent_enqueue", &kernels->enqueuing_parent);
}

/* The parent in pieces, so that their children have room even where every cell has one; a piece begins when
 * the children of the one before have ended. */
static enum status run_enqueuing_parent(struct local_kernels *kernels, const struct refinement *refinement,
                                        uint32_t *refined)
{
    const uint32_t cells = refinement->cells * refinement->cells;
    uint32_t counts[2]; /* enqueued, refused */
    TRY(local_refine_prepare(kernels));
    TRY(device_region_begin(kernels->device));
    TRY(buffer_fill(refinement->counts, 0));
    for (uint32_t first = 0; first < cells; first += kernels->launches) {
        const uint32_t count = at_most(cells - first, kernels->launches);
        const struct launch launch =
            launch_covering(count, device_group_items(kernels->device, 64), STAGE_FIELD, 0);
        TRY(KERNEL_LAUNCH(kernels->enqueuing_parent, launch, arg_buffer(refinement->values),
                          arg_buffer(refinement->counts), arg_uint(refinement->cells),
                          arg_uint(refinement->threshold), arg_uint(first), arg_uint(first + count)));
    }
    TRY(device_region_end(kernels->device, STAGE_OTHER, 0));
    TRY(buffer_read(refinement->counts, 0, sizeof counts, counts));
    *refined = counts[0];
    if (counts[1] > 0)
        return status_fail(STATUS_FAILED, "%s: its kernels could not launch %u of %u child kernels",
                           device_info(kernels->device)->name, counts[1], counts[0] + counts[1]);
    return STATUS_OK;
}

enum status local_refine_run(struct local_kernels *kernels, enum refine_way way,
                             const struct refinement *refinement, uint32_t *refined)
{
    *refined = 0;
    if (way == REFINE_BY_PARENT)
        return run_enqueuing_parent(kernels, refinement, refined);
    if (way == REFINE_UNIFORM)
        TRY(list_all_cells(refinement, refined));
    TRY(device_region_begin(kernels->device));
    if (way != REFINE_UNIFORM)
        TRY(run_parent(kernels, refinement, refined));
    const uint32_t at_a_time = way == REFINE_ONE_BY_ONE ? 1 : *refined;
    const struct launch launch = {at_a_time, REFINEMENT_CELLS, STAGE_FIELD, 0};
    for (uint32_t first = 0; first < *refined; first += at_a_time)
        TRY(KERNEL_LAUNCH(kernels->child, launch, arg_buffer(refinement->values),
                          arg_buffer(refinement->listed), arg_uint(first), arg_uint(refinement->cells)));
    return device_region_end(kernels->device, STAGE_OTHER, 0);
}

/* In halves of a fine cell, of which a cell is 2 * REFINEMENT wide. */
static uint32_t child_sum(uint32_t cells, uint32_t i, uint32_t j)
{
    uint32_t sum = 0;
    for (uint32_t di = 0; di < REFINEMENT; di++)
        for (uint32_t dj = 0; dj < REFINEMENT; dj++)
            sum += refinement_density(cells, 2 * (REFINEMENT * i + di) + 1, 2 * (REFINEMENT * j + dj) + 1);
    return sum;
}

bool local_refine_right(enum refine_way way, const struct refinement *refinement, const uint32_t *values,
                        uint32_t refined)
{
    const uint32_t cells = refinement->cells;
    for (uint32_t i = 0; i < cells; i++)
        for (uint32_t j = 0; j < cells; j++) {
            const uint32_t density =
                refinement_density(cells, REFINEMENT * (2 * i + 1), REFINEMENT * (2 * j + 1));
            const bool has_child = way == REFINE_UNIFORM || density > refinement->threshold;
            refined -= has_child;
            if (values[(size_t)cells * i + j] !=
                (has_child ? child_sum(cells, i, j) : REFINEMENT_CELLS * density))
                return false;
        }
    return refined == 0;
}
