/* Slab solver: random densities, which hold all modes, against sums written out and against the solver of one
 * device, for any share of the rows. */
#include "support/mpi_support.h"

#include "field/filter.h"
#include "field/poisson.h"
#include "field/slab_solver.h"
#include "support/device_fixture.h"
#include "support/field_support.h"

#include <complex.h>

enum { MOST_PASSES = 3 };

static const enum gradient_kind gradients[] = {GRADIENT_SPECTRAL, GRADIENT_CENTRED};

/* Even and odd, as few rows as ranks, fewer modes along y than ranks. */
static const uint32_t small_grids[][2] = {{2, 2}, {2, 5}, {3, 3}, {4, 2}, {5, 3}, {7, 6}, {8, 5}};
static const uint32_t large_grids[][2] = {{48, 20}, {31, 33}, {6, 250}, {129, 4}};

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

/* rho: of the whole box. The caller frees what comes back. */
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

/* ---- the same by sums written out ---- */

/* Node (i + di, j + dj) around the ring. */
static size_t neighbour(const struct grid *grid, uint32_t i, uint32_t j, int di, int dj)
{
    const uint32_t row = (uint32_t)(i + grid->nx + (uint32_t)di) % grid->nx;
    const uint32_t column = (uint32_t)(j + grid->ny + (uint32_t)dj) % grid->ny;
    return (size_t)row * grid->ny + column;
}

static double *filtered(const struct grid *grid, const double *rho, uint32_t passes)
{
    double *before = field_numbers(grid_cells(grid)), *after = field_numbers(grid_cells(grid));
    memcpy(after, rho, grid_cells(grid) * sizeof *rho);
    for (uint32_t pass = 0; pass < passes; pass++) {
        memcpy(before, after, grid_cells(grid) * sizeof *rho);
        for (uint32_t i = 0; i < grid->nx; i++)
            for (uint32_t j = 0; j < grid->ny; j++) {
                double sum = 0;
                for (int di = -1; di <= 1; di++)
                    for (int dj = -1; dj <= 1; dj++)
                        sum += (2 - abs(di)) * (2 - abs(dj)) * before[neighbour(grid, i, j, di, dj)];
                after[neighbour(grid, i, j, 0, 0)] = sum / 16;
            }
    }
    return after;
}

/* The sum of the waves factor * rho_k on all nodes; `power` of i k_axis is the factor, beside 1/k^2. */
static double *from_modes(const struct grid *grid, const double complex *rho_modes, int axis, int power)
{
    double *sums = field_numbers(grid_cells(grid));
    const uint32_t nx = grid->nx, ny = grid->ny;
    for (uint32_t mode = 1; mode < nx * ny; mode++) {
        const uint32_t m[2] = {mode / ny, mode % ny}, n[2] = {nx, ny};
        double k[2];
        for (int a = 0; a < 2; a++)
            k[a] = 2 * M_PI / (a == 0 ? grid->lx : grid->ly) *
                   (2 * m[a] <= n[a] ? (double)m[a] : (double)m[a] - n[a]);
        if (power == 1 && 2 * m[axis] == n[axis])
            continue; /* the Nyquist mode has no slope on the nodes */
        const double complex factor = (power == 1 ? -I * k[axis] : 1) / (k[0] * k[0] + k[1] * k[1]);
        for (uint32_t node = 0; node < nx * ny; node++) {
            const uint32_t turn = (m[0] * (node / ny) % nx * ny + m[1] * (node % ny) % ny * nx) % (nx * ny);
            const double angle = 2 * M_PI * turn / (nx * ny);
            sums[node] += creal(factor * rho_modes[mode] * (cos(angle) + I * sin(angle))) / (nx * ny);
        }
    }
    return sums;
}

static double *centred_difference(const struct grid *grid, const double *phi, int axis)
{
    double *e = field_numbers(grid_cells(grid));
    const int di = axis == 0, dj = axis == 1;
    for (uint32_t i = 0; i < grid->nx; i++)
        for (uint32_t j = 0; j < grid->ny; j++)
            e[neighbour(grid, i, j, 0, 0)] =
                (phi[neighbour(grid, i, j, -di, -dj)] - phi[neighbour(grid, i, j, di, dj)]) /
                (2 * (axis == 0 ? grid->dx : grid->dy));
    return e;
}

