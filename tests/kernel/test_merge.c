/* Merge against the same lists laid together here, cell by cell. Every particle has numbers of its own, which
 * every precision holds, so what comes is compared number by number. */
#include "support/sorted_particles.h"

#include "sort/merge.h"
#include "support/device_fixture.h"

/* The lists of a test. */
struct lists_kind {
    uint32_t nx, ny;
    uint32_t into_count, from_count;
    uint32_t capacity; /* of `into`, at least into_count */
    double crowd;      /* share of the particles in one cell, in another of `from` */
    enum precision precision;
    bool quads, ids, keys; /* of `into` */
};

/* A list as the host has it. */
struct host_list {
    uint32_t count, cells;
    uint32_t *cell_offsets;
    double (*state)[4]; /* dx, dy, u, v */
    uint64_t *id;
};

static struct host_list host_list_make(uint32_t count, uint32_t cells)
{
    struct host_list list = {.count = count,
                             .cells = cells,
                             .cell_offsets = calloc(cells + (size_t)1, sizeof *list.cell_offsets),
                             .state = calloc(count + (size_t)1, sizeof *list.state),
                             .id = calloc(count + (size_t)1, sizeof *list.id)};
    assert_true(list.cell_offsets && list.state && list.id);
    return list;
}

static void host_list_free(struct host_list *list)
{
    free(list->cell_offsets);
    free(list->state);
    free(list->id);
}

/* `count` particles, a `crowd` of them in cell `hot`, the others anywhere, but for every third cell. `number`
 * tells lists apart. */
static struct host_list random_list(uint32_t count, uint32_t cells, double crowd, uint32_t hot,
                                    uint32_t number)
{
    struct host_list list = host_list_make(count, cells);
    uint64_t seed = 77 * number + count;
    for (uint32_t p = 0; p < count; p++) {
        uint32_t cell = (uint32_t)(test_random(&seed) * cells);
        if (test_random(&seed) < crowd)
            cell = hot;
        else if (cell % 3 == 2)
            cell--;
        list.cell_offsets[cell + 1]++;
        list.state[p][0] = p * 0x1p-20;
        list.state[p][1] = number * 0x1p-10;
        list.state[p][2] = p;
        list.state[p][3] = -(double)number;
        list.id[p] = UINT64_C(1000000000000) * number + p;
    }
    for (uint32_t c = 0; c < cells; c++)
        list.cell_offsets[c + 1] += list.cell_offsets[c];
    return list;
}

static void append(struct host_list *list, const struct host_list *from, uint32_t p)
{
    memcpy(list->state[list->count], from->state[p], sizeof *list->state);
    list->id[list->count++] = from->id[p];
}

static struct host_list laid_together(const struct host_list *into, const struct host_list *from)
{
    struct host_list merged = host_list_make(into->count + from->count, into->cells);
    merged.count = 0;
    for (uint32_t c = 0; c < into->cells; c++) {
        for (uint32_t p = into->cell_offsets[c]; p < into->cell_offsets[c + 1]; p++)
            append(&merged, into, p);
        for (uint32_t p = from->cell_offsets[c]; p < from->cell_offsets[c + 1]; p++)
            append(&merged, from, p);
        merged.cell_offsets[c + 1] = merged.count;
    }
    return merged;
}

/* ---- on the device ---- */

static void fill_list(const struct lists_kind *kind, const struct host_list *host, struct particles *list)
{
    double *offset = calloc(2 * (size_t)host->count + 1, sizeof *offset);
    double *velocity = calloc(2 * (size_t)host->count + 1, sizeof *velocity);
    assert_true(offset && velocity);
    for (uint32_t p = 0; p < host->count; p++) {
        memcpy(offset + 2 * (size_t)p, host->state[p], 2 * sizeof *offset);
        memcpy(velocity + 2 * (size_t)p, host->state[p] + 2, 2 * sizeof *velocity);
    }
    list->count = host->count;
    if (list->quad) {
        assert_ok(
            buffer_write_reals(list->quad, kind->precision, 0, 4 * (size_t)host->count, host->state[0]));
    } else {
        assert_ok(buffer_write_reals(list->offset, kind->precision, 0, 2 * (size_t)host->count, offset));
        assert_ok(buffer_write_reals(list->velocity, kind->precision, 0, 2 * (size_t)host->count, velocity));
    }
    if (list->id)
        assert_ok(buffer_write(list->id, 0, host->count * sizeof *host->id, host->id));
    assert_ok(buffer_write(list->cell_offsets, 0, (host->cells + (size_t)1) * sizeof *host->cell_offsets,
                           host->cell_offsets));
    free(offset);
    free(velocity);
}

