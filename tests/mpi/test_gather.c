/* Gather: both ways against sums over all ranks written out, and against each other. */
#include "support/mpi_support.h"

#include "parallel/gather.h"
#include "parallel/shared_memory.h"

#include "support/device_fixture.h"
#include "support/left_rows.h"
#include "support/refusing_device.h"

#include <string.h>
#include <unistd.h>

static const enum gather_transport ways[] = {GATHER_SHARED, GATHER_MESSAGES};

enum { WAYS = 2, COMPONENTS = 4 };

/* ---- one gathering ---- */

struct scene {
    struct device *owner;
    struct left_rows left;
    struct slab slab; /* of this rank */
    uint32_t columns;
    struct gather *gather[WAYS];
    struct fields box, local;
};

static struct gather *make_gather(struct device *owner, const struct left_rows *left,
                                  const struct communicator *communicator, enum gather_transport way)
{
    const struct slab slab = left_rows_slab(left, communicator->rank);
    const struct rank_place place = {owner, communicator, left->partition,
                                     &slab, left->ghost,  left->precision};
    struct gather *gather = NULL;
    assert_ok(gather_create(&place, COMPONENTS, way, &gather));
    return gather;
}

static struct scene scene_create(const struct partition *partition, uint32_t columns, uint32_t ghost,
                                 enum precision precision)
{
    struct scene scene = {.left = left_rows_make(partition, columns, ghost, precision), .columns = columns};
    scene.slab = left_rows_slab(&scene.left, ranks.rank);
    assert_ok(device_branch(device, &scene.owner));
    for (int way = 0; way < WAYS; way++) {
        scene.gather[way] = make_gather(scene.owner, &scene.left, &ranks, ways[way]);
        assert_int_equal(gather_transport(scene.gather[way]), ways[way]);
    }
    assert_ok(fields_create(scene.owner, &scene.left.box, precision, SOLVER_ELECTROMAGNETIC, &scene.box));
    assert_ok(fields_create(scene.owner, &scene.slab.local, precision, SOLVER_ELECTROMAGNETIC, &scene.local));
    return scene;
}

/* Component c of what is deposited. */
static struct buffer *source(const struct fields *fields, uint32_t c)
{
    return fields->component[field_first(fields->solver, FIELD_RHO) + c];
}

/* Values on every local row, those that nobody reaches too: 2^c times as large in component c. */
static void leave(const struct scene *scene)
{
    const size_t nodes = grid_cells(&scene->slab.local);
    double *rho = test_array(1, nodes * sizeof *rho);
    for (uint32_t c = 0; c < COMPONENTS; c++) {
        for (size_t n = 0; n < nodes; n++)
            rho[n] = (1 << c) *
                     left_there(&scene->left, ranks.rank, (uint32_t)(n / scene->columns), n % scene->columns);
        assert_ok(buffer_write_reals(source(&scene->local, c), scene->left.precision, 0, nodes, rho));
    }
}

/* The bytes of the sum of component c in the box, of the first `components`. */
static void *gather_with(struct scene *scene, struct gather *gather, uint32_t components, uint32_t c)
{
    const size_t bytes = buffer_bytes(source(&scene->box, c));
    void *sums = test_array(1, bytes);
    assert_ok(buffer_fill(scene->box.all, 0));
    assert_ok(gather_sum(gather, components, scene->local.sources, scene->local.stride, scene->box.sources,
                         scene->box.stride));
    assert_ok(buffer_read(source(&scene->box, c), 0, bytes, sums));
    return sums;
}

/* All components, and one alone. */
static void check_sums(struct scene *scene)
{
    leave(scene);
    for (uint32_t c = 0; c <= COMPONENTS; c++) {
        const uint32_t component = c % COMPONENTS;
        void *sums[WAYS];
        for (int way = 0; way < WAYS; way++)
            sums[way] = gather_with(scene, scene->gather[way], c == COMPONENTS ? 1 : COMPONENTS, component);
        for (size_t n = 0; n < grid_cells(&scene->left.box); n++)
            assert_near(left_load(scene->left.precision, sums[0], n),
                        (1 << component) *
                            left_expected(&scene->left, (uint32_t)(n / scene->columns), n % scene->columns),
                        0);
        assert_memory_equal(sums[0], sums[1], buffer_bytes(source(&scene->box, component)));
    }
}

/* ---- what is kept ---- */

