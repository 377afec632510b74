/* Crossing: a list as the move of a step leaves it, with made-up particles, becomes what every rank can work
 * out from the numbers of all. */
#include "support/mpi_support.h"

#include "parallel/crossing.h"
#include "support/device_fixture.h"

enum { ALL_RANKS = -2, NO_RANK = -1, SPECIES = 1 };

/* What ranks have and send. */
struct scene_kind {
    uint32_t columns, ghost;
    enum precision precision;
    bool ids;
    int silent;  /* the rank that tells of no leavers at all */
    int empty;   /* the rank that has nobody */
    int no_room; /* the rank whose list has no room for those who come */
    bool nobody; /* leaves anywhere */
    uint32_t seed;
};

struct scene {
    struct scene_kind kind;
    const struct partition *partition;
    struct grid box;
    struct slab slab;
    struct species_config species;
    struct particles list, others; /* of this rank; those that the migration brings */
    uint32_t *leavers;             /* [cells beside] */
    uint64_t arriving, leaving, lost;
    struct migration *migration;
    struct crossing *crossing;
};

/* x and y in the cell, u, v. */
struct particle {
    double x, y, u, v;
    uint64_t id;
    uint32_t key;
};

/* Particles in the order of a list. */
struct expected {
    struct particle *particles;
    size_t count;
};

static bool is_rank(int which, int rank)
{
    return which == ALL_RANKS || which == rank;
}

static struct slab slab_of(const struct scene *scene, int rank)
{
    return slab_make(&scene->box, scene->partition->first[rank], partition_rows(scene->partition, rank),
                     scene->kind.ghost);
}

/* ---- who there is ---- */

