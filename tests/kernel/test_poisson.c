/* Poisson: every mode of a small grid against its formula, random densities against Gauss's law. */
#include "support/device_fixture.h"

#include "device/internal.h"
#include "field/energy.h"
#include "field/poisson.h"
#include "support/field_support.h"

/* Even and odd, never square in cells or lengths. */
static const uint32_t grids[][2] = {{8, 6}, {7, 5}, {2, 2}, {48, 20}};
enum { GRIDS = sizeof grids / sizeof grids[0] };

static const enum gradient_kind gradients[] = {GRADIENT_SPECTRAL, GRADIENT_CENTRED};

struct bench {
    struct grid grid;
    enum precision precision;
    enum gradient_kind gradient;
    size_t cells;
    struct poisson *poisson;
    struct fields fields;
    double *phi, *ex, *ey; /* of the last solve() */
};

static struct bench bench_create(const uint32_t cells[2], enum precision precision,
                                 enum transform_library library, enum gradient_kind gradient, bool as_gpu)
{
    struct bench b = {.precision = precision, .gradient = gradient};
    b.grid = field_grid(cells[0], cells[1], 3.0, 5.0);
    b.cells = grid_cells(&b.grid);
    const bool is_cpu = device->core->info.is_cpu;
    device->core->info.is_cpu = is_cpu && !as_gpu; /* items of a group share the work of a row */
    assert_ok(poisson_create(device, &b.grid, precision, SOLVER_ELECTROSTATIC, library, gradient, NULL,
                             &b.poisson));
    device->core->info.is_cpu = is_cpu;
    assert_ok(fields_create(device, &b.grid, precision, SOLVER_ELECTROSTATIC, &b.fields));
    return b;
}

/* The results begin as not-a-number: every node must be written. */
static void solve(struct bench *b, const double *rho)
{
    assert_ok(buffer_write_reals(field_component(&b->fields, FIELD_RHO, 0), b->precision, 0, b->cells, rho));
    assert_ok(buffer_fill(field_component(&b->fields, FIELD_PHI, 0), UINT32_MAX));
    assert_ok(buffer_fill(field_component(&b->fields, FIELD_E, 0), UINT32_MAX));
    assert_ok(buffer_fill(field_component(&b->fields, FIELD_E, 1), UINT32_MAX));
    assert_ok(poisson_solve(b->poisson, &b->fields));
    assert_ok(poisson_potential(b->poisson, &b->fields));
    b->phi = field_read(field_component(&b->fields, FIELD_PHI, 0), b->precision, b->cells);
    b->ex = field_read(field_component(&b->fields, FIELD_E, 0), b->precision, b->cells);
    b->ey = field_read(field_component(&b->fields, FIELD_E, 1), b->precision, b->cells);
}

/* Every grid with all libraries and none, precisions and gradients, made once. VkFFT's kernels take a CPU
 * long to compile, so there each grid has one precision and one gradient with it, together all pairs of them;
 * with these, none is as on a GPU. */
static const enum transform_library ways[] = {TRANSFORMS_VKFFT, TRANSFORMS_FFTW, TRANSFORMS_NONE};
enum { WAYS = sizeof ways / sizeof ways[0] };
static struct bench benches[4 * WAYS * GRIDS];
static int bench_count;

/* A test of each of them. */
#define TEST_EVERY(name)                                                                                     \
    static void check_##name(struct bench *b);                                                               \
    TEST(name)                                                                                               \
    {                                                                                                        \
        for (int n = 0; n < bench_count; n++)                                                                \
            check_##name(&benches[n]);                                                                       \
    }                                                                                                        \
    static void check_##name(struct bench *b)

/* m beyond n/2 stands for m - n. */
static double wave_number(uint32_t m, uint32_t n, double length)
{
    return 2 * M_PI / length * (2 * m <= n ? (double)m : (double)m - (double)n);
}

/* The round-off of numbers up to 1 lands in every mode and the longest wave enlarges it most, by 1/k^2 in
 * phi and 1/k in E; a centred difference adds that of phi over dx. A few roundings on the way: 16. */
static double phi_tolerance(const struct bench *b)
{
    const double k = 2 * M_PI / fmax(b->grid.lx, b->grid.ly);
    return 16 * test_epsilon(b->precision) / (k * k);
}

static double field_tolerance(const struct bench *b)
{
    const double k = 2 * M_PI / fmax(b->grid.lx, b->grid.ly);
    return phi_tolerance(b) * (b->gradient == GRADIENT_SPECTRAL ? k : 1 / fmin(b->grid.dx, b->grid.dy));
}