/* Keys as the plain sort leaves them. */
static void fill_keys(const struct host_list *host, struct particles *list)
{
    uint32_t *key = calloc(host->count + (size_t)1, sizeof *key);
    assert_non_null(key);
    for (uint32_t c = 0; c < host->cells; c++)
        for (uint32_t p = host->cell_offsets[c]; p < host->cell_offsets[c + 1]; p++)
            key[p] = c;
    assert_ok(buffer_write(list->key, 0, host->count * sizeof *key, key));
    free(key);
}

static void to_quads(const struct lists_kind *kind, struct particles *list)
{
    struct buffer **const pairs[] = {&list->offset, &list->offset_spare, &list->velocity,
                                     &list->velocity_spare};
    for (size_t n = 0; n < sizeof pairs / sizeof pairs[0]; n++)
        buffer_destroy(pairs[n]);
    const size_t bytes = list->capacity * 4 * precision_bytes(kind->precision);
    assert_ok(buffer_create(device, bytes, "quads", &list->quad));
    assert_ok(buffer_create(device, bytes, "spare quads", &list->quad_spare));
}

static void without_keys(struct particles *list)
{
    buffer_destroy(&list->key);
    buffer_destroy(&list->key_spare);
}

/* ---- what comes of it ---- */

/* Every array has room for the capacity. */
static void check_room(const struct lists_kind *kind, const struct particles *list)
{
    const size_t real = precision_bytes(kind->precision);
    const struct {
        const struct buffer *buffer;
        bool wanted;
        size_t each;
    } arrays[] = {{list->offset, !kind->quads, 2 * real},    {list->offset_spare, !kind->quads, 2 * real},
                  {list->velocity, !kind->quads, 2 * real},  {list->velocity_spare, !kind->quads, 2 * real},
                  {list->quad, kind->quads, 4 * real},       {list->quad_spare, kind->quads, 4 * real},
                  {list->id, kind->ids, sizeof(uint64_t)},   {list->id_spare, kind->ids, sizeof(uint64_t)},
                  {list->key, kind->keys, sizeof(uint32_t)}, {list->key_spare, kind->keys, sizeof(uint32_t)}};
    assert_true(list->count <= list->capacity);
    for (size_t n = 0; n < sizeof arrays / sizeof arrays[0]; n++) {
        assert_true((arrays[n].buffer != NULL) == arrays[n].wanted);
        if (arrays[n].wanted)
            assert_int_equal(buffer_bytes(arrays[n].buffer), list->capacity * arrays[n].each);
    }
}

static void check_list(const struct lists_kind *kind, const struct particles *list,
                       const struct host_list *expected)
{
    const uint32_t count = expected->count;
    assert_int_equal(list->count, count);
    check_room(kind, list);
    struct host_list met = host_list_make(count, expected->cells);
    uint32_t *key = calloc(count + (size_t)1, sizeof *key);
    double *pairs = calloc(2 * (size_t)count + 1, sizeof *pairs);
    assert_true(key && pairs);
    const size_t offsets_bytes = (met.cells + (size_t)1) * sizeof *met.cell_offsets;
    assert_ok(buffer_read(list->cell_offsets, 0, offsets_bytes, met.cell_offsets));
    assert_memory_equal(met.cell_offsets, expected->cell_offsets, offsets_bytes);
    for (int half = 0; half < 2; half++) {
        assert_ok(half == 0 ? particles_read_offsets(list, kind->precision, 0, count, pairs)
                            : particles_read_velocities(list, kind->precision, 0, count, pairs));
        for (uint32_t p = 0; p < count; p++)
            memcpy(met.state[p] + 2 * half, pairs + 2 * (size_t)p, 2 * sizeof *pairs);
    }
    assert_memory_equal(met.state, expected->state, count * sizeof *met.state);
    if (kind->ids) {
        assert_ok(buffer_read(list->id, 0, count * sizeof *met.id, met.id));
        assert_memory_equal(met.id, expected->id, count * sizeof *met.id);
    }
    if (kind->keys) {
        assert_ok(buffer_read(list->key, 0, count * sizeof *key, key));
        for (uint32_t c = 0; c < met.cells; c++)
            for (uint32_t p = met.cell_offsets[c]; p < met.cell_offsets[c + 1]; p++)
                assert_int_equal(key[p], c);
    }
    free(key);
    free(pairs);
    host_list_free(&met);
}