static bool is_kept(const struct slab *slab, uint32_t local)
{
    const bool lost = !slab_is_whole(slab) && local == slab_lost_row(slab);
    return local < slab->rows || (!lost && left_beside(slab, local, slab_global_row(slab, local)));
}

/* Own rows and those beside are the box's, plus `added`; the others are as they were. */
static void check_kept(const struct scene *scene, const struct buffer *buffer, double added)
{
    const size_t nodes = grid_cells(&scene->slab.local);
    double *values = test_array(1, nodes * sizeof *values);
    assert_ok(buffer_read_reals(buffer, scene->left.precision, 0, nodes, values));
    for (size_t n = 0; n < nodes; n++) {
        const uint32_t local = (uint32_t)(n / scene->columns);
        const bool kept = is_kept(&scene->slab, local);
        const size_t row = kept ? slab_global_row(&scene->slab, local) : 0;
        const double in_box = added - (double)(row * scene->columns + n % scene->columns);
        assert_near(values[n], kept ? in_box : -1 - (double)n, 0);
    }
}

static void set(struct buffer *buffer, enum precision precision, size_t nodes, double begin)
{
    double *values = test_array(1, nodes * sizeof *values);
    for (size_t n = 0; n < nodes; n++)
        values[n] = begin - (double)n;
    assert_ok(buffer_write_reals(buffer, precision, 0, nodes, values));
}

/* First all components but those of phi, then these. */
static void check_keeping(struct scene *scene)
{
    const unsigned phi = field_component_bits(SOLVER_ELECTROMAGNETIC, 1u << FIELD_PHI),
                   components = field_first(SOLVER_ELECTROMAGNETIC, FIELDS), all = (1u << components) - 1;
    for (uint32_t c = 0; c < components; c++) {
        set(scene->box.component[c], scene->left.precision, grid_cells(&scene->left.box), 1000.0 * c);
        set(scene->local.component[c], scene->left.precision, grid_cells(&scene->slab.local), -1);
    }
    assert_ok(gather_keep(scene->gather[0], all & ~phi, scene->box.all, scene->box.stride, scene->local.all,
                          scene->local.stride));
    for (uint32_t c = 0; c < components; c++)
        if (all & ~phi & 1u << c)
            check_kept(scene, scene->local.component[c], 1000.0 * c);
    set(scene->box.component[field_first(SOLVER_ELECTROMAGNETIC, FIELD_E)], scene->left.precision,
        grid_cells(&scene->left.box), 1);
    assert_ok(gather_keep(scene->gather[0], phi, scene->box.all, scene->box.stride, scene->local.all,
                          scene->local.stride));
    check_kept(scene, scene->local.component[field_first(SOLVER_ELECTROMAGNETIC, FIELD_PHI)],
               1000.0 * field_first(SOLVER_ELECTROMAGNETIC, FIELD_PHI));
    check_kept(scene, scene->local.component[field_first(SOLVER_ELECTROMAGNETIC, FIELD_E)],
               1000.0 * field_first(SOLVER_ELECTROMAGNETIC, FIELD_E));
}

static void check(const struct partition *partition, uint32_t columns, uint32_t ghost,
                  enum precision precision)
{
    const size_t held = device_bytes_held(device);
    struct scene scene = scene_create(partition, columns, ghost, precision);
    check_sums(&scene);
    check_keeping(&scene);
    device_close(&scene.owner);
    assert_int_equal(device_bytes_held(device), held);
}

/* ---- the tests ---- */

/* From one row a rank on, whole slabs and others. */
TEST(every_row_is_the_sum_over_all_ranks)
{
    for (enum precision precision = PRECISION_SINGLE; precision <= best_precision(); precision++)
        for (uint32_t rows = (uint32_t)ranks.size < 2 ? 2 : (uint32_t)ranks.size; rows < 24; rows += 3) {
            struct partition partition = test_partition(ranks.size, rows);
            check(&partition, 5, 0, precision);
            check(&partition, 5, 2, precision);
            check(&partition, 5, 4, precision);
        }
}

TEST(rows_may_be_shared_unevenly)
{
    struct partition partition = left_uneven_partition(ranks.size, 40);
    for (enum precision precision = PRECISION_SINGLE; precision <= best_precision(); precision++) {
        check(&partition, 5, 0, precision);
        check(&partition, 300, 2, precision); /* more columns than a group has items */
        check(&partition, 33, 7, precision);
    }
}

