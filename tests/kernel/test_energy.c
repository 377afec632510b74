/* Energy: the sums of the fields against sums in long double on the host. */
#include "field/energy.h"
#include "support/sorted_particles.h"

#include "support/device_fixture.h"

/* Random numbers from 0.1 on, all of one sign: the worst case for a sum. Without spread they are equal, and
 * so are the rounding errors of a long sum. */
static double *upload_random(struct buffer *buffer, enum precision precision, uint32_t count, double spread,
                             uint64_t seed)
{
    double *numbers = test_array(count, sizeof *numbers);
    for (uint32_t n = 0; n < count; n++)
        numbers[n] = test_rounded(precision, 0.1 + spread * test_random(&seed));
    assert_ok(buffer_write_reals(buffer, precision, 0, count, numbers));
    return numbers;
}

static void check_grid(uint32_t nx, uint32_t ny, enum precision precision, double spread)
{
    const struct grid grid =
        grid_make(&(struct grid_config){.cells = {nx, ny}, .length = {0.4 * nx, 0.7 * ny}});
    const uint32_t nodes = grid_cells(&grid);
    struct fields fields;
    struct energy *energy = NULL;
    const struct followed_modes no_modes = {.grid = grid};
    struct field_sums sums[2];
    assert_ok(fields_create(device, &grid, precision, SOLVER_ELECTROSTATIC, &fields));
    assert_ok(energy_create(device, &grid, precision, &(struct fields_config){.solver = SOLVER_ELECTROSTATIC},
                            &no_modes, &energy));
    double *ex = upload_random(field_component(&fields, FIELD_E, 0), precision, nodes, spread, 1);
    double *ey = upload_random(field_component(&fields, FIELD_E, 1), precision, nodes, spread, 2);
    double *rho = upload_random(field_component(&fields, FIELD_RHO, 0), precision, nodes, spread, 3);
    long double square = 0, charge = 0;
    for (uint32_t n = 0; n < nodes; n++) {
        square += (long double)ex[n] * (long double)ex[n] + (long double)ey[n] * (long double)ey[n];
        charge += (long double)rho[n];
    }
    const double field_energy = (double)square / 2 * grid.dx * grid.dy;
    const double total_charge = (double)charge * grid.dx * grid.dy;
    for (uint32_t n = 0; n < 2; n++) {
        assert_ok(energy_measure(energy, &fields, SUM_SLOTS - 2 + n));
        assert_ok(energy_read(energy, SUM_SLOTS - 2, n + 1));
        sums[n] = energy_sums(energy, SUM_SLOTS - 2 + n, NULL, NULL);
    }
    /* a block of 32 plain additions, at worst 16 epsilon, and a few roundings more; on the host up to 1,024
     * plain additions of the sums of groups in double precision */
    const double relative = 24 * test_epsilon(precision) + 1024 * test_epsilon(PRECISION_DOUBLE) / 2;
    assert_near(sums[0].field_energy, field_energy, relative * field_energy);
    assert_near(sums[0].charge, total_charge, relative * total_charge);
    assert_memory_equal(&sums[0], &sums[1], sizeof sums[0]);
}

TEST(matches_the_host)
{
    for (int precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++) {
        if (!has_precision((enum precision)precision))
            continue;
        check_grid(2, 2, (enum precision)precision, 1);
        check_grid(3, 5, (enum precision)precision, 1);
        check_grid(32, 32, (enum precision)precision, 1);
        check_grid(37, test_count(1021), (enum precision)precision, 1);
        check_grid(test_count(512), 256, (enum precision)precision, 1);
        check_grid(test_count(512), 1024, (enum precision)precision, 0);
    }
}

TEST_MAIN(open_device, close_device)
