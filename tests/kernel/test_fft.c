/* FFT: both libraries in both precisions against sums written out. */
#include "support/device_fixture.h"

#include "field/fft.h"
#include "support/field_support.h"

/* The libraries treat powers of two, products of small primes, primes, and the smallest axes each in
 * a way of its own. VkFFT's kernels take a CPU seconds to compile for each grid, so there only the first
 * grids of each list go through it. */
static const uint32_t short_grids[][2] = {{8, 6}, {7, 5},  {2, 2},  {48, 20}, {17, 19}, {16, 16}, {2, 7},
                                          {5, 2}, {13, 6}, {4, 31}, {12, 34}, {3, 3},   {26, 9}};
enum { SHORT_GRIDS = sizeof short_grids / sizeof short_grids[0], SHORT_GRIDS_ON_CPU = 5 };

/* Long axes take several passes. */
static const uint32_t long_grids[][2] = {{512, 256}, {2, 16384}, {16384, 2},
                                         {2, 8191},  {1009, 3},  {600, 700}};
enum { LONG_GRIDS = sizeof long_grids / sizeof long_grids[0], LONG_GRIDS_ON_CPU = 1 };

struct transform {
    struct grid grid;
    enum precision precision;
    size_t cells, numbers; /* reals in a node array and in a mode array */
    struct fft *fft;
    struct buffer *real, *modes;
    double *f; /* what `real` holds */
};

static struct transform transform_create(const uint32_t cells[2], enum precision precision,
                                         enum solver_kind solver)
{
    struct transform t = {.grid = field_grid(cells[0], cells[1], 1.0, 1.0), .precision = precision};
    t.cells = grid_cells(&t.grid);
    t.numbers = fft_complex_bytes(&t.grid, precision) / precision_bytes(precision);
    assert_ok(fft_create(device, &t.grid, precision, solver, false, &t.fft));
    assert_ok(buffer_create(device, t.cells * precision_bytes(precision), "reals", &t.real));
    assert_ok(buffer_create(device, fft_complex_bytes(&t.grid, precision), "modes", &t.modes));
    t.f = field_random(t.cells);
    assert_ok(buffer_write_reals(t.real, precision, 0, t.cells, t.f));
    return t;
}

/* A transform's error is about epsilon sqrt(log2 N) times the root mean square of its output, sqrt(N/3) here;
 * the largest of N errors, and Bluestein's three longer transforms, are covered by 16. */
static double forward_tolerance(const struct transform *t)
{
    return 16 * field_epsilon(t->precision) * sqrt((double)t->cells);
}

static void check_forward_everywhere(const struct transform *t)
{
    double *modes = field_read(t->modes, t->precision, t->numbers);
    const uint32_t modes_y = t->grid.ny / 2 + 1;
    assert_int_equal(t->numbers, 2 * t->grid.nx * modes_y);
    for (uint32_t m = 0; m < t->grid.nx; m++)
        for (uint32_t n = 0; n < modes_y; n++) {
            double expected[2];
            field_direct_mode(&t->grid, t->f, m, n, expected);
            const size_t e = (size_t)modes_y * m + n;
            assert_near(modes[2 * e], expected[0], forward_tolerance(t));
            assert_near(modes[2 * e + 1], expected[1], forward_tolerance(t));
        }
}

static void check_forward_at(const struct transform *t, uint32_t m, uint32_t n)
{
    double mode[2], expected[2];
    const size_t e = (size_t)(t->grid.ny / 2 + 1) * m + n;
    assert_ok(buffer_read_reals(t->modes, t->precision, 2 * e, 2, mode));
    field_direct_mode(&t->grid, t->f, m, n, expected);
    assert_near(mode[0], expected[0], forward_tolerance(t));
    assert_near(mode[1], expected[1], forward_tolerance(t));
}

static int grids_for(enum solver_kind solver, int on_cpu, int all)
{
    return solver == SOLVER_VKFFT && device_info(device)->is_cpu ? on_cpu : all;
}

static void check_input_kept(const struct transform *t)
{
    double *kept = field_read(t->real, t->precision, t->cells);
    assert_memory_equal(kept, t->f, t->cells * sizeof *kept);
}