static struct solution solve_by_sums(const struct scene *scene, const double *rho)
{
    const struct grid *grid = &scene->grid;
    struct solution box = {.rho = filtered(grid, rho, scene->passes)};
    double complex *modes = test_array(grid_cells(grid), sizeof *modes);
    for (uint32_t mode = 0; mode < grid_cells(grid); mode++) {
        double parts[2];
        field_direct_mode(grid, box.rho, mode / grid->ny, mode % grid->ny, parts);
        modes[mode] = parts[0] + I * parts[1];
    }
    box.phi = from_modes(grid, modes, 0, 0);
    if (scene->gradient == GRADIENT_SPECTRAL) {
        box.ex = from_modes(grid, modes, 0, 1);
        box.ey = from_modes(grid, modes, 1, 1);
    } else {
        box.ex = centred_difference(grid, box.phi, 0);
        box.ey = centred_difference(grid, box.phi, 1);
    }
    return box;
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
    assert_ok(
        poisson_create(device, &scene->grid, PRECISION_DOUBLE, TRANSFORMS_AUTO, scene->gradient, &poisson));
    assert_ok(buffer_write_reals(field_component(&fields, FIELD_RHO, 0), PRECISION_DOUBLE, 0, cells, rho));
    assert_ok(filter_apply(filter, scene->passes, field_component(&fields, FIELD_RHO, 0)));
    assert_ok(poisson_solve(poisson, &fields));
    assert_ok(poisson_potential(poisson, &fields));
    const struct solution box = {field_read(field_component(&fields, FIELD_RHO, 0), PRECISION_DOUBLE, cells),
                                 field_read(field_component(&fields, FIELD_PHI, 0), PRECISION_DOUBLE, cells),
                                 field_read(field_component(&fields, FIELD_E, 0), PRECISION_DOUBLE, cells),
                                 field_read(field_component(&fields, FIELD_E, 1), PRECISION_DOUBLE, cells)};
    return box;
}

/* ---- tests ---- */

static void check_against(struct solution (*reference)(const struct scene *, const double *),
                          const uint32_t cells[2], uint32_t passes)
{
    for (int g = 0; g < 2; g++) {
        struct solution box = {0}; /* the same for all shares */
        for (int shares = 0; shares < SHARES; shares++) {
            struct scene scene = scene_create(cells, (enum shares)shares, gradients[g], passes);
            double *rho = random_density(&scene.grid);
            if (!box.rho)
                box = reference(&scene, rho);
            struct solution own = solve(&scene, rho);
            check_solution(&scene, &own, &box);
            if (passes == 0)
                assert_memory_equal(own.rho, rho + scene.begin, scene.nodes * sizeof *rho);
        }
    }
}

TEST(every_mode_follows_its_formula)
{
    for (size_t grid = 0; grid < sizeof small_grids / sizeof small_grids[0]; grid++)
        for (uint32_t passes = 0; passes <= MOST_PASSES; passes++)
            if (small_grids[grid][0] >= (uint32_t)ranks.size)
                check_against(solve_by_sums, small_grids[grid], passes);
}

TEST(the_field_is_that_of_one_device)
{
    for (size_t grid = 0; grid < sizeof large_grids / sizeof large_grids[0]; grid++)
        for (uint32_t passes = 0; passes <= MOST_PASSES; passes++)
            check_against(solve_on_device, large_grids[grid], passes);
}

/* Of the same solver, with other work between, and of another one. */
TEST(solving_again_gives_the_same_bits)
{
    for (size_t grid = 0; grid < sizeof large_grids / sizeof large_grids[0]; grid++) {
        struct scene scenes[2];
        for (int s = 0; s < 2; s++)
            scenes[s] = scene_create(large_grids[grid], LAST_HAS_MOST, GRADIENT_SPECTRAL, 1);
        double *rho = random_density(&scenes[0].grid);
        double *other = field_wave(&scenes[0].grid, 1, 1, 0.4);
        struct solution first = solve(&scenes[0], rho);
        (void)solve(&scenes[0], other);
        for (int s = 0; s < 2; s++) {
            struct solution again = solve(&scenes[s], rho);
            const size_t bytes = scenes[0].nodes * sizeof(double);
            assert_memory_equal(again.rho, first.rho, bytes);
            assert_memory_equal(again.phi, first.phi, bytes);
            assert_memory_equal(again.ex, first.ex, bytes);
            assert_memory_equal(again.ey, first.ey, bytes);
        }
    }
}

TEST(modes_of_both_signs_can_be_read_on_every_rank)
{
    uint32_t count;
    for (size_t grid = 0; grid < sizeof small_grids / sizeof small_grids[0]; grid++)
        for (uint32_t passes = 0; passes <= 1; passes++) {
            if (small_grids[grid][0] < (uint32_t)ranks.size)
                continue;
            struct scene scene = scene_create(small_grids[grid], FIRST_HAS_MOST, GRADIENT_CENTRED, passes);
            const double *rho = random_density(&scene.grid);
            const int32_t(*wanted)[2] = field_all_modes(&scene.grid, &count);
            double *modes = unset_numbers(2 * (size_t)count);
            (void)solve(&scene, rho);
            slab_solver_read_modes(scene.solver, count, wanted, modes);
            field_check_modes(&scene.grid, filtered(&scene.grid, rho, passes), count, wanted, modes,
                              1e-14 /* a few roundings of numbers of the size of 1 */);
            slab_solver_read_modes(scene.solver, 0, NULL, NULL);
        }
}

MPI_TEST_MAIN(open_device, close_device)