static void check_emptied(const struct particles *list, uint32_t cells)
{
    assert_int_equal(list->count, 0);
    uint32_t *offsets = calloc(cells + (size_t)1, sizeof *offsets);
    assert_non_null(offsets);
    assert_ok(buffer_read(list->cell_offsets, 0, (cells + (size_t)1) * sizeof *offsets, offsets));
    for (uint32_t c = 0; c <= cells; c++)
        assert_int_equal(offsets[c], 0);
    free(offsets);
}

/* ---- the scenes ---- */

struct lists {
    struct species_config species;
    struct particles into, from;
    struct merge *merge;
};

static void lists_create(const struct lists_kind *kind, struct lists *lists)
{
    const struct grid grid =
        grid_make(&(struct grid_config){.cells = {kind->nx, kind->ny}, .length = {1, 1}});
    const struct slab slab = slab_whole_box(&grid);
    lists->species = (struct species_config){
        .name = "test", .charge = 1, .mass = 1, .density = 1, .particles = 1, .ids = kind->ids};
    assert_ok(
        particles_create_list(device, &slab, kind->precision, &lists->species, kind->capacity, &lists->into));
    assert_ok(particles_create_list(device, &slab, kind->precision, &lists->species, kind->from_count,
                                    &lists->from));
    if (!kind->keys)
        without_keys(&lists->into);
    if (kind->quads)
        to_quads(kind, &lists->into);
    assert_ok(merge_create(device, kind->nx * kind->ny, kind->precision, &lists->merge));
}

static void lists_destroy(struct lists *lists)
{
    merge_destroy(&lists->merge);
    particles_destroy(&lists->into);
    particles_destroy(&lists->from);
}

/* Two merges, one after the other. */
static void check_merge(const struct lists_kind *kind)
{
    const uint32_t cells = kind->nx * kind->ny;
    struct lists lists;
    lists_create(kind, &lists);
    struct host_list into = random_list(kind->into_count, cells, kind->crowd, cells - 1, 1);
    fill_list(kind, &into, &lists.into);
    if (kind->keys)
        fill_keys(&into, &lists.into);
    for (uint32_t number = 2; number <= 3; number++) {
        struct host_list from = random_list(kind->from_count, cells, kind->crowd, number - 2, number);
        struct host_list expected = laid_together(&into, &from);
        fill_list(kind, &from, &lists.from);
        const uint32_t capacity = lists.into.capacity;
        device_most_bytes_held(device);
        assert_ok(merge_lists(lists.merge, &lists.into, &lists.from));
        assert_int_equal(device_most_bytes_held(device), device_bytes_held(device));
        check_list(kind, &lists.into, &expected);
        check_emptied(&lists.from, cells);
        if (expected.count <= capacity)
            assert_int_equal(lists.into.capacity, capacity);
        else /* some room for the next, but not much */
            assert_true(lists.into.capacity - expected.count <= expected.count / 8);
        host_list_free(&into);
        host_list_free(&from);
        into = expected;
    }
    host_list_free(&into);
    lists_destroy(&lists);
}

/* In pairs, with and without keys, and in quads; with and without ids; with room and without. */
static void check_layouts(struct lists_kind kind)
{
    for (int layout = 0; layout < 3; layout++)
        for (int ids = 0; ids < 2; ids++)
            for (int room = 0; room < 2; room++) {
                kind.quads = layout == 2;
                kind.keys = layout == 1;
                kind.ids = ids;
                kind.capacity = kind.into_count + (room ? 2 * kind.from_count : kind.from_count / 2);
                check_merge(&kind);
            }
}

