/* Slab solver: random densities, which hold all modes, against the filter and solver of one device, which
 * tests/kernel/test_filter.c and test_poisson.c hold against formulae; for any share of the rows. */
#include "support/mpi_support.h"

#include "field/filter.h"
#include "field/poisson.h"
#include "field/slab_solver.h"
#include "support/device_fixture.h"
#include "support/field_support.h"

enum { MOST_PASSES = 3 };

/* Even and odd, as few rows as ranks, fewer modes along y than ranks; and larger ones. */
static const uint32_t grids[][2] = {{2, 2}, {2, 5},   {3, 3},   {4, 2},   {5, 3},  {7, 6},
                                    {8, 5}, {48, 20}, {31, 33}, {6, 250}, {129, 4}};
enum { GRIDS = sizeof grids / sizeof grids[0] };

/* No rank may be without a row. */
static bool has_rows(const uint32_t cells[2])
{
    return cells[0] >= (uint32_t)ranks.size;
}

/* ---- who has which rows ---- */

enum shares { EVEN, FIRST_HAS_MOST, LAST_HAS_MOST, SHARES };

static struct partition divide(enum shares shares, uint32_t rows)
{
    struct partition partition = test_partition(ranks.size, rows);
    for (int rank = 1; rank < ranks.size; rank++) {
        if (shares == FIRST_HAS_MOST)
            partition.first[rank] = rows - (uint32_t)(ranks.size - rank);
        if (shares == LAST_HAS_MOST)
            partition.first[rank] = (uint32_t)rank;
    }
    return partition;
}

/* ---- the solver under test ---- */

/* Values of nodes: of the whole box, or of the rows of this rank. */
struct solution {
    double *rho, *phi, *ex, *ey;
};

struct scene {
    struct grid grid;
    struct partition partition;
    size_t begin, nodes; /* of the own rows, in the box */
    enum gradient_kind gradient;
    uint32_t passes;
    struct slab_solver *solver;
};

static struct scene scene_create(const uint32_t cells[2], enum shares shares, enum gradient_kind gradient,
                                 uint32_t passes)
{
    struct scene scene = {.grid = field_grid(cells[0], cells[1], 3.0, 5.0),
                          .partition = divide(shares, cells[0]),
                          .gradient = gradient,
                          .passes = passes};
    scene.begin = (size_t)scene.partition.first[ranks.rank] * cells[1];
    scene.nodes = (size_t)partition_rows(&scene.partition, ranks.rank) * cells[1];
    const struct slab slab = slab_whole_box(&scene.grid);
    const struct rank_place place = {device, &ranks, &scene.partition, &slab, 0, PRECISION_DOUBLE};
    assert_ok(slab_solver_create(&place, gradient, passes, &scene.solver));
    return scene;
}

/* The results begin as not-a-number: every node must be written. */
static double *unset_numbers(size_t count)
{
    double *numbers = field_numbers(count);
    for (size_t n = 0; n < count; n++)
        numbers[n] = NAN;
    return numbers;
}

/* rho: of the whole box. */
static struct solution solve(const struct scene *scene, const double *rho)
{
    const size_t nodes = scene->nodes;
    struct solution own = {field_numbers(nodes), unset_numbers(nodes), unset_numbers(nodes),
                           unset_numbers(nodes)};
    memcpy(own.rho, rho + scene->begin, nodes * sizeof *rho);
    slab_solver_solve(scene->solver, own.rho, own.ex, own.ey);
    slab_solver_potential(scene->solver, own.phi);
    return own;
}

/* Random numbers of the size of 1 beside a uniform background. */
static double *random_density(const struct grid *grid)
{
    double *rho = field_random(grid_cells(grid));
    for (size_t n = 0; n < grid_cells(grid); n++)
        rho[n] -= 2.0;
    return rho;
}

/* The longest wave enlarges a density of the size of 1 most, by 1/k^2 in phi and 1/k in E. Of that 10^-13
 * leaves room for a few hundred roundings, of which there are some ten a node, and each in its place. */
static void check_solution(const struct scene *scene, const struct solution *own, const struct solution *box)
{
    const double k = 2 * M_PI / fmax(scene->grid.lx, scene->grid.ly), tolerance = 1e-13;
    for (size_t n = 0; n < scene->nodes; n++) {
        assert_near(own->rho[n], box->rho[scene->begin + n], tolerance);
        assert_near(own->phi[n], box->phi[scene->begin + n], tolerance / (k * k));
        assert_near(own->ex[n], box->ex[scene->begin + n], tolerance / k);
        assert_near(own->ey[n], box->ey[scene->begin + n], tolerance / k);
    }
}

/* ---- the same on one device ---- */

