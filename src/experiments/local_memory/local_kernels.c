/* Local memory kernels: the program, its launch shapes, and what its atomic functions must do. */
#include "experiments/local_memory/local_memory.h"

enum { LEAST_BLOCK = 3 };

struct local_kernels {
    struct device *device; /* not owned */
    struct local_shape shape;
    struct kernel *line[LINE_VERSIONS], *turn[TURN_VERSIONS], *product[PRODUCT_VERSIONS];
    struct kernel *atomics[ATOMIC_SCOPES], *parent, *child;
    struct program *enqueuing; /* this and the next are NULL before local_refine_prepare() */
    struct kernel *enqueuing_parent;
    uint32_t launches; /* that the device's own queue holds */
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
    TRY(DEVICE_NEW(device, *kernels));
    struct local_kernels *made = *kernels;
    struct program *program = NULL;
    const struct {
        const char *name;
        struct kernel **kernel;
    } all[] = {
        {"line_plain", &made->line[LINE_PLAIN]},
        {"line_v1", &made->line[LINE_V1]},
        {"line_v2", &made->line[LINE_V2]},
        {"line_v3", &made->line[LINE_V3]},
        {"line_v4", &made->line[LINE_V4]},
        {"transpose_naive", &made->turn[TURN_NAIVE]},
        {"transpose_tiled", &made->turn[TURN_TILED]},
        {"transpose_padded", &made->turn[TURN_PADDED]},
        {"product_plain", &made->product[PRODUCT_PLAIN]},
        {"product_tiled", &made->product[PRODUCT_TILED]},
        {"atomics_global", &made->atomics[SCOPE_DEVICE]},
        {"atomics_local", &made->atomics[SCOPE_GROUP]},
        {"refine_parent", &made->parent},
        {"refine_child", &made->child},
    };
    made->device = device;
    made->shape = shape;
    TRY(program_build(device, "local_memory.cl", PRECISION_SINGLE, &program,
                      "-D BLOCK=%u -D TILE=%u -D TILE_ROWS=%u -D SQUARE=%u", shape.block, shape.tile,
                      shape.tile_rows, shape.square));
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        TRY(kernel_create(program, all[n].name, all[n].kernel));
    return STATUS_OK;
}

static size_t parts_of(size_t length, size_t part)
{
    return (length + part - 1) / part;
}

uint32_t local_line_length(enum line_version version, uint32_t block, uint32_t length)
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

enum status local_line_run(struct local_kernels *kernels, enum line_version version, uint32_t length,
                           const struct buffer *in, struct buffer *out)
{
    const uint32_t block = kernels->shape.block, inner = length > 2 ? length - 2 : 1;
    const bool overlapping = version == LINE_V3 || version == LINE_V4;
    const struct launch launch = {overlapping ? parts_of(inner, block - 2) : parts_of(length, block), block,
                                  STAGE_OTHER, 0};
    return KERNEL_LAUNCH(kernels->line[version], launch, arg_buffer(in), arg_buffer(out), arg_uint(length));
}

enum status local_turn_run(struct local_kernels *kernels, enum turn_version version, uint32_t rows,
                           uint32_t columns, const struct buffer *in, struct buffer *out)
{
    const size_t tile = kernels->shape.tile;
    const struct launch launch = {parts_of(rows, tile) * parts_of(columns, tile),
                                  tile * kernels->shape.tile_rows, STAGE_OTHER, 0};
    return KERNEL_LAUNCH(kernels->turn[version], launch, arg_buffer(in), arg_buffer(out), arg_uint(rows),
                         arg_uint(columns));
}

enum status local_product_run(struct local_kernels *kernels, enum product_version version,
                              struct product_size size, const struct buffer *a, const struct buffer *b,
                              struct buffer *c)
{
    const size_t square = kernels->shape.square;
    const struct launch launch = {parts_of(size.rows, square) * parts_of(size.columns, square),
                                  square * square, STAGE_OTHER, 0};
    return KERNEL_LAUNCH(kernels->product[version], launch, arg_buffer(a), arg_buffer(b), arg_buffer(c),
                         arg_uint(size.rows), arg_uint(size.inner), arg_uint(size.columns));
}

/* ---- atomic functions ---- */

uint32_t local_atomics_operations(const struct local_kernels *kernels, const struct atomic_case *chosen)
{
    return kernels->shape.block * chosen->groups * chosen->rounds;
}

uint32_t local_atomics_words(const struct atomic_case *chosen)
{
    return chosen->scope == SCOPE_GROUP ? chosen->groups * chosen->addresses : chosen->addresses;
}

uint32_t local_atomics_word(const struct local_kernels *kernels, const struct atomic_case *chosen, uint32_t n)
{
    const uint32_t block = kernels->shape.block, item = n % (block * chosen->groups);
    if (chosen->scope == SCOPE_DEVICE)
        return item % chosen->addresses;
    return item / block * chosen->addresses + item % block % chosen->addresses;
}

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
    const struct launch launch = {chosen->groups, kernels->shape.block, STAGE_OTHER, 0};
    struct kernel *kernel = kernels->atomics[chosen->scope];
    if (chosen->scope == SCOPE_DEVICE)
        return KERNEL_LAUNCH(kernel, launch, arg_buffer(words), arg_buffer(returned),
                             arg_uint(chosen->function), arg_uint(chosen->addresses),
                             arg_uint(chosen->rounds));
    return KERNEL_LAUNCH(kernel, launch, arg_buffer(words), arg_buffer(returned), arg_uint(chosen->function),
                         arg_uint(chosen->addresses), arg_uint(chosen->rounds),
                         arg_uint(local_atomics_initial(chosen->function)));
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
    if (kernels->enqueuing_parent)
        return STATUS_OK;
    if (!kernels->enqueuing)
        TRY(program_build_enqueuing(kernels->device, "local_memory_enqueue.cl", PRECISION_SINGLE,
                                    &kernels->enqueuing, "%s", ""));
    TRY(device_child_queue(kernels->device, LAUNCHES, &kernels->launches));
    return kernel_create(kernels->enqueuing, "refine_parent_enqueue", &kernels->enqueuing_parent);
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