static void check_round_trip(const struct transform *t)
{
    assert_ok(buffer_fill(t->real, 0x7fc00000)); /* not-a-number: every node must be written */
    assert_ok(fft_run(t->fft, FFT_INVERSE, t->real, t->modes));
    double *back = field_read(t->real, t->precision, t->cells);
    for (size_t n = 0; n < t->cells; n++)
        back[n] /= (double)t->cells;
    /* two transforms, of numbers up to 1 */
    assert_true(field_largest_difference(back, t->f, t->cells) <= 32 * field_epsilon(t->precision));
}

TEST(forward_is_the_direct_sum)
{
    for (int s = 0; s < 2; s++)
        for (int p = 0; p < 2; p++)
            for (int g = 0; g < grids_for(field_solvers[s], SHORT_GRIDS_ON_CPU, SHORT_GRIDS); g++) {
                struct transform t = transform_create(short_grids[g], field_precisions[p], field_solvers[s]);
                assert_ok(fft_run(t.fft, FFT_FORWARD, t.real, t.modes));
                check_forward_everywhere(&t);
                check_input_kept(&t);
                check_round_trip(&t);
            }
}

/* VkFFT splits long axes along x, and even ones along y; an odd one must fit local memory, or the sentence
 * shows the way out. */
static bool is_refused(const uint32_t cells[2], enum precision precision, enum solver_kind solver)
{
    if (solver != SOLVER_VKFFT || cells[1] % 2 == 0)
        return false;
    const struct grid grid = field_grid(cells[0], cells[1], 1.0, 1.0);
    struct fft *fft = NULL;
    const enum status status = fft_create(device, &grid, precision, solver, false, &fft);
    if (status != STATUS_OK) {
        assert_int_equal(status, STATUS_FAILED);
        assert_non_null(strstr(status_message(), "fields.solver: fftw"));
    }
    return status != STATUS_OK;
}

TEST(long_axes_work)
{
    for (int s = 0; s < 2; s++)
        for (int p = 0; p < 2; p++)
            for (int g = 0; g < grids_for(field_solvers[s], LONG_GRIDS_ON_CPU, LONG_GRIDS); g++) {
                if (is_refused(long_grids[g], field_precisions[p], field_solvers[s]))
                    continue;
                struct transform t = transform_create(long_grids[g], field_precisions[p], field_solvers[s]);
                assert_ok(fft_run(t.fft, FFT_FORWARD, t.real, t.modes));
                const uint32_t nx = t.grid.nx, ny = t.grid.ny;
                check_forward_at(&t, 0, 0);
                check_forward_at(&t, nx - 1, 1);
                check_forward_at(&t, nx / 2, ny / 2);
                check_forward_at(&t, nx / 3, ny / 3);
                check_input_kept(&t);
                check_round_trip(&t);
            }
}

/* The same bits from one plan used twice and from another plan. */
TEST(results_repeat)
{
    const uint32_t cells[2] = {48, 20};
    for (int s = 0; s < 2; s++)
        for (int p = 0; p < 2; p++) {
            struct transform a = transform_create(cells, field_precisions[p], field_solvers[s]);
            struct transform b = transform_create(cells, field_precisions[p], field_solvers[s]);
            assert_ok(fft_run(a.fft, FFT_FORWARD, a.real, a.modes));
            double *first = field_read(a.modes, a.precision, a.numbers);
            assert_ok(fft_run(a.fft, FFT_FORWARD, a.real, a.modes));
            double *again = field_read(a.modes, a.precision, a.numbers);
            assert_ok(fft_run(b.fft, FFT_FORWARD, b.real, b.modes));
            double *other = field_read(b.modes, b.precision, b.numbers);
            assert_memory_equal(first, again, a.numbers * sizeof *first);
            assert_memory_equal(first, other, a.numbers * sizeof *first);
        }
}

TEST(auto_suits_the_device)
{
    const struct grid grid = field_grid(8, 6, 1.0, 1.0);
    static const enum solver_kind solvers[] = {SOLVER_AUTO, SOLVER_VKFFT, SOLVER_FFTW};
    const char *const names[] = {device_info(device)->is_cpu ? "FFTW" : "VkFFT", "VkFFT", "FFTW"};
    for (int n = 0; n < 3; n++) {
        struct fft *fft = NULL;
        assert_ok(fft_create(device, &grid, PRECISION_SINGLE, solvers[n], false, &fft));
        assert_string_equal(fft->name, names[n]);
    }
}