static struct solution solve_on_device(const struct scene *scene, const double *rho)
{
    const size_t cells = grid_cells(&scene->grid);
    struct fields fields;
    struct filter *filter = NULL;
    struct poisson *poisson = NULL;
    assert_ok(fields_create(device, &scene->grid, PRECISION_DOUBLE, SOLVER_ELECTROSTATIC, &fields));
    assert_ok(filter_create(device, &scene->grid, PRECISION_DOUBLE, NULL, &filter));
    assert_ok(poisson_create(device, &scene->grid, PRECISION_DOUBLE, SOLVER_ELECTROSTATIC, TRANSFORMS_AUTO,
                             scene->gradient, &poisson));
    assert_ok(buffer_write_reals(field_component(&fields, FIELD_RHO, 0), PRECISION_DOUBLE, 0, cells, rho));
    assert_ok(filter_apply(filter, scene->passes, field_component(&fields, FIELD_RHO, 0)));
    assert_ok(poisson_solve(poisson, &fields));
    assert_ok(poisson_potential(poisson, &fields));
    return (struct solution){field_read(field_component(&fields, FIELD_RHO, 0), PRECISION_DOUBLE, cells),
                             field_read(field_component(&fields, FIELD_PHI, 0), PRECISION_DOUBLE, cells),
                             field_read(field_component(&fields, FIELD_E, 0), PRECISION_DOUBLE, cells),
                             field_read(field_component(&fields, FIELD_E, 1), PRECISION_DOUBLE, cells)};
}

/* ---- tests ---- */

static void check_field(const uint32_t cells[2], enum gradient_kind gradient, uint32_t passes)
{
    struct solution box = {0}; /* the same for all shares */
    for (int shares = 0; shares < SHARES; shares++) {
        struct scene scene = scene_create(cells, (enum shares)shares, gradient, passes);
        double *rho = random_density(&scene.grid);
        if (!box.rho)
            box = solve_on_device(&scene, rho);
        struct solution own = solve(&scene, rho);
        check_solution(&scene, &own, &box);
        if (passes == 0)
            assert_memory_equal(own.rho, rho + scene.begin, scene.nodes * sizeof *rho);
    }
}

TEST(the_field_is_that_of_one_device)
{
    for (size_t grid = 0; grid < GRIDS; grid++)
        for (uint32_t passes = 0; passes <= MOST_PASSES && has_rows(grids[grid]); passes++) {
            check_field(grids[grid], GRADIENT_SPECTRAL, passes);
            check_field(grids[grid], GRADIENT_CENTRED, passes);
        }
}

/* Of the same solver, with other work between, and of another one. */
TEST(solving_again_gives_the_same_bits)
{
    for (size_t grid = 0; grid < GRIDS; grid++) {
        if (!has_rows(grids[grid]))
            continue;
        struct scene scenes[2];
        for (int s = 0; s < 2; s++)
            scenes[s] = scene_create(grids[grid], LAST_HAS_MOST, GRADIENT_SPECTRAL, 1);
        double *rho = random_density(&scenes[0].grid);
        const struct solution first = solve(&scenes[0], rho);
        (void)solve(&scenes[0], field_wave(&scenes[0].grid, 1, 1, 0.4));
        for (int s = 0; s < 2; s++) {
            const struct solution again = solve(&scenes[s], rho);
            double *const found[] = {again.rho, again.phi, again.ex, again.ey};
            double *const expected[] = {first.rho, first.phi, first.ex, first.ey};
            for (int n = 0; n < 4; n++)
                assert_memory_equal(found[n], expected[n], scenes[0].nodes * sizeof *rho);
        }
    }
}

TEST(modes_of_both_signs_can_be_read_on_every_rank)
{
    for (size_t grid = 0; grid < GRIDS; grid++)
        for (uint32_t passes = 0; passes <= 1; passes++) {
            uint32_t count;
            if (!has_rows(grids[grid]) || grids[grid][0] * grids[grid][1] > 100)
                continue;
            struct scene scene = scene_create(grids[grid], FIRST_HAS_MOST, GRADIENT_CENTRED, passes);
            const double *rho = random_density(&scene.grid);
            const struct solution box = solve_on_device(&scene, rho);
            const int32_t(*wanted)[2] = field_all_modes(&scene.grid, &count);
            double *modes = unset_numbers(2 * (size_t)count);
            (void)solve(&scene, rho);
            slab_solver_read_modes(scene.solver, count, wanted, modes);
            field_check_modes(&scene.grid, box.rho, count, wanted, modes,
                              1e-14 /* a few roundings of numbers of the size of 1 */);
            slab_solver_read_modes(scene.solver, 0, NULL, NULL);
        }
}

MPI_TEST_MAIN(open_device, close_device)