/* Another rank is late each time, before or after it has gathered: a rank that did not wait for it, or wrote
 * where it still reads, would get or leave values of another round. */
TEST(every_round_has_its_own_values)
{
    enum { ROUNDS = 60, LATE = 2000 /* microseconds */ };
    struct partition partition = test_partition(ranks.size, (uint32_t)(ranks.size * 3 + 1));
    struct scene scene = scene_create(&partition, 7, 2, PRECISION_SINGLE);
    for (int round = 0; round < ROUNDS; round++) {
        scene.left.round = round;
        leave(&scene);
        if (round % (2 * ranks.size) == ranks.rank)
            usleep(LATE);
        void *sums = gather_with(&scene, scene.gather[0], 1, 0);
        if (round % (2 * ranks.size) == ranks.size + ranks.rank)
            usleep(LATE);
        for (size_t n = 0; n < grid_cells(&scene.left.box); n++)
            assert_near(left_load(PRECISION_SINGLE, sums, n),
                        left_expected(&scene.left, (uint32_t)(n / scene.columns), n % scene.columns), 0);
    }
    device_close(&scene.owner);
}

TEST(memory_is_shared_where_all_ranks_are_of_one_machine)
{
    struct partition partition = test_partition(ranks.size, 12);
    const struct left_rows left = left_rows_make(&partition, 4, 2, PRECISION_SINGLE);
    struct device *owner = NULL;
    assert_ok(device_branch(device, &owner));
    struct gather *gather = make_gather(owner, &left, &ranks, GATHER_AUTO);
    assert_int_equal(gather_transport(gather), GATHER_SHARED);
    struct communicator two_machines = ranks;
    two_machines.local_size = ranks.size + 1;
    gather = make_gather(owner, &left, &two_machines, GATHER_AUTO);
    assert_int_equal(gather_transport(gather), GATHER_MESSAGES);
    device_close(&owner);
}

/* ---- shared memory ---- */

/* Lines of /proc/self/maps that name shared memory of this program. */
static int mapped_pieces(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    char line[1024];
    int pieces = 0;
    while (fgets(line, sizeof line, maps))
        pieces += strstr(line, "/radixpic.") != NULL;
    fclose(maps);
    return pieces;
}

TEST(ranks_see_one_memory_without_a_name)
{
    struct device *owner = NULL;
    struct shared_memory shared;
    assert_ok(device_branch(device, &owner));
    assert_int_equal(mapped_pieces(), 0);
    assert_ok(shared_memory_create(&ranks, owner, (size_t)ranks.size * sizeof(int), &shared));
    int *numbers = (int *)shared.memory;
    assert_int_equal(numbers[ranks.rank], 0);
    numbers[ranks.rank] = 10 + ranks.rank;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int rank = 0; rank < ranks.size; rank++)
        assert_int_equal(numbers[rank], 10 + rank);
    assert_int_equal(mapped_pieces(), 1);
    char name[64];
    snprintf(name, sizeof name, "ls /dev/shm | grep -q '^radixpic[.]%ld[.]'", (long)getpid());
    assert_int_not_equal(system(name), 0);
    device_close(&owner);
    assert_int_equal(mapped_pieces(), 0);
}

TEST(memory_that_cannot_be_had_is_a_failure_of_all)
{
    struct shared_memory shared;
    const size_t too_much = (size_t)1 << 60;
    assert_fails(shared_memory_create(&ranks, device, too_much, &shared), "all ranks share");
    assert_null(shared.memory);
    device_refuses = ranks.rank == ranks.size - 1;
    assert_fails(shared_memory_create(&ranks, device, 1, &shared), "all ranks share");
    device_refuses = false;
    assert_int_equal(mapped_pieces(), 0);
    ranks_see_one_memory_without_a_name(NULL);
}

TEST(without_shared_memory_a_gather_sends_messages)
{
    struct partition partition = left_uneven_partition(ranks.size, 40);
    struct scene scene = scene_create(&partition, 7, 2, PRECISION_SINGLE);
    device_refuses = ranks.rank == ranks.size - 1;
    scene.gather[0] = make_gather(scene.owner, &scene.left, &ranks, GATHER_AUTO);
    device_refuses = false;
    assert_int_equal(gather_transport(scene.gather[0]), GATHER_MESSAGES);
    check_sums(&scene);
    device_close(&scene.owner);
}

MPI_TEST_MAIN(open_device, close_device)
