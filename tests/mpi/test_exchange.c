/* Exchange and migrate: a list as the move of a step leaves it, with made-up particles, becomes what every
 * rank can work out from the numbers of all. */
#include "support/mpi_support.h"
#include "support/sorted_particles.h"

#include "parallel/exchange.h"
#include "support/device_fixture.h"
#include "support/refusing_device.h"

enum { MOST = 20000 /* particles of a list */, GHOST = 3 };

enum which_rank { NO_RANK, LAST_RANK, ALL_RANKS };

/* What ranks have and send. */
struct scene_kind {
    uint32_t columns, ghost;
    enum precision precision;
    enum particle_layout layout;
    bool ids, w;
    enum which_rank empty;   /* has no particles */
    enum which_rank no_room; /* for the arrivals of its list */
    enum which_rank refuses; /* shared memory, so that all send messages */
    bool all_stay;
    bool late;     /* some particles leave that are no leavers */
    size_t outbox; /* bytes */
    uint32_t seed;
};

struct scene {
    struct scene_kind kind;
    const struct partition *partition;
    struct grid box;
    struct slab slab;
    struct species_config species;
    struct device *branch; /* that owns the rest */
    struct particles list;
    uint32_t *leavers;                               /* [cells beside the own rows] */
    uint64_t staying, arriving, leaving, late, lost; /* `lost` are leavers, as `leaving` are */
    struct migrate *migrate;
    struct exchange *exchange;
};

/* dx, dy, u, v. */
struct particle {
    double state[4];
    uint64_t id;
};

static bool is_rank(enum which_rank which, int rank)
{
    return which == ALL_RANKS || (which == LAST_RANK && rank == ranks.size - 1);
}

static struct slab slab_of(const struct scene *scene, int rank)
{
    return slab_make(&scene->box, scene->partition->first[rank], partition_rows(scene->partition, rank),
                     scene->kind.ghost);
}

/* ---- the particles of all ranks ---- */

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
    return kind->all_stay || (row + (uint32_t)rank) % 4 == 3 ? 0 : (uint32_t)(random % 5);
}

/* How many of those, the last ones, leave without being leavers. */
static uint32_t late_in(const struct scene *scene, int rank, uint32_t cell)
{
    const struct slab slab = slab_of(scene, rank);
    return scene->kind.late && cell >= slab_own_cells(&slab) ? number_in(scene, rank, cell) / 2 : 0;
}

/* Number n of those: no two alike, all exact in single precision. */
static struct particle particle_of(const struct scene *scene, int rank, uint32_t cell, uint32_t n)
{
    const struct slab slab = slab_of(scene, rank);
    const uint64_t id = ((uint64_t)(uint32_t)(rank + 1) << 40) + ((uint64_t)cell << 8) + n;
    const uint64_t random = mixed(id);
    struct particle particle = {
        .state = {(double)(random % 1024) / 1024, (double)(random / 1024 % 1024) / 1024,
                  (double)(id >> 8 & 0xffff) + 100000.0 * rank, (double)n + 10.0 * rank},
        .id = id};
    const double far = floor((double)(random >> 32) / 0x1p32 * 100);
    if (slab_is_lost(&slab, cell / slab.box.ny)) /* all of x, in rows from the first own one on */
        particle.state[0] += random & 1 << 30 ? slab.rows + slab.ghost + far : -far - slab.ghost - 1;
    return particle;
}

/* The row of the box where the particle is, which stands in a local row of a rank; x becomes its offset. */
static uint32_t row_of(const struct slab *slab, uint32_t local_row, struct particle *particle)
{
    if (!slab_is_lost(slab, local_row))
        return slab_global_row(slab, local_row);
    const double nx = slab->box.nx, row = floor(particle->state[0]), around = row + slab->first_row;
    particle->state[0] -= row;
    return (uint32_t)(around - nx * floor(around / nx));
}

/* ---- what is expected ---- */

/* Particles that a rank has in a local row and a cell's column, where they belong to this own cell: those
 * that are late or the others. */