/* -d/dx of cos(theta) is slope * sin(theta): k itself, and 0 at the Nyquist mode, or sin(k dx)/dx. */
static double slope(const struct bench *b, uint32_t m, uint32_t n, double length)
{
    const double k = wave_number(m, n, length);
    if (2 * m == n)
        return 0.0;
    return b->gradient == GRADIENT_SPECTRAL ? k : sin(k * length / n) / (length / n);
}

static void check_mode(struct bench *b, uint32_t mx, uint32_t my)
{
    const struct grid *grid = &b->grid;
    double *rho = field_wave(grid, mx, my, 0.4);
    double *quarter_later = field_wave(grid, mx, my, 0.4 + M_PI / 2); /* sin where rho is cos */
    solve(b, rho);
    const double kx = wave_number(mx, grid->nx, grid->lx), ky = wave_number(my, grid->ny, grid->ly);
    const double k2 = kx * kx + ky * ky;
    const double amplitude = k2 > 0 ? 1 / k2 : 0.0;
    const double slope_x = slope(b, mx, grid->nx, grid->lx), slope_y = slope(b, my, grid->ny, grid->ly);
    for (size_t n = 0; n < b->cells; n++) {
        assert_near(b->phi[n], amplitude * rho[n], phi_tolerance(b));
        assert_near(b->ex[n], amplitude * slope_x * quarter_later[n], field_tolerance(b));
        assert_near(b->ey[n], amplitude * slope_y * quarter_later[n], field_tolerance(b));
    }
}

TEST_EVERY(every_mode_follows_its_formula)
{
    if (b->cells > 100) /* the random densities below hold all modes of the larger grid at once */
        return;
    for (uint32_t mx = 0; mx < b->grid.nx; mx++)
        for (uint32_t my = 0; my < b->grid.ny; my++)
            check_mode(b, mx, my);
}

/* Poisson's equation for every mode, k^2 phi_k = rho_k, and Gauss's law, i k . E_k = rho_k, where the
 * gradient is the spectral one and has no Nyquist part: all by sums written out, which are nx ny times as
 * large. */
TEST_EVERY(random_densities_obey_gauss)
{
    const struct grid *grid = &b->grid;
    double *rho = field_random(b->cells);
    solve(b, rho);
    /* a mode of the density is about sqrt(nx ny / 3); phi_k and E_k are its quotient, with a few roundings */
    const double tolerance = 16 * test_epsilon(b->precision) * sqrt((double)b->cells);
    for (uint32_t mx = 0; mx < grid->nx; mx++)
        for (uint32_t my = 0; my <= grid->ny / 2; my++) {
            const double kx = wave_number(mx, grid->nx, grid->lx), ky = wave_number(my, grid->ny, grid->ly);
            const double k2 = kx * kx + ky * ky;
            double rho_mode[2], phi_mode[2], ex_mode[2], ey_mode[2];
            field_direct_mode(grid, rho, mx, my, rho_mode);
            field_direct_mode(grid, b->phi, mx, my, phi_mode);
            const double k2_roundings = 1 + k2 / pow(2 * M_PI / grid->ly, 2);
            if (k2 > 0) {
                assert_near(k2 * phi_mode[0], rho_mode[0], tolerance * k2_roundings);
                assert_near(k2 * phi_mode[1], rho_mode[1], tolerance * k2_roundings);
            } else {
                assert_near(phi_mode[0], 0.0, phi_tolerance(b) * sqrt((double)b->cells));
            }
            if (b->gradient == GRADIENT_CENTRED || k2 <= 0 || 2 * mx == grid->nx || 2 * my == grid->ny)
                continue;
            field_direct_mode(grid, b->ex, mx, my, ex_mode);
            field_direct_mode(grid, b->ey, mx, my, ey_mode);
            assert_near(-kx * ex_mode[1] - ky * ey_mode[1], rho_mode[0], tolerance * sqrt(k2_roundings));
            assert_near(kx * ex_mode[0] + ky * ey_mode[0], rho_mode[1], tolerance * sqrt(k2_roundings));
        }
}

/* A second solve gives the same bits, keeps rho, and leaves phi alone where it does not need it; asking for
 * phi had changed neither ex nor ey. */