/* A number without a pattern (Steele, Lea & Flood 2014). */
static uint64_t mixed(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Particles of a rank in a cell of its local grid after the move: some cells have none, and some rows. */
static uint32_t number_in(const struct scene *scene, int rank, uint32_t cell)
{
    const struct scene_kind *kind = &scene->kind;
    const struct slab slab = slab_of(scene, rank);
    const uint32_t row = cell / kind->columns;
    const uint64_t random = mixed(((uint64_t)kind->seed << 40) + ((uint64_t)(uint32_t)rank << 32) + cell + 1);
    if (is_rank(kind->empty, rank))
        return 0;
    if (row < slab.rows)
        return (uint32_t)(random % 4);
    if (kind->nobody || is_rank(kind->silent, rank) || (row + (uint32_t)rank) % 4 == 3)
        return 0;
    return (uint32_t)(random % 5);
}

static bool is_lost(const struct slab *slab, uint32_t cell)
{
    return !slab_is_whole(slab) && cell / slab->box.ny == slab_lost_row(slab);
}

/* Number n of those: no two alike, all exact in single precision. */
static struct particle particle_of(const struct scene *scene, int rank, uint32_t cell, uint32_t n)
{
    const struct slab slab = slab_of(scene, rank);
    const uint64_t id = ((uint64_t)(uint32_t)(rank + 1) << 40) + ((uint64_t)cell << 8) + n;
    const uint64_t random = mixed(id);
    struct particle particle = {.x = (double)(random % 1024) / 1024,
                                .y = (double)(random / 1024 % 1024) / 1024,
                                .u = (double)(id >> 8 & 0xffff) + 100000.0 * rank,
                                .v = (double)n + 10.0 * rank,
                                .id = id};
    const double far = (double)(random >> 32) / 0x1p32 * 100;
    if (is_lost(&slab, cell)) /* all of x, in rows from the first own one on */
        particle.x += random & 1 << 30 ? slab.rows + slab.ghost + floor(far) : -floor(far) - slab.ghost - 1;
    return particle;
}

static void add(struct expected *expected, struct particle particle)
{
    expected->particles = realloc(expected->particles, (expected->count + 1) * sizeof particle);
    assert_non_null(expected->particles);
    expected->particles[expected->count++] = particle;
}

static void add_cell(const struct scene *scene, int rank, uint32_t cell, uint32_t key,
                     struct expected *expected)
{
    for (uint32_t n = 0; n < number_in(scene, rank, cell); n++) {
        struct particle particle = particle_of(scene, rank, cell, n);
        particle.key = key;
        add(expected, particle);
    }
}

/* Those whom `sender` sends to a column of a row of the box. */
static void add_senders(const struct scene *scene, int sender, uint32_t row, uint32_t column, uint32_t key,
                        struct expected *expected)
{
    const struct slab slab = slab_of(scene, sender);
    for (uint32_t local = slab.rows; local < slab.local.nx; local++)
        if (!is_lost(&slab, local * slab.box.ny) && slab_global_row(&slab, local) == row)
            add_cell(scene, sender, local * slab.box.ny + column, key, expected);
}

/* ---- what is expected ---- */

/* The own list: those of each cell, and where there is room those who come, in the order of their ranks. */
static struct expected expected_list(const struct scene *scene, bool room)
{
    struct expected expected = {0};
    const uint32_t ny = scene->box.ny;
    for (uint32_t cell = 0; cell < slab_own_cells(&scene->slab); cell++) {
        add_cell(scene, ranks.rank, cell, cell, &expected);
        for (int sender = 0; sender < ranks.size && room; sender++)
            if (sender != ranks.rank)
                add_senders(scene, sender, scene->slab.first_row + cell / ny, cell % ny, cell, &expected);
    }
    return expected;
}

/* Those for whom there is no room: in the order of their ranks, and in that of their lists. */
static void add_left_over(const struct scene *scene, struct expected *expected)
{
    const uint32_t ny = scene->box.ny;
    for (int sender = 0; sender < ranks.size; sender++) {
        const struct slab slab = slab_of(scene, sender);
        for (uint32_t cell = slab.rows * ny; cell < grid_cells(&slab.local) && sender != ranks.rank; cell++) {
            const uint32_t row = is_lost(&slab, cell) ? UINT32_MAX : slab_global_row(&slab, cell / ny);
            if (row != UINT32_MAX && partition_owner(scene->partition, row) == ranks.rank)
                add_cell(scene, sender, cell, (row - scene->slab.first_row) * ny + cell % ny, expected);
        }
    }
}

/* Those whom the ranks lost and who belong here. */
static void add_lost(const struct scene *scene, struct expected *expected)
{
    const uint32_t ny = scene->box.ny;
    const double nx = scene->box.nx;
    for (int sender = 0; sender < ranks.size; sender++) {
        const struct slab slab = slab_of(scene, sender);
        for (uint32_t column = 0; column < ny && !slab_is_whole(&slab); column++) {
            const uint32_t cell = slab_lost_row(&slab) * ny + column;
            for (uint32_t n = 0; n < number_in(scene, sender, cell); n++) {
                struct particle particle = particle_of(scene, sender, cell, n);
                const double way = floor(particle.x) + slab.first_row;
                const uint32_t row = (uint32_t)(way - nx * floor(way / nx));
                particle.x -= floor(particle.x);
                particle.key = (row - scene->slab.first_row) * ny + column;
                if (partition_owner(scene->partition, row) == ranks.rank)
                    add(expected, particle);
            }
        }
    }
}

/* ---- the list ---- */

static void write_particle(const struct scene *scene, size_t place, const struct particle *particle)
{
    const double offset[] = {particle->x, particle->y}, velocity[] = {particle->u, particle->v};
    const enum precision precision = scene->kind.precision;
    assert_ok(buffer_write_reals(scene->list.offset, precision, 2 * place, 2, offset));
    assert_ok(buffer_write_reals(scene->list.velocity, precision, 2 * place, 2, velocity));
    if (scene->list.id)
        assert_ok(
            buffer_write(scene->list.id, place * sizeof particle->id, sizeof particle->id, &particle->id));
}

/* How many the crossing says come to each own cell. The caller frees them. */
static uint32_t *read_room(const struct scene *scene, const struct arrival_room *room)
{
    const uint32_t ny = scene->box.ny, own = slab_own_cells(&scene->slab);
    uint32_t *counts = calloc(own, sizeof *counts), *rows = calloc(scene->slab.local.nx, sizeof *rows);
    assert_true(counts && rows);
    assert_ok(buffer_read(room->rows, 0, scene->slab.local.nx * sizeof *rows, rows));
    for (uint32_t row = 0; row < scene->slab.local.nx; row++) {
        assert_true(row < scene->slab.rows || rows[row] == ARRIVALS_NONE);
        if (rows[row] != ARRIVALS_NONE)
            assert_ok(buffer_read(room->counts, (size_t)rows[row] * ny * sizeof *counts, ny * sizeof *counts,
                                  counts + (size_t)row * ny));
    }
    free(rows);
    return counts;
}

/* As the move of a step leaves it: own cells with room at their ends, then those who leave. */
static void build_list(struct scene *scene, const struct arrival_room *room)
{
    const uint32_t cells = grid_cells(&scene->slab.local), own = slab_own_cells(&scene->slab);
    uint32_t *counts = read_room(scene, room), *offsets = calloc(cells + (size_t)1, sizeof *offsets);
    assert_non_null(offsets);
    uint32_t place = 0, announced = 0;
    for (uint32_t cell = 0; cell < cells; cell++) {
        const uint32_t number = number_in(scene, ranks.rank, cell);
        for (uint32_t n = 0; n < number; n++) {
            const struct particle particle = particle_of(scene, ranks.rank, cell, n);
            write_particle(scene, place++, &particle);
        }
        scene->list.count += number;
        announced += cell < own ? counts[cell] : 0;
        place += cell < own ? counts[cell] : 0;
        offsets[cell + 1] = place;
    }
    assert_int_equal(announced, room->count);
    assert_true(place <= scene->list.capacity);
    assert_ok(buffer_write(scene->list.cell_offsets, 0, (cells + (size_t)1) * sizeof *offsets, offsets));
    free(counts);
    free(offsets);
}

static void check_particles(const struct scene *scene, const struct particles *list, bool keys,
                            const struct expected *expected)
{
    assert_int_equal(list->count, expected->count);
    for (size_t n = 0; n < expected->count; n++) {
        const struct particle *particle = &expected->particles[n];
        double offset[2], velocity[2];
        uint64_t id = particle->id;
        uint32_t key = particle->key;
        assert_ok(particles_read_offsets(list, scene->kind.precision, n, 1, offset));
        assert_ok(particles_read_velocities(list, scene->kind.precision, n, 1, velocity));
        if (list->id)
            assert_ok(buffer_read(list->id, n * sizeof id, sizeof id, &id));
        if (keys)
            assert_ok(buffer_read(list->key, n * sizeof key, sizeof key, &key));
        if (offset[0] != particle->x || offset[1] != particle->y || velocity[0] != particle->u ||
            velocity[1] != particle->v || id != particle->id || key != particle->key)
            fail_msg("particle %zu of %zu is (%g, %g, %g, %g, %llx, cell %u), expected (%g, %g, %g, %g, "
                     "%llx, cell %u)",
                     n, expected->count, offset[0], offset[1], velocity[0], velocity[1],
                     (unsigned long long)id, key, particle->x, particle->y, particle->u, particle->v,
                     (unsigned long long)particle->id, particle->key);
    }
}

/* Those of each own cell, and then nobody. */
static void check_offsets(const struct scene *scene, const struct expected *expected)
{
    const uint32_t cells = grid_cells(&scene->slab.local);
    uint32_t *offsets = calloc(cells + (size_t)1, sizeof *offsets);
    assert_non_null(offsets);
    assert_ok(buffer_read(scene->list.cell_offsets, 0, (cells + (size_t)1) * sizeof *offsets, offsets));
    size_t n = 0;
    for (uint32_t cell = 0; cell <= cells; cell++) {
        assert_int_equal(offsets[cell], n);
        while (n < expected->count && expected->particles[n].key == cell)
            n++;
    }
    free(offsets);
}

/* ---- birth and death ---- */

static void count_traffic(struct scene *scene)
{
    const uint32_t own = slab_own_cells(&scene->slab), cells = grid_cells(&scene->slab.local);
    scene->leavers = calloc(cells - own + (size_t)1, sizeof *scene->leavers);
    assert_non_null(scene->leavers);
    scene->leaving = scene->lost = 0;
    for (uint32_t cell = own; cell < cells; cell++) {
        scene->leavers[cell - own] = number_in(scene, ranks.rank, cell);
        scene->leaving += scene->leavers[cell - own];
        if (is_lost(&scene->slab, cell))
            scene->lost += scene->leavers[cell - own];
    }
    struct expected coming = {0};
    add_left_over(scene, &coming);
    scene->arriving = coming.count;
    free(coming.particles);
}

static void scene_create(const struct scene_kind *kind, const struct partition *partition,
                         struct scene *scene)
{
    enum { CAPACITY = 20000 };
    const struct grid_config cells = {.cells = {partition->rows, kind->columns}, .length = {1, 1}};
    *scene = (struct scene){.kind = *kind, .partition = partition, .box = grid_make(&cells)};
    scene->species = (struct species_config){
        .name = "test", .charge = 1, .mass = 1, .density = 1, .particles = CAPACITY, .ids = kind->ids};
    scene->slab = slab_of(scene, ranks.rank);
    struct particles *const lists[] = {&scene->list, &scene->others};
    for (int n = 0; n < 2; n++)
        assert_ok(particles_create_list(device, &scene->slab, kind->precision, &scene->species, CAPACITY,
                                        lists[n]));
    count_traffic(scene);
    assert_ok(migration_create(&ranks, device, kind->precision, &scene->migration));
    assert_ok(crossing_create(&ranks, device, partition, &scene->slab, kind->ghost, kind->precision,
                              scene->migration, &scene->crossing));
    /* As a run does before its first fused step. */
    assert_ok(migration_collect(scene->migration, &scene->slab, partition, 0, &scene->list));
}

static void scene_destroy(struct scene *scene)
{
    crossing_destroy(&scene->crossing);
    assert_null(scene->crossing);
    migration_destroy(&scene->migration);
    particles_destroy(&scene->list);
    particles_destroy(&scene->others);
    free(scene->leavers);
}

/* ---- one crossing ---- */

static void check_traffic(const struct scene *scene)
{
    const uint64_t each =
        4 * precision_bytes(scene->kind.precision) + (scene->kind.ids ? sizeof(uint64_t) : 0);
    assert_int_equal(crossing_left(scene->crossing), scene->leaving - scene->lost);
    assert_int_equal(crossing_bytes(scene->crossing),
                     (scene->leaving - scene->lost + scene->arriving) * each);
}

/* What the crossing did not bring comes by the migration, to the owner of its row. */
static void check_migration(struct scene *scene, bool room)
{
    struct expected expected = {0};
    if (!room)
        add_left_over(scene, &expected);
    assert_int_equal(migration_arrived(scene->migration, 0), expected.count);
    assert_int_equal(migration_held(scene->migration, 0), expected.count + scene->lost);
    assert_ok(migration_exchange(scene->migration, SPECIES));
    add_lost(scene, &expected);
    scene->others.count = 0;
    assert_ok(migration_append(scene->migration, &scene->slab, 0, &scene->others));
    check_particles(scene, &scene->others, true, &expected);
    free(expected.particles);
}

static void cross(struct scene *scene)
{
    const bool room = !is_rank(scene->kind.no_room, ranks.rank) || scene->arriving == 0;
    const bool silent = is_rank(scene->kind.silent, ranks.rank);
    const uint32_t most = (uint32_t)scene->arriving - (room ? 0 : 1);
    struct arrival_room left = {0};
    assert_ok(crossing_announce(scene->crossing, silent ? NULL : scene->leavers, most, &left));
    assert_int_equal(left.count, room ? scene->arriving : 0);
    scene->list.count = 0;
    build_list(scene, &left);
    assert_ok(device_fork(device)); /* as the move does */
    assert_ok(crossing_follow(scene->crossing, 0, &scene->list));
    struct expected expected = expected_list(scene, room);
    check_particles(scene, &scene->list, false, &expected);
    check_offsets(scene, &expected);
    check_traffic(scene);
    free(expected.particles);
    check_migration(scene, room);
}

/* Rows from first[] on, in single and double precision, with ids and without; and then another step. */
static void check_crossing(struct scene_kind kind, const uint32_t *first)
{
    struct partition partition;
    assert_ok(partition_given(ranks.size, first, &partition));
    for (unsigned n = 0; n < 4; n++) {
        kind.precision = n & 1 && device_info(device)->has_fp64 ? PRECISION_DOUBLE : PRECISION_SINGLE;
        kind.ids = n & 2;
        kind.seed = n;
        struct scene scene;
        scene_create(&kind, &partition, &scene);
        cross(&scene);
        scene.kind.seed += 10;
        free(scene.leavers);
        count_traffic(&scene);
        cross(&scene);
        scene_destroy(&scene);
    }
    partition_destroy(&partition);
}

/* ---- partitions ---- */

enum division { EVEN, FIRST_IS_LARGE, LAST_IS_LARGE, SINGLE_ROWS, DIVISIONS };

static void check_on(enum division division, struct scene_kind kind)
{
    enum { ROWS = 40 };
    uint32_t first[16];
    assert_true(ranks.size < 16);
    for (int rank = 0; rank <= ranks.size; rank++) {
        const uint32_t n = (uint32_t)rank, size = (uint32_t)ranks.size;
        const uint32_t ends[DIVISIONS] = {ROWS * n / size, n == 0 ? 0 : ROWS - (size - n),
                                          n == size ? ROWS : n, n};
        first[rank] = ends[division];
    }
    check_crossing(kind, first);
}

static const struct scene_kind usual = {
    .columns = 5, .ghost = 3, .silent = NO_RANK, .empty = NO_RANK, .no_room = NO_RANK};

/* ---- tests ---- */

/* Slabs with ghost rows, also of one row next to long ones, which are within the ghost rows of several ranks;
 * and as few rows as ranks, where slabs are whole. */
static void those_who_come_take_their_places(void **state)
{
    (void)state;
    for (enum division division = EVEN; division < DIVISIONS; division++)
        check_on(division, usual);
}

/* No ghost rows: anybody goes anywhere. */
static void whole_slabs(void **state)
{
    (void)state;
    struct scene_kind kind = usual;
    kind.ghost = 0;
    kind.columns = 2;
    check_on(EVEN, kind);
    check_on(LAST_IS_LARGE, kind);
}

/* On all ranks, or on one while others have some. */
static void those_without_room_come_by_the_migration(void **state)
{
    (void)state;
    struct scene_kind kind = usual;
    kind.no_room = ALL_RANKS;
    check_on(EVEN, kind);
    kind.no_room = ranks.size - 1;
    check_on(FIRST_IS_LARGE, kind);
    kind.ghost = 0;
    check_on(SINGLE_ROWS, kind);
}

static void a_rank_may_have_nobody_to_announce(void **state)
{
    (void)state;
    struct scene_kind kind = usual;
    kind.silent = 0;
    check_on(EVEN, kind);
    kind.no_room = 0; /* a rank that takes plain steps leaves none */
    check_on(LAST_IS_LARGE, kind);
    kind.silent = ALL_RANKS;
    check_on(EVEN, kind);
}

static void nobody_leaves(void **state)
{
    (void)state;
    struct scene_kind kind = usual;
    kind.nobody = true;
    check_on(EVEN, kind);
    check_on(SINGLE_ROWS, kind);
}

static void a_rank_may_be_empty(void **state)
{
    (void)state;
    struct scene_kind kind = usual;
    kind.empty = ranks.size - 1;
    check_on(EVEN, kind);
    check_on(FIRST_IS_LARGE, kind);
    kind.empty = ALL_RANKS;
    check_on(EVEN, kind);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_who_come_take_their_places),
        cmocka_unit_test(whole_slabs),
        cmocka_unit_test(those_without_room_come_by_the_migration),
        cmocka_unit_test(a_rank_may_have_nobody_to_announce),
        cmocka_unit_test(nobody_leaves),
        cmocka_unit_test(a_rank_may_be_empty),
    };
    return mpi_run_tests("crossing", tests, open_device, close_device);
}