static void add_from(const struct scene *scene, int rank, uint32_t local_row, uint32_t cell, bool late,
                     struct sorted_particles *expected)
{
    const struct slab slab = slab_of(scene, rank);
    const uint32_t ny = scene->box.ny, from = local_row * ny + cell % ny;
    const uint32_t number = number_in(scene, rank, from), in_time = number - late_in(scene, rank, from);
    for (uint32_t n = late ? in_time : 0; n < (late ? number : in_time); n++) {
        struct particle particle = particle_of(scene, rank, from, n);
        if (row_of(&slab, local_row, &particle) == scene->slab.first_row + cell / ny)
            sorted_particles_add(expected, cell, particle.state, particle.id);
    }
}

enum arrivals { NEAR = 1 /* from ghost rows */, GENERAL = 2 /* late, or from beyond them */ };

/* Arrivals of one own cell by rank, then the late ones first, then by local row. */
static void add_arrivals(const struct scene *scene, int which, uint32_t cell,
                         struct sorted_particles *expected)
{
    for (int sender = 0; sender < ranks.size; sender++) {
        const struct slab slab = slab_of(scene, sender);
        for (uint32_t row = slab.rows; row < slab.local.nx && which & GENERAL; row++)
            add_from(scene, sender, row, cell, true, expected);
        for (uint32_t row = slab.rows; row < slab.local.nx; row++)
            if (which & (slab_is_lost(&slab, row) ? GENERAL : NEAR))
                add_from(scene, sender, row, cell, false, expected);
    }
}

/* Own particles of each own cell, then two kinds of arrivals one after the other. */
static struct sorted_particles expected_list(const struct scene *scene, int first, int second)
{
    const uint32_t own = slab_own_cells(&scene->slab), cells = grid_cells(&scene->slab.local);
    struct sorted_particles expected = sorted_particles_empty(cells, MOST);
    for (uint32_t cell = 0; cell < own; cell++) {
        add_from(scene, ranks.rank, cell / scene->box.ny, cell, false, &expected);
        add_arrivals(scene, first, cell, &expected);
        add_arrivals(scene, second, cell, &expected);
    }
    return expected;
}

/* ---- the list ---- */

/* How many arrivals the exchange tells for a cell. */
static uint32_t room_in(const struct scene *scene, const struct arrival_gaps *room, uint32_t cell)
{
    const uint32_t ny = scene->box.ny;
    uint32_t row = 0, count = 0;
    if (!room)
        return 0;
    assert_ok(buffer_read(room->rows, cell / ny * sizeof row, sizeof row, &row));
    assert_true(cell / ny < scene->slab.rows || row == ARRIVALS_NONE);
    if (row != ARRIVALS_NONE)
        assert_ok(
            buffer_read(room->counts, ((size_t)row * ny + cell % ny) * sizeof count, sizeof count, &count));
    return count;
}

/* As the move of a step leaves it: own cells with room at their ends, then leaving particles. */
static void build_list(struct scene *scene, const struct arrival_gaps *room)
{
    const double nothing[4] = {-1, -1, -1, -1};
    const uint32_t cells = grid_cells(&scene->slab.local);
    struct sorted_particles built = sorted_particles_empty(cells, MOST);
    uint32_t left = 0;
    for (uint32_t cell = 0; cell < cells; cell++) {
        for (uint32_t n = 0; n < number_in(scene, ranks.rank, cell); n++) {
            const struct particle particle = particle_of(scene, ranks.rank, cell, n);
            sorted_particles_add(&built, cell, particle.state, particle.id);
        }
        for (uint32_t n = room_in(scene, room, cell); n > 0; n--, left++)
            sorted_particles_add(&built, cell, nothing, 0);
    }
    assert_int_equal(left, room ? room->count : 0);
    assert_true(built.particles.count <= scene->list.capacity);
    scene->list.count = built.particles.count;
    sorted_particles_write(&built, &scene->list);
    scene->list.count -= left;
}

/* ---- scenes ---- */