TEST_EVERY(solving_again_gives_the_same_bits)
{
    double *rho = field_random(b->cells), *mark = field_numbers(b->cells);
    solve(b, rho);
    for (size_t n = 0; n < b->cells; n++)
        mark[n] = 12345; /* what no potential of densities up to 1 is */
    assert_ok(buffer_write_reals(field_component(&b->fields, FIELD_PHI, 0), b->precision, 0, b->cells, mark));
    assert_ok(poisson_solve(b->poisson, &b->fields));
    struct buffer *const found[] = {
        field_component(&b->fields, FIELD_RHO, 0), field_component(&b->fields, FIELD_PHI, 0),
        field_component(&b->fields, FIELD_E, 0), field_component(&b->fields, FIELD_E, 1)};
    const bool sets_phi = b->gradient == GRADIENT_CENTRED && !b->poisson->response;
    const double *const expected[] = {rho, sets_phi ? b->phi : mark, b->ex, b->ey};
    for (int n = 0; n < 4; n++)
        assert_memory_equal(field_read(found[n], b->precision, b->cells), expected[n],
                            b->cells * sizeof *rho);
}

/* A solve's modes of rho and E, of all wave numbers and both signs, against their formula. */
TEST_EVERY(modes_of_both_signs_can_be_read)
{
    double *rho = field_random(b->cells);
    uint32_t count;
    const int32_t(*wanted)[2] = field_all_modes(&b->grid, &count);
    double(*modes)[2] = test_array(count, sizeof *modes);
    mode_of_fields *fields = test_array(count, sizeof *fields);
    struct followed_modes all = {
        .count = count, .wanted = wanted, .gradient = b->gradient, .has_fields = true};
    struct energy *energy = NULL;
    assert_ok(poisson_follow(b->poisson, NULL, &all));
    solve(b, rho);
    assert_ok(energy_create(device, &b->grid, b->precision,
                            &(struct fields_config){.solver = SOLVER_ELECTROSTATIC}, &all, &energy));
    assert_ok(energy_measure(energy, &b->fields, 3));
    assert_ok(energy_read(energy, 3, 1));
    (void)energy_sums(energy, 3, modes, fields);
    const double tolerance =
        16 * test_epsilon(b->precision) / sqrt((double)b->cells); /* as for the transform */
    const size_t stride = sizeof *fields / sizeof(double);
    field_check_modes(&b->grid, rho, count, wanted, modes[0], 2, tolerance);
    field_check_modes(&b->grid, b->ex, count, wanted, fields[0][0], stride, tolerance);
    field_check_modes(&b->grid, b->ey, count, wanted, fields[0][1], stride, tolerance);
}

/* One entry of the field stage a solve: reals and modes of each transform, modes in and out of the kernel;
 * of a sum over nodes, a transform for the modes that the last test follows. */
TEST_EVERY(a_solve_is_timed_as_one)
{
    const uint64_t nodes = b->cells * precision_bytes(b->precision);
    const uint64_t modes = (uint64_t)b->grid.nx * (b->grid.ny / 2 + 1) * 2 * precision_bytes(b->precision);
    const uint64_t transform = nodes + 3 * modes;
    const bool spectral = b->gradient == GRADIENT_SPECTRAL, direct = b->poisson->response != NULL;
    const struct stage_time *field = &device_timers(device)->stages[STAGE_FIELD];
    device_reset_timers(device);
    assert_ok(poisson_solve(b->poisson, &b->fields));
    (void)device_timers(device);
    assert_int_equal(field->launches, 1);
    assert_int_equal(field->bytes, direct     ? 5 * nodes + transform
                                   : spectral ? 3 * (transform + modes)
                                              : 2 * (transform + modes) + 3 * nodes);
    assert_true(field->seconds > 0.0);
    device_reset_timers(device);
    assert_ok(poisson_potential(b->poisson, &b->fields));
    (void)device_timers(device);
    assert_int_equal(field->launches, spectral || direct ? 1 : 0);
    assert_int_equal(field->bytes, spectral || direct ? transform + 2 * modes : 0);
}

static int open_benches(void **state)
{
    if (open_device(state) != 0)
        return -1;
    for (int grid = 0; grid < GRIDS; grid++)
        for (int way = 0; way < WAYS; way++) {
            test_optimise(ways[way] != TRANSFORMS_VKFFT);
            for (int p = 0; p < 2; p++)
                for (int g = 0; g < 2; g++)
                    if (ways[way] != TRANSFORMS_VKFFT || !device_info(device)->is_cpu || grid == p + 2 * g)
                        benches[bench_count++] =
                            bench_create(grids[grid], field_precisions[p], ways[way], gradients[g],
                                         ways[way] == TRANSFORMS_NONE && grid == p + 2 * g);
        }
    return 0;
}

TEST_MAIN(open_benches, close_device)
