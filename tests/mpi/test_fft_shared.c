/* Shared transforms: random densities, which hold all modes, against the filter and solver of one device,
 * which tests/kernel/test_filter.c and test_poisson.c hold against formulae; for any share of the rows, with
 * shared memory and with messages.
 */
#include "support/mpi_support.h"

#include "base/integers.h"
#include "field/field_solver.h"
#include "field/filter.h"
#include "field/poisson.h"
#include "support/device_fixture.h"
#include "support/field_support.h"
#include "support/left_rows.h"

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

/* ---- rows of ranks ---- */

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

/* How a solution is found; the same of a box and of its shares. */
struct setup {
    enum precision precision;
    enum transform_library library;
    enum gradient_kind gradient;
    struct deposit_config deposit; /* its filter */
};

struct scene {
    struct grid grid;
    struct partition *partition;
    struct left_rows left;
    struct slab slab; /* of this rank */
    struct setup setup;
    struct device *owner;
    struct fields fields;
    struct poisson *poisson;
};

/* Slabs are whole, or have two ghost rows on a side. A part of a byte makes as many parts as there can be. */
static struct scene scene_create(const uint32_t cells[2], enum shares shares, enum gather_transport way,
                                 struct setup setup)
{
    struct scene scene = {.grid = field_grid(cells[0], cells[1], 3.0, 5.0),
                          .partition = test_array(1, sizeof *scene.partition),
                          .setup = setup};
    *scene.partition = divide(shares, cells[0]);
    const uint32_t ghost = shares == EVEN ? 0 : 2;
    scene.left = left_rows_make(scene.partition, cells[1], ghost, setup.precision);
    scene.left.box = scene.grid;
    scene.slab = left_rows_slab(&scene.left, ranks.rank);
    assert_ok(device_branch(device, &scene.owner));
    const struct rank_place place = {scene.owner, &ranks, scene.partition,
                                     &scene.slab, ghost,  setup.precision};
    const struct sharing sharing = {&place, way, shares == FIRST_HAS_MOST ? FFT_PART_BYTES : 1,
                                    &setup.deposit};
    assert_ok(
        fields_create(scene.owner, &scene.slab.local, setup.precision, SOLVER_ELECTROSTATIC, &scene.fields));
    assert_ok(poisson_create(scene.owner, &scene.grid, setup.precision, SOLVER_ELECTROSTATIC, setup.library,
                             setup.gradient, &sharing, &scene.poisson));
    return scene;
}

static struct buffer *rho_of(const struct scene *scene)
{
    return field_component(&scene->fields, FIELD_RHO, 0);
}

/* How many ranks reach a row from beside it. */
static uint32_t reached_from_beside(const struct scene *scene, uint32_t row)
{
    uint32_t count = 0;
    for (int rank = 0; rank < ranks.size; rank++) {
        const struct slab slab = left_rows_slab(&scene->left, rank);
        for (uint32_t local = slab.rows; local < slab.local.nx; local++)
            count += left_beside(&slab, local, row);
    }
    return count;
}

/* On each node rho, of the whole box, over all ranks: what is beside others they leave, 1/8 each. The rest of
 * the fields begins as not-a-number: every node must be written. */
static void leave(struct scene *scene, const double *rho)
{
    const struct slab *slab = &scene->slab;
    const uint32_t ny = slab->box.ny;
    const size_t cells = grid_cells(&slab->local);
    double *local = field_numbers(cells);
    for (uint32_t i = 0; i < slab->local.nx; i++) {
        const bool is_own = i < slab->rows;
        if (!slab_is_whole(slab) && slab_is_lost(slab, i))
            continue;
        const uint32_t row = slab_global_row(slab, i);
        const double part =
            is_own ? 1 - reached_from_beside(scene, row) / 8.0 : (left_beside(slab, i, row) ? 1 / 8.0 : 0);
        for (uint32_t j = 0; j < ny; j++)
            local[i * ny + j] = part * rho[row * ny + j];
    }
    assert_ok(buffer_fill(scene->fields.all, 0xffffffff));
    assert_ok(buffer_write_reals(rho_of(scene), scene->setup.precision, 0, cells, local));
}