static void count_traffic(struct scene *scene)
{
    const uint32_t own = slab_own_cells(&scene->slab), cells = grid_cells(&scene->slab.local);
    struct sorted_particles coming = sorted_particles_empty(1, MOST);
    scene->staying = scene->leaving = scene->late = scene->lost = 0;
    for (uint32_t cell = 0; cell < cells; cell++) {
        const uint32_t late = late_in(scene, ranks.rank, cell),
                       number = number_in(scene, ranks.rank, cell) - late;
        scene->late += late;
        if (cell < own)
            scene->staying += number;
        else
            scene->leaving += scene->leavers[cell - own] = number;
        if (slab_is_lost(&scene->slab, cell / scene->box.ny))
            scene->lost += number;
    }
    for (uint32_t cell = 0; cell < own; cell++)
        add_arrivals(scene, NEAR, cell, &coming);
    scene->arriving = coming.particles.count;
}

/* The list is as long as its kind of step needs, so that it must grow for more. */
static void scene_create(const struct scene_kind *kind, const struct partition *partition,
                         struct scene *scene)
{
    const struct grid_config cells = {.cells = {partition->rows, kind->columns}, .length = {1, 1}};
    *scene = (struct scene){.kind = *kind, .partition = partition, .box = grid_make(&cells)};
    scene->species = sorted_species(1000, kind->ids, kind->w);
    scene->slab = slab_of(scene, ranks.rank);
    assert_ok(device_branch(device, &scene->branch));
    assert_ok(DEVICE_NEW_ARRAY(scene->branch, scene->leavers, grid_cells(&scene->slab.local)));
    count_traffic(scene);
    const uint64_t short_of = is_rank(kind->no_room, ranks.rank) && scene->arriving > 0;
    const uint32_t capacity =
        (uint32_t)(scene->staying + scene->leaving + scene->late + scene->arriving - short_of);
    assert_ok(particles_create(scene->branch, &scene->slab, kind->precision, kind->layout, &scene->species,
                               capacity, &scene->list));
    assert_ok(migrate_create(scene->branch, &ranks, partition, kind->precision, &scene->migrate));
    const struct rank_place place = {scene->branch, &ranks,      partition,
                                     &scene->slab,  kind->ghost, kind->precision};
    device_refused = 0;
    device_refuses = is_rank(kind->refuses, ranks.rank);
    assert_ok(exchange_create(&place, scene->migrate, kind->outbox, &scene->exchange));
    assert_int_equal(device_refused, device_refuses && kind->outbox > 0);
    device_refuses = false;
}

/* Collective: what waits comes by the general path, and only then anything does. */
static void check_delivery(struct scene *scene)
{
    const uint32_t before = scene->list.count;
    for (int time = 0; time < 2; time++) {
        uint32_t changed = 0;
        uint64_t left = 1;
        assert_ok(migrate_deliver(scene->migrate, &scene->slab, 1, &scene->list, &changed, &left));
        assert_int_equal(changed, time == 0 && scene->list.count > before);
        assert_int_equal(left, 1 + (time == 0 ? scene->lost + scene->late : 0));
    }
}

/* All bytes of the stage up to now. */
static uint64_t exchange_bytes(void)
{
    return device_timers(device)->stages[STAGE_EXCHANGE].bytes;
}