/* Two arrays, f and 1 - 3 f, by FFT_INVERSE one after the other and by FFT_INVERSE_PAIR. */
static void check_pair(const uint32_t cells[2], enum precision precision, enum solver_kind solver)
{
    struct transform t = transform_create(cells, precision, solver);
    struct buffer *modes = NULL, *reals = NULL, *modes_of[2], *real_of[2];
    struct fft *pairs = NULL;
    const size_t real_stride = buffer_view_stride(buffer_bytes(t.real));
    const size_t modes_stride = buffer_view_stride(buffer_bytes(t.modes));
    assert_ok(fft_create(device, &t.grid, precision, solver, true, &pairs));
    assert_ok(buffer_create(device, 2 * real_stride, "two arrays of reals", &reals));
    assert_ok(buffer_create(device, 2 * modes_stride, "two arrays of modes", &modes));
    double *expected[2];
    for (size_t n = 0; n < 2; n++) {
        assert_ok(buffer_view(reals, n * real_stride, buffer_bytes(t.real), &real_of[n]));
        assert_ok(buffer_view(modes, n * modes_stride, buffer_bytes(t.modes), &modes_of[n]));
        for (size_t cell = 0; n == 1 && cell < t.cells; cell++)
            t.f[cell] = 1 - 3 * t.f[cell];
        assert_ok(buffer_write_reals(t.real, precision, 0, t.cells, t.f));
        assert_ok(fft_run(pairs, FFT_FORWARD, t.real, t.modes));
        assert_ok(buffer_copy(t.modes, modes_of[n], buffer_bytes(t.modes), STAGE_OTHER));
        assert_ok(fft_run(pairs, FFT_INVERSE, t.real, t.modes));
        expected[n] = field_read(t.real, precision, t.cells);
    }
    assert_ok(buffer_fill(reals, 0x7fc00000)); /* not-a-number: every node must be written */
    assert_ok(fft_run(pairs, FFT_INVERSE_PAIR, reals, modes));
    for (size_t n = 0; n < 2; n++) {
        double *found = field_read(real_of[n], precision, t.cells);
        /* sums of nx ny numbers up to 4, by the same or by another order of the factors */
        const double tolerance = 4 * 16 * field_epsilon(precision) * (double)t.cells;
        assert_true(field_largest_difference(found, expected[n], t.cells) <= tolerance);
    }
}

TEST(a_pair_is_two_inverses)
{
    for (int s = 0; s < 2; s++)
        for (int p = 0; p < 2; p++) {
            for (int g = 0; g < grids_for(field_solvers[s], SHORT_GRIDS_ON_CPU, SHORT_GRIDS); g++)
                check_pair(short_grids[g], field_precisions[p], field_solvers[s]);
            for (int g = 0; g < grids_for(field_solvers[s], LONG_GRIDS_ON_CPU, LONG_GRIDS); g++)
                if (!is_refused(long_grids[g], field_precisions[p], field_solvers[s]))
                    check_pair(long_grids[g], field_precisions[p], field_solvers[s]);
        }
}

/* FFTW in the queue and FFTW that waits are the same numbers. */
TEST(waiting_changes_no_bit)
{
    const uint32_t cells[2] = {13, 6};
    for (int p = 0; p < 2; p++) {
        struct transform t = transform_create(cells, field_precisions[p], SOLVER_FFTW);
        assert_ok(fft_run(t.fft, FFT_FORWARD, t.real, t.modes));
        double *queued = field_read(t.modes, t.precision, t.numbers);
        assert_ok(buffer_fill(t.modes, 0x7fc00000));
        assert_false(device_queue_host_calls(device, false));
        assert_ok(fft_run(t.fft, FFT_FORWARD, t.real, t.modes));
        double *waited = field_read(t.modes, t.precision, t.numbers);
        assert_memory_equal(queued, waited, t.numbers * sizeof *queued);
        check_round_trip(&t);
        device_queue_host_calls(device, true);
    }
}

/* An array of nx ny reals read and one of modes written, then modes read and written in place. */
TEST(bytes_are_those_of_two_passes)
{
    const uint32_t cells[2] = {512, 256};
    for (int s = 0; s < 2; s++) {
        struct transform t = transform_create(cells, PRECISION_SINGLE, field_solvers[s]);
        assert_int_equal(t.fft->bytes, 512 * 256 * 4 + 3 * 512 * 129 * 8);
    }
}

TEST_MAIN(open_device, close_device)