static void solve(struct scene *scene, const double *rho)
{
    leave(scene, rho);
    assert_ok(poisson_solve(scene->poisson, &scene->fields));
    assert_ok(poisson_potential(scene->poisson, &scene->fields));
}

/* Random numbers of the size of 1 beside a uniform background. */
static double *random_density(const struct grid *grid)
{
    double *rho = field_random(grid_cells(grid));
    for (size_t n = 0; n < grid_cells(grid); n++)
        rho[n] -= 2.0;
    return rho;
}

/* ---- the same on one device ---- */

/* Values of the nodes of the whole box: ex, ey, phi, rho. */
enum { VALUES = 4 };
struct solution {
    double *of[VALUES];
};

static struct solution solve_on_device(const struct grid *grid, struct setup setup, const double *rho)
{
    const size_t cells = grid_cells(grid);
    struct solution solution;
    struct fields fields;
    struct filter *filter = NULL;
    struct poisson *poisson = NULL;
    struct device *owner = NULL;
    assert_ok(device_branch(device, &owner));
    assert_ok(fields_create(owner, grid, PRECISION_DOUBLE, SOLVER_ELECTROSTATIC, &fields));
    assert_ok(filter_create(owner, grid, PRECISION_DOUBLE, NULL, &filter));
    assert_ok(poisson_create(owner, grid, PRECISION_DOUBLE, SOLVER_ELECTROSTATIC, TRANSFORMS_AUTO,
                             setup.gradient, NULL, &poisson));
    assert_ok(buffer_write_reals(field_component(&fields, FIELD_RHO, 0), PRECISION_DOUBLE, 0, cells, rho));
    assert_ok(filter_apply(filter, &setup.deposit, field_component(&fields, FIELD_RHO, 0)));
    assert_ok(poisson_solve(poisson, &fields));
    assert_ok(poisson_potential(poisson, &fields));
    for (int n = 0; n < VALUES; n++)
        solution.of[n] = field_read(fields.component[n], PRECISION_DOUBLE, cells);
    device_close(&owner);
    return solution;
}

/* The longest wave enlarges a density of the size of 1 most, by 1/k^2 in phi and 1/k in E. Of that 450
 * roundings leave room for those of which there are some ten a node, and each in its place. E is there on the
 * rows beside the own ones, too. */
static void check_solution(const struct scene *scene, const struct solution *box)
{
    const struct slab *slab = &scene->slab;
    const uint32_t ny = slab->box.ny, reached = ghost_reached_rows(slab);
    const double k = 2 * M_PI / fmax(scene->grid.lx, scene->grid.ly);
    const double tolerance = scene->setup.precision == PRECISION_DOUBLE ? 1e-13 : 5e-5;
    const double allowed[VALUES] = {tolerance / k, tolerance / k, tolerance / (k * k), tolerance};
    for (int v = 0; v < VALUES; v++) {
        const double *found =
            field_read(scene->fields.component[v], scene->setup.precision, grid_cells(&slab->local));
        for (uint32_t n = 0; n < (v < 2 ? reached : slab->rows); n++) {
            const uint32_t local = ghost_reached_row(slab, n), row = slab_global_row(slab, local);
            for (uint32_t j = 0; j < ny; j++)
                assert_near(found[local * ny + j], box->of[v][row * ny + j], allowed[v]);
        }
    }
}

/* ---- tests ---- */

static void check_field(const uint32_t cells[2], struct setup setup)
{
    const struct grid grid = field_grid(cells[0], cells[1], 3.0, 5.0);
    const double *rho = random_density(&grid);
    const struct solution box = solve_on_device(&grid, setup, rho);
    for (int shares = setup.library == TRANSFORMS_VKFFT ? FIRST_HAS_MOST : EVEN; shares < SHARES; shares++) {
        const enum gather_transport way =
            ((uint32_t)shares + setup.deposit.filter_passes) % 2 ? GATHER_MESSAGES : GATHER_SHARED;
        struct scene scene = scene_create(cells, (enum shares)shares, way, setup);
        solve(&scene, rho);
        check_solution(&scene, &box);
        device_close(&scene.owner);
    }
}