static void check_exchange(struct scene *scene)
{
    const uint32_t kept = (uint32_t)(scene->staying + scene->leaving + scene->late);
    const uint64_t each = (scene->kind.w ? 5 : 4) * precision_bytes(scene->kind.precision) +
                          (scene->kind.ids ? sizeof(uint64_t) : 0);
    struct arrival_gaps left = {0};
    uint64_t gone = 1;
    assert_ok(particles_reserve(&scene->list, kept));
    const bool room = kept + scene->arriving <= scene->list.capacity;
    assert_ok(exchange_announce(scene->exchange, scene->leavers, scene->list.capacity - kept, &left));
    assert_int_equal(left.count, room ? scene->arriving : 0);
    build_list(scene, &left);
    assert_ok(device_fork(device)); /* as the move does */
    const uint64_t bytes = exchange_bytes() + each * (scene->leaving - scene->lost + scene->arriving);
    const uint32_t begin = (uint32_t)scene->staying + left.count;
    assert_ok(
        exchange_follow(scene->exchange, 0, true, scene->kind.late ? &begin : NULL, &scene->list, &gone));
    assert_int_equal(exchange_bytes(), bytes + 2 * each * left.count); /* the latter by the kernels */
    const struct sorted_particles without = expected_list(scene, room ? NEAR : 0, 0);
    sorted_particles_check(&without, &scene->list);
    assert_int_equal(gone, 1 + scene->leaving - scene->lost);
    check_delivery(scene);
    const struct sorted_particles with = expected_list(scene, NEAR, GENERAL);
    sorted_particles_check(&with, &scene->list);
}

/* Collective: the most particles that leave a rank. */
static size_t most_leaving(const struct scene *scene)
{
    double most = (double)scene->leaving;
    communicator_max(&ranks, 1, &most);
    return (size_t)most;
}

/* Exchanges of which each has other particles. Shared memory that was too short in one has grown in the next,
 * where no rank refuses it, as in the second one the kind may say. No rank asks again for as much. */
static void check_exchanges(struct scene *scene, enum which_rank refuses)
{
    size_t last = 0, refused = SIZE_MAX;
    for (int step = 0; step < 4; step++) {
        const size_t capacity = exchange_outbox_capacity(scene->exchange), room = last + last / 4;
        const bool asks = capacity > 0 && last > capacity && room < refused;
        const bool in_vain = asks && step == 1 && refuses != NO_RANK;
        device_refused = 0;
        device_refuses = step == 1 && is_rank(refuses, ranks.rank);
        check_exchange(scene);
        assert_int_equal(device_refused, device_refuses && asks);
        device_refuses = false;
        assert_int_equal(exchange_outbox_capacity(scene->exchange), asks && !in_vain ? room : capacity);
        refused = in_vain ? room : refused;
        last = most_leaving(scene);
        scene->kind.seed += 10;
        count_traffic(scene);
    }
}

/* In single and double precision, with ids and w and without, in either layout and in one on each second
 * rank; by memory that all share, where it is short for the leavers of some ranks, and by messages. */
static void check_all(struct scene_kind kind, const struct partition *partition)
{
    for (unsigned n = 0; n < 6; n++) {
        const size_t held = device_bytes_held(device);
        const bool is_aos[3] = {false, true, ranks.rank % 2};
        const size_t outboxes[3] = {EXCHANGE_OUTBOX, 2000, 0};
        kind.precision = n & 1 && device_info(device)->has_fp64 ? PRECISION_DOUBLE : PRECISION_SINGLE;
        kind.ids = n & 2;
        kind.w = n % 3 == 0;
        kind.layout = is_aos[n % 3] ? LAYOUT_AOS : LAYOUT_SOA;
        kind.outbox = outboxes[(n + n / 3) % 3];
        kind.seed = n;
        struct scene scene;
        scene_create(&kind, partition, &scene);
        check_exchanges(&scene, n < 3 ? NO_RANK : LAST_RANK);
        device_close(&scene.branch);
        assert_int_equal(device_bytes_held(device), held);
    }
}

/* ---- partitions ---- */

enum division { EVEN, FIRST_IS_LARGE, LAST_IS_LARGE, SINGLE_ROWS, DIVISIONS };

static struct partition divide(enum division division)
{
    enum { ROWS = 40 };
    struct partition partition = test_partition(ranks.size, ROWS);
    for (int rank = 0; rank <= ranks.size; rank++) {
        const uint32_t n = (uint32_t)rank, size = (uint32_t)ranks.size;
        const uint32_t ends[DIVISIONS] = {ROWS * n / size, n == 0 ? 0 : ROWS - (size - n),
                                          n == size ? ROWS : n, n};
        partition.first[rank] = ends[division];
    }
    partition.rows = partition.first[ranks.size];
    return partition;
}