static bool has_precision(enum precision precision)
{
    return precision == PRECISION_SINGLE || device_info(device)->has_fp64;
}

static void random_lists(void **state)
{
    (void)state;
    for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++) {
        if (!has_precision(precision))
            continue;
        check_layouts((struct lists_kind){.nx = 20,
                                          .ny = 30,
                                          .into_count = test_count(30011),
                                          .from_count = test_count(2003),
                                          .precision = precision});
        check_layouts((struct lists_kind){
            .nx = 20, .ny = 30, .into_count = 100, .from_count = test_count(9001), .precision = precision});
    }
}

static void empty_lists(void **state)
{
    (void)state;
    const uint32_t many = test_count(5003);
    check_layouts((struct lists_kind){.nx = 8, .ny = 5, .into_count = many, .from_count = 0});
    check_layouts((struct lists_kind){.nx = 8, .ny = 5, .into_count = 0, .from_count = many});
    check_layouts((struct lists_kind){.nx = 8, .ny = 5, .into_count = 0, .from_count = 0});
    check_layouts((struct lists_kind){.nx = 8, .ny = 5, .into_count = 0, .from_count = 1});
    check_layouts((struct lists_kind){.nx = 8, .ny = 5, .into_count = 1, .from_count = 1});
}

/* Far more cells than particles. */
static void empty_cells(void **state)
{
    (void)state;
    if (getenv("RADIXPIC_TEST_SMALL"))
        skip();
    check_layouts((struct lists_kind){.nx = 300, .ny = 200, .into_count = 5003, .from_count = 2003});
}

/* The hot cell of one list is nearly empty in the other, or both are the same. */
static void a_hot_cell(void **state)
{
    (void)state;
    check_layouts((struct lists_kind){
        .nx = 8, .ny = 5, .into_count = test_count(20011), .from_count = test_count(3001), .crowd = 0.9});
    check_layouts((struct lists_kind){
        .nx = 8, .ny = 5, .into_count = test_count(9000), .from_count = test_count(9000), .crowd = 1});
    check_layouts((struct lists_kind){
        .nx = 2, .ny = 1, .into_count = test_count(9000), .from_count = 50, .crowd = 0.5});
}

/* Around the ends of blocks, of 2,048 or 4,096 places. */
static void whole_blocks(void **state)
{
    (void)state;
    const uint32_t most = getenv("RADIXPIC_TEST_SMALL") ? 1 : 2;
    for (uint32_t blocks = 1; blocks <= most; blocks++)
        for (uint32_t count = 4096 * blocks - 1; count <= 4096 * blocks + 1; count++)
            check_merge(&(struct lists_kind){
                .nx = 16, .ny = 9, .into_count = count - 500, .from_count = 500, .capacity = count});
}

/* Told before any memory is asked for; both lists stay what they were. */
static void more_than_a_device_holds(void **state)
{
    (void)state;
    const struct lists_kind kind = {.nx = 4, .ny = 4, .into_count = 100, .from_count = 6, .capacity = 100};
    struct lists lists;
    lists_create(&kind, &lists);
    struct particles before = lists.into;
    before.count = lists.into.count = CONFIG_MAX_PARTICLES - 5;
    lists.from.count = 6;
    const size_t held = device_bytes_held(device);
    assert_int_equal(merge_lists(lists.merge, &lists.into, &lists.from), STATUS_FAILED);
    assert_non_null(strstr(status_message(), "test"));
    assert_memory_equal(&lists.into, &before, sizeof before);
    assert_int_equal(lists.from.count, 6);
    assert_int_equal(device_bytes_held(device), held);
    lists_destroy(&lists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_lists), cmocka_unit_test(empty_lists),
        cmocka_unit_test(empty_cells),  cmocka_unit_test(a_hot_cell),
        cmocka_unit_test(whole_blocks), cmocka_unit_test(more_than_a_device_holds),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