TEST(the_field_is_that_of_one_device)
{
    for (size_t grid = 0; grid < GRIDS; grid++)
        for (uint32_t passes = 0; passes <= MOST_PASSES && has_rows(grids[grid]); passes++) {
            const bool is_double = (grid + passes) % 2;
            check_field(grids[grid],
                        (struct setup){is_double ? PRECISION_DOUBLE : PRECISION_SINGLE,
                                       TRANSFORMS_FFTW,
                                       is_double && passes > 1 ? GRADIENT_CENTRED : GRADIENT_SPECTRAL,
                                       {.filter_passes = passes, .filter_compensator = passes > 1}});
        }
}

/* As a GPU transforms. Kernels are of their own for each number of rows and columns, so a number of ranks has
 * one grid in one precision, of which rows are shared unequally. */
TEST(the_field_is_that_of_one_device_by_vkfft)
{
    const bool is_odd = ranks.size % 2;
    test_optimise(false);
    check_field(grids[5 + ranks.size % 3], (struct setup){is_odd ? PRECISION_SINGLE : PRECISION_DOUBLE,
                                                          TRANSFORMS_VKFFT,
                                                          GRADIENT_SPECTRAL,
                                                          {.filter_passes = is_odd}});
    test_optimise(true);
}

/* For another rank: modes in one transfer, two arrays of fields in two, as many from it; and beside them rows
 * of nodes, three of charge each way and as many of each field. */
TEST(what_goes_to_a_rank_is_few_transfers)
{
    enum { MODES = 2 + 4, MOST_ROWS = 2 * 3 + 2 * 3 };
    const struct setup setup = {PRECISION_SINGLE, TRANSFORMS_FFTW, GRADIENT_SPECTRAL, {0}};
    const uint32_t cells[2] = {48, 20};
    struct scene scene = scene_create(cells, FIRST_HAS_MOST, GATHER_AUTO, setup);
    solve(&scene, random_density(&scene.grid));
    device_reset_timers(device);
    assert_ok(poisson_solve(scene.poisson, &scene.fields));
    assert_true(device_timers(device)->stages[STAGE_HALO].launches <=
                (uint64_t)(ranks.size - 1) * (MODES + MOST_ROWS + 1));
    device_close(&scene.owner);
}

/* In the order of the ranks, so each bit is known. */
TEST(rows_are_added_that_others_left)
{
    for (size_t grid = 0; grid < GRIDS; grid++)
        for (int shares = 0; shares < SHARES && has_rows(grids[grid]); shares++) {
            const struct setup setup = {
                grid % 2 ? PRECISION_DOUBLE : PRECISION_SINGLE, TRANSFORMS_FFTW, GRADIENT_SPECTRAL, {0}};
            struct scene scene = scene_create(grids[grid], (enum shares)shares, GATHER_AUTO, setup);
            const size_t ny = grids[grid][1], cells = grid_cells(&scene.slab.local);
            double *values = field_numbers(cells);
            for (size_t n = 0; n < cells; n++)
                values[n] = left_there(&scene.left, ranks.rank, (uint32_t)(n / ny), n % ny);
            assert_ok(buffer_write_reals(rho_of(&scene), setup.precision, 0, cells, values));
            assert_ok(poisson_sum(scene.poisson, rho_of(&scene)));
            values = field_read(rho_of(&scene), setup.precision, cells);
            for (uint32_t n = 0; n < slab_own_cells(&scene.slab); n++)
                assert_near(values[n],
                            left_expected(&scene.left, scene.slab.first_row + n / (uint32_t)ny, n % ny), 0);
            device_close(&scene.owner);
        }
}

