/* Merge against the same lists laid together here, cell by cell. Every particle has numbers of its own, which
 * every precision holds, so what comes is compared number by number. */
#include "support/sorted_particles.h"

#include "domain/particles.h"
#include "support/device_fixture.h"

/* The lists of a test. */
struct lists_kind {
    uint32_t nx, ny;
    uint32_t into_count, from_count;
    uint32_t capacity; /* of `into`, at least into_count */
    double hot;        /* share of the particles in one cell, in another of `from` */
    enum precision precision;
    enum particle_layout layout; /* of `into` */
    bool ids, w;
};

/* `count` particles, a share `hot` of them in cell `hot_cell`, the others anywhere, but for every third cell.
 * `number` tells lists apart. */
static struct sorted_particles random_list(uint32_t count, uint32_t cells, double hot, uint32_t hot_cell,
                                           uint32_t number)
{
    struct sorted_particles list = sorted_particles_empty(cells, count);
    uint64_t seed = 77 * number + count;
    for (uint32_t p = 0; p < count; p++) {
        uint32_t cell = (uint32_t)(test_random(&seed) * cells);
        if (test_random(&seed) < hot)
            cell = hot_cell;
        else if (cell % 3 == 2)
            cell--;
        sorted_particles_add(&list, cell, (const double[]){p * 0x1p-20, number * 0x1p-10, p, -(double)number},
                             UINT64_C(1000000000000) * number + p);
    }
    qsort(list.cell, count, sizeof *list.cell, sorted_particles_compare);
    return list;
}

static void add(struct sorted_particles *list, const struct sorted_particles *from, uint32_t p)
{
    const double *offset = from->offset[p], *velocity = from->velocity[p];
    sorted_particles_add(list, from->cell[p],
                         (const double[]){offset[0], offset[1], velocity[0], velocity[1]}, from->id[p]);
}

static struct sorted_particles laid_together(const struct sorted_particles *into,
                                             const struct sorted_particles *from)
{
    const uint32_t counts[2] = {into->particles.count, from->particles.count};
    struct sorted_particles merged = sorted_particles_empty(into->cells, counts[0] + counts[1]);
    for (uint32_t c = 0, p = 0, q = 0; c < into->cells; c++) {
        for (; p < counts[0] && into->cell[p] == c; p++)
            add(&merged, into, p);
        for (; q < counts[1] && from->cell[q] == c; q++)
            add(&merged, from, q);
    }
    return merged;
}

static void write_list(const struct sorted_particles *from, struct particles *list)
{
    list->count = from->particles.count;
    sorted_particles_write(from, list);
}

struct lists {
    struct species_config species;
    struct device *branch; /* that owns the rest */
    struct particles into, from;
};

static void lists_create(const struct lists_kind *kind, struct lists *lists)
{
    const struct grid grid =
        grid_make(&(struct grid_config){.cells = {kind->nx, kind->ny}, .length = {1, 1}});
    const struct slab slab = slab_whole_box(&grid);
    lists->species = sorted_species(1, kind->ids, kind->w);
    assert_ok(device_branch(device, &lists->branch));
    assert_ok(particles_create(lists->branch, &slab, kind->precision, kind->layout, &lists->species,
                               kind->capacity, &lists->into));
    assert_ok(particles_create(lists->branch, &slab, kind->precision, LAYOUT_SOA, &lists->species,
                               kind->from_count, &lists->from));
}

/* Two merges, one after the other. */
static void check_merge(const struct lists_kind *kind)
{
    const uint32_t cells = kind->nx * kind->ny;
    struct lists lists;
    lists_create(kind, &lists);
    struct sorted_particles into = random_list(kind->into_count, cells, kind->hot, cells - 1, 1);
    write_list(&into, &lists.into);
    for (uint32_t number = 2; number <= 3; number++) {
        struct sorted_particles from = random_list(kind->from_count, cells, kind->hot, number - 2, number);
        struct sorted_particles expected = laid_together(&into, &from);
        write_list(&from, &lists.from);
        const uint32_t capacity = lists.into.capacity;
        device_most_bytes_held(device);
        assert_ok(list_merge(device, cells, &lists.into, &lists.from));
        assert_int_equal(device_most_bytes_held(device), device_bytes_held(device));
        sorted_particles_check(&expected, &lists.into);
        sorted_particles_check(&from, &lists.from);
        if (expected.particles.count <= capacity)
            assert_int_equal(lists.into.capacity, capacity);
        else /* some room for the next, but not much */
            assert_true(lists.into.capacity - expected.particles.count <= expected.particles.count / 8);
        into = expected;
    }
    device_close(&lists.branch);
}

/* In either layout and precision, with and without ids and w, with room and without. */
static void check_layouts(struct lists_kind kind)
{
    for (unsigned n = 0; n < 8; n++) {
        kind.layout = n & 1 ? LAYOUT_AOS : LAYOUT_SOA;
        kind.ids = n & 2;
        kind.w = n % 3 == 0;
        kind.precision = n % 4 < 2 && has_precision(PRECISION_DOUBLE) ? PRECISION_DOUBLE : PRECISION_SINGLE;
        kind.capacity = kind.into_count + (n & 4 ? 2 * kind.from_count : kind.from_count / 2);
        check_merge(&kind);
    }
}

/* Random lists; empty ones; a hot cell of one list that is nearly empty in the other, or that both have; and
 * far more cells than particles. */
TEST(any_two_lists)
{
    static const struct {
        uint32_t nx, ny, into_count, from_count;
        double hot;
    } cases[] = {{20, 30, 30011, 2003, 0}, {20, 30, 100, 9001, 0},   {8, 5, 5003, 0, 0},
                 {8, 5, 0, 5003, 0},       {8, 5, 0, 0, 0},          {8, 5, 0, 1, 0},
                 {8, 5, 1, 1, 0},          {8, 5, 20011, 3001, 0.9}, {8, 5, 9000, 9000, 1},
                 {2, 1, 9000, 50, 0.5},    {300, 200, 5003, 2003, 0}};
    const size_t all = sizeof cases / sizeof cases[0];
    for (size_t n = 0; n < all - test_is_small(); n++) /* the last takes too long for a slow device */
        check_layouts((struct lists_kind){.nx = cases[n].nx,
                                          .ny = cases[n].ny,
                                          .into_count = test_count(cases[n].into_count),
                                          .from_count = test_count(cases[n].from_count),
                                          .hot = cases[n].hot});
}

/* Told before any memory is asked for; both lists stay what they were. */
TEST(more_than_a_device_holds)
{
    const struct lists_kind kind = {.nx = 4, .ny = 4, .into_count = 100, .from_count = 6, .capacity = 100};
    struct lists lists;
    lists_create(&kind, &lists);
    lists.into.count = CONFIG_MAX_PARTICLES - 5;
    lists.from.count = 6;
    const struct particles before = lists.into;
    const size_t held = device_bytes_held(device);
    assert_fails(list_merge(device, 16, &lists.into, &lists.from), "test");
    assert_memory_equal(&lists.into, &before, sizeof before);
    assert_int_equal(device_bytes_held(device), held);
    device_close(&lists.branch);
}

TEST_MAIN(open_device, close_device)