TEST(arrivals_take_their_places)
{
    static const struct {
        enum division division;
        struct scene_kind kind;
    } cases[] = {
        /* slabs with ghost rows, also of one row next to long ones, which are within the ghost rows of
         * several ranks; and as few rows as ranks, where slabs are whole */
        {EVEN, {.columns = 5, .ghost = 3}},
        {FIRST_IS_LARGE, {.columns = 5, .ghost = 3}},
        {LAST_IS_LARGE, {.columns = 5, .ghost = 3}},
        {SINGLE_ROWS, {.columns = 5, .ghost = 3}},
        /* no ghost rows: any particle goes anywhere */
        {EVEN, {.columns = 2}},
        {LAST_IS_LARGE, {.columns = 2}},
        /* arrivals without room are merged, on all ranks, or on one while others have some */
        {EVEN, {.columns = 5, .ghost = 3, .no_room = ALL_RANKS}},
        {FIRST_IS_LARGE, {.columns = 5, .ghost = 3, .no_room = LAST_RANK}},
        {SINGLE_ROWS, {.columns = 5, .no_room = LAST_RANK}},
        /* all particles may stay */
        {EVEN, {.columns = 5, .ghost = 3, .all_stay = true}},
        {SINGLE_ROWS, {.columns = 5, .ghost = 3, .all_stay = true}},
        /* some may leave unannounced */
        {EVEN, {.columns = 5, .ghost = 3, .late = true}},
        {LAST_IS_LARGE, {.columns = 5, .ghost = 3, .late = true, .no_room = LAST_RANK}},
        {SINGLE_ROWS, {.columns = 5, .ghost = 3, .late = true}},
        {EVEN, {.columns = 5, .ghost = 3, .refuses = LAST_RANK}},
        /* ranks may be empty */
        {EVEN, {.columns = 5, .ghost = 3, .empty = LAST_RANK}},
        {FIRST_IS_LARGE, {.columns = 5, .ghost = 3, .empty = LAST_RANK}},
        {EVEN, {.columns = 5, .ghost = 3, .empty = ALL_RANKS}},
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        struct partition partition = divide(cases[n].division);
        check_all(cases[n].kind, &partition);
    }
}

/* Rows change hands between a whole slab and one with ghost rows; that all comes where it belongs tests/mpi/
 * test_many_ranks.c shows. Where the last rank cannot take what comes of the first of two species, all get
 * its sentence, and none waits for another. */
TEST(a_rank_without_room_for_new_rows_is_a_failure_of_all)
{
    const struct scene_kind kind = {.columns = 5, .all_stay = true, .ids = true};
    const enum status expected = ranks.size > 1 ? STATUS_FAILED : STATUS_OK;
    struct partition before = divide(FIRST_IS_LARGE), after = divide(LAST_IS_LARGE);
    struct scene scene;
    struct migrate *migrate = NULL;
    uint32_t changed = 0;
    uint64_t left = 0;
    scene_create(&kind, &before, &scene);
    const struct slab to =
        slab_make(&scene.box, after.first[ranks.rank], partition_rows(&after, ranks.rank), GHOST);
    assert_ok(migrate_create(scene.branch, &ranks, &after, kind.precision, &migrate));
    build_list(&scene, NULL);
    assert_ok(migrate_change_slab(migrate, &scene.slab, &to, 0, &scene.list));
    struct particles lists[2] = {scene.list};
    assert_ok(particles_create(scene.branch, &to, kind.precision, kind.layout, &scene.species, 1, &lists[1]));
    if (ranks.rank == ranks.size - 1)
        lists[0].count = CONFIG_MAX_PARTICLES;
    assert_int_equal(migrate_deliver(migrate, &to, 2, lists, &changed, &left), expected);
    assert_true(expected == STATUS_OK || strstr(status_message(), "species test: 42939"));
    assert_ok(migrate_deliver(migrate, &to, 2, lists, &changed, &left));
    assert_int_equal(changed, 0);
    device_close(&scene.branch);
}

MPI_TEST_MAIN(open_device, close_device)