/* Of the same solver, with other work between, and of another one that sends messages. */
TEST(solving_again_gives_the_same_bits)
{
    for (size_t grid = 0; grid < GRIDS; grid++) {
        if (!has_rows(grids[grid]))
            continue;
        const struct setup setup = {
            PRECISION_DOUBLE, TRANSFORMS_FFTW, GRADIENT_SPECTRAL, {.filter_passes = 1}};
        struct scene scenes[2] = {scene_create(grids[grid], LAST_HAS_MOST, GATHER_SHARED, setup),
                                  scene_create(grids[grid], LAST_HAS_MOST, GATHER_MESSAGES, setup)};
        const struct slab *slab = &scenes[0].slab;
        const double *rho = random_density(&scenes[0].grid);
        double *first[VALUES];
        solve(&scenes[0], rho);
        for (int v = 0; v < VALUES; v++)
            first[v] = field_read(scenes[0].fields.component[v], PRECISION_DOUBLE, slab_own_cells(slab));
        solve(&scenes[0], field_wave(&scenes[0].grid, 1, 1, 0.4));
        for (int s = 0; s < 2; s++) {
            solve(&scenes[s], rho);
            for (int v = 0; v < VALUES; v++)
                assert_memory_equal(
                    field_read(scenes[s].fields.component[v], PRECISION_DOUBLE, slab_own_cells(slab)),
                    first[v], slab_own_cells(slab) * sizeof *rho);
        }
        for (int s = 0; s < 2; s++)
            device_close(&scenes[s].owner);
    }
}

/* By the field solver, as many at a time as a history has. */
TEST(modes_of_both_signs_can_be_read_on_every_rank)
{
    for (size_t grid = 0; grid < GRIDS; grid++) {
        uint32_t count;
        if (!has_rows(grids[grid]) || ranks.size == 1 || grids[grid][0] * grids[grid][1] > 100)
            continue;
        const struct setup setup = {
            PRECISION_DOUBLE, TRANSFORMS_FFTW, GRADIENT_SPECTRAL, {.filter_passes = 1}};
        struct scene scene = scene_create(grids[grid], FIRST_HAS_MOST, GATHER_AUTO, setup);
        const struct rank_place place = {scene.owner, &ranks, scene.partition,
                                         &scene.slab, 2,      setup.precision};
        const double *rho = random_density(&scene.grid);
        const struct solution box = solve_on_device(&scene.grid, setup, rho);
        const int32_t(*wanted)[2] = field_all_modes(&scene.grid, &count);
        struct config config = {.precision = setup.precision, .deposit = setup.deposit};
        for (uint32_t first = 0; first < count; first += CONFIG_MAX_MODES) {
            enum decomposition_kind slabs = DECOMPOSITION_SLABS;
            struct field_solver *solver = NULL;
            struct history_config *history = &config.output.history;
            double(*modes)[2] = test_array(CONFIG_MAX_MODES, sizeof *modes);
            mode_of_fields *fields = test_array(CONFIG_MAX_MODES, sizeof *fields);
            history->mode_fields = (struct field_list){1, {FIELD_E}};
            history->mode_count = at_most(count - first, CONFIG_MAX_MODES);
            memcpy(history->modes, wanted + first, history->mode_count * sizeof *wanted);
            assert_ok(field_solver_create(&place, &config, &slabs, &solver));
            leave(&scene, rho);
            assert_ok(field_solver_solve(solver, &scene.fields, 0));
            assert_ok(field_solver_read_modes(solver, modes, fields));
            const double tolerance = 1e-14; /* a few roundings of numbers of the size of 1 */
            field_check_modes(&scene.grid, box.of[3], history->mode_count, wanted + first, modes[0], 2,
                              tolerance);
            for (int c = 0; c < 2; c++)
                field_check_modes(&scene.grid, box.of[c], history->mode_count, wanted + first, fields[0][c],
                                  sizeof *fields / sizeof(double), tolerance);
        }
        device_close(&scene.owner);
    }
}

MPI_TEST_MAIN(open_device, close_device)
