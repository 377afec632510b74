/* FFT: both libraries in both precisions against sums written out. */
#include "support/device_fixture.h"

#include "field/fft.h"
#include "support/field_support.h"

/* The libraries treat powers of two, products of small primes, primes, and the smallest axes each in
 * a way of its own, and long axes take several passes. VkFFT's kernels take a CPU seconds to compile for each
 * grid and precision, so there only the first grids go through it, each in one precision, and of those the
 * very first as batches, too. */
static const uint32_t grids[][2] = {{48, 20}, {17, 19},   {512, 256}, {8, 7},    {2, 2},    {8, 6},    {7, 5},
                                    {16, 16}, {2, 7},     {5, 2},     {13, 6},   {4, 31},   {12, 34},  {3, 3},
                                    {26, 9},  {2, 16384}, {16384, 2}, {2, 8191}, {1009, 3}, {600, 700}};
enum {
    GRIDS = sizeof grids / sizeof grids[0],
    SLOW_BATCHES = 3,
    SLOW_GRIDS = 5,
    ALL_MODES = 1000 /* of grids with fewer cells all are checked */
};

static const uint32_t one[FFT_DIRECTIONS] = {1, 1};

struct transform {
    struct grid grid;
    enum precision precision;
    size_t cells, numbers; /* reals in a node array and in a mode array */
    struct fft *fft;
    struct buffer *real, *modes;
    double *f; /* what `real` holds */
};

static struct transform transform_create(const uint32_t cells[2], enum precision precision,
                                         enum transform_library library)
{
    struct transform t = {.grid = field_grid(cells[0], cells[1], 1.0, 1.0), .precision = precision};
    t.cells = grid_cells(&t.grid);
    t.numbers = fft_complex_bytes(&t.grid, t.grid.ny / 2 + 1, precision) / precision_bytes(precision);
    assert_ok(
        fft_create(device, &t.grid, FFT_ALONG_BOTH, t.grid.ny / 2 + 1, precision, library, one, &t.fft));
    t.real = test_buffer(t.cells * precision_bytes(precision), NULL);
    t.modes = test_buffer(fft_complex_bytes(&t.grid, t.grid.ny / 2 + 1, precision), NULL);
    t.f = field_random(t.cells);
    assert_ok(buffer_write_reals(t.real, precision, 0, t.cells, t.f));
    return t;
}

/* A transform's error is about epsilon sqrt(log2 N) times the root mean square of its output, sqrt(N/3) here;
 * the largest of N errors, and Bluestein's three longer transforms, are covered by 16. */
static double forward_tolerance(const struct transform *t)
{
    return 16 * test_epsilon(t->precision) * sqrt((double)t->cells);
}

static void check_mode(const struct transform *t, const double *modes, uint32_t m, uint32_t n)
{
    double expected[2];
    const size_t e = (size_t)(t->grid.ny / 2 + 1) * m + n;
    field_direct_mode(&t->grid, t->f, m, n, expected);
    assert_near(modes[2 * e], expected[0], forward_tolerance(t));
    assert_near(modes[2 * e + 1], expected[1], forward_tolerance(t));
}

static void check_forward(const struct transform *t)
{
    const uint32_t nx = t->grid.nx, ny = t->grid.ny, modes_y = ny / 2 + 1;
    assert_int_equal(t->numbers, 2 * nx * modes_y);
    assert_ok(fft_run(t->fft, FFT_FORWARD, 1, t->real, t->modes));
    const double *modes = field_read(t->modes, t->precision, t->numbers);
    for (uint32_t e = 0; t->cells < ALL_MODES && e < nx * modes_y; e++)
        check_mode(t, modes, e / modes_y, e % modes_y);
    check_mode(t, modes, 0, 0);
    check_mode(t, modes, nx - 1, 1);
    check_mode(t, modes, nx / 2, ny / 2);
    check_mode(t, modes, nx / 3, ny / 3);
}

static void check_input_kept(const struct transform *t)
{
    double *kept = field_read(t->real, t->precision, t->cells);
    assert_memory_equal(kept, t->f, t->cells * sizeof *kept);
}

static void check_round_trip(const struct transform *t)
{
    assert_ok(buffer_fill(t->real, 0x7fc00000)); /* not-a-number: every node must be written */
    assert_ok(fft_run(t->fft, FFT_INVERSE, 1, t->real, t->modes));
    double *back = field_read(t->real, t->precision, t->cells);
    for (size_t n = 0; n < t->cells; n++)
        back[n] /= (double)t->cells;
    /* two transforms, of numbers up to 1 */
    assert_true(field_largest_difference(back, t->f, t->cells) <= 32 * test_epsilon(t->precision));
}

/* VkFFT splits long axes along x, and even ones along y; an odd one must fit local memory, or the sentence
 * shows the way out. */
static bool is_refused(const uint32_t cells[2], enum precision precision, enum transform_library library)
{
    if (library != TRANSFORMS_VKFFT || cells[1] % 2 == 0 || cells[0] * cells[1] < ALL_MODES)
        return false;
    const struct grid grid = field_grid(cells[0], cells[1], 1.0, 1.0);
    struct fft *fft = NULL;
    const enum status status =
        fft_create(device, &grid, FFT_ALONG_BOTH, grid.ny / 2 + 1, precision, library, one, &fft);
    if (status != STATUS_OK) {
        assert_fails(status, "fields.transforms: fftw");
    }
    return status != STATUS_OK;
}

static bool is_slow(enum transform_library library)
{
    return library == TRANSFORMS_VKFFT && device_info(device)->is_cpu;
}

/* Calls `check` for every grid, precision and library that go together here; the first `slow` grids with the
 * slow library. */
static void with_grids(void (*check)(const uint32_t cells[2], enum precision precision,
                                     enum transform_library library),
                       int slow)
{
    for (int s = 0; s < 2; s++)
        for (int p = 0; p < 2; p++)
            for (int g = 0; g < GRIDS; g++) {
                if ((is_slow(transform_libraries[s]) && (g >= slow || g % 2 != p)) ||
                    is_refused(grids[g], field_precisions[p], transform_libraries[s]))
                    continue;
                check(grids[g], field_precisions[p], transform_libraries[s]);
            }
}

static void check_transforms(const uint32_t cells[2], enum precision precision,
                             enum transform_library library)
{
    const struct transform t = transform_create(cells, precision, library);
    check_forward(&t);
    check_input_kept(&t);
    check_round_trip(&t);
}

TEST(forward_is_the_direct_sum_and_inverse_goes_back)
{
    with_grids(check_transforms, SLOW_GRIDS);
}

static const double *forward_modes(const struct transform *t)
{
    assert_ok(fft_run(t->fft, FFT_FORWARD, 1, t->real, t->modes));
    return field_read(t->modes, t->precision, t->numbers);
}

/* The same bits from one plan used twice and from another plan; and from FFTW that waits for the queue. */
TEST(results_repeat)
{
    for (int s = 0; s < 2; s++)
        for (int p = 0; p < 2; p++) {
            const uint32_t *const cells = grids[p]; /* in this precision with_grids() has it, too */
            const struct transform a = transform_create(cells, field_precisions[p], transform_libraries[s]);
            const struct transform b = transform_create(cells, field_precisions[p], transform_libraries[s]);
            const double *first = forward_modes(&a);
            assert_memory_equal(first, forward_modes(&a), a.numbers * sizeof *first);
            assert_memory_equal(first, forward_modes(&b), a.numbers * sizeof *first);
            if (transform_libraries[s] != TRANSFORMS_FFTW)
                continue;
            assert_ok(buffer_fill(a.modes, 0x7fc00000));
            assert_false(device_queue_host_calls(device, false));
            assert_memory_equal(first, forward_modes(&a), a.numbers * sizeof *first);
            check_round_trip(&a);
            device_queue_host_calls(device, true);
        }
}

TEST(auto_suits_the_device)
{
    const struct grid grid = field_grid(grids[0][0], grids[0][1], 1.0, 1.0);
    static const enum transform_library solvers[] = {TRANSFORMS_AUTO, TRANSFORMS_VKFFT, TRANSFORMS_FFTW};
    const char *const names[] = {device_info(device)->is_cpu ? "FFTW" : "VkFFT", "VkFFT", "FFTW"};
    for (int n = 0; n < 3; n++) {
        struct fft *fft = NULL;
        assert_ok(fft_create(device, &grid, FFT_ALONG_BOTH, grid.ny / 2 + 1, PRECISION_SINGLE, solvers[n],
                             one, &fft));
        assert_memory_equal(fft->name, names[n], strlen(names[n])); /* the version follows */
    }
}

/* ARRAYS arrays, which one after the other and at once become the same modes, and go back. */
static void check_batch(const uint32_t cells[2], enum precision precision, enum transform_library library)
{
    enum { ARRAYS = 3 };
    struct transform t = transform_create(cells, precision, library);
    struct buffer *modes = NULL, *reals = NULL, *modes_of[ARRAYS], *real_of[ARRAYS];
    struct fft *fft = NULL;
    const size_t real_stride = buffer_view_stride(buffer_bytes(t.real));
    const size_t modes_stride = buffer_view_stride(buffer_bytes(t.modes));
    double *f[ARRAYS], *expected[ARRAYS];
    assert_ok(fft_create(device, &t.grid, FFT_ALONG_BOTH, t.grid.ny / 2 + 1, precision, library,
                         (const uint32_t[FFT_DIRECTIONS]){ARRAYS, ARRAYS}, &fft));
    assert_ok(buffer_create(device, ARRAYS * real_stride, "arrays of reals", &reals));
    assert_ok(buffer_create(device, ARRAYS * modes_stride, "arrays of modes", &modes));
    assert_ok(buffer_fill(modes, 0x7fc00000)); /* not-a-number: every mode must be written */
    for (size_t n = 0; n < ARRAYS; n++) {
        assert_ok(buffer_view(reals, n * real_stride, buffer_bytes(t.real), &real_of[n]));
        assert_ok(buffer_view(modes, n * modes_stride, buffer_bytes(t.modes), &modes_of[n]));
        f[n] = field_numbers(t.cells);
        for (size_t cell = 0; cell < t.cells; cell++)
            f[n][cell] = t.f[(cell + 7 * n) % t.cells];
        assert_ok(buffer_write_reals(real_of[n], precision, 0, t.cells, f[n]));
        assert_ok(fft_run(fft, FFT_FORWARD, 1, real_of[n], t.modes));
        expected[n] = field_read(t.modes, precision, t.numbers);
    }
    assert_ok(fft_run(fft, FFT_FORWARD, ARRAYS, reals, modes));
    for (size_t n = 0; n < ARRAYS; n++) /* by the same or by another order of the factors */
        assert_true(field_largest_difference(field_read(modes_of[n], precision, t.numbers), expected[n],
                                             t.numbers) <= 2 * forward_tolerance(&t));
    assert_ok(buffer_fill(reals, 0x7fc00000));
    assert_ok(fft_run(fft, FFT_INVERSE, ARRAYS, reals, modes));
    for (size_t n = 0; n < ARRAYS; n++) {
        double *back = field_read(real_of[n], precision, t.cells);
        for (size_t cell = 0; cell < t.cells; cell++)
            back[cell] /= (double)t.cells;
        assert_true(field_largest_difference(back, f[n], t.cells) <= 32 * test_epsilon(precision));
    }
}

TEST(a_batch_is_its_arrays)
{
    with_grids(check_batch, SLOW_BATCHES);
}

/* What a library could do wrong, of which the last is what VkFFT 1.3 made of a plan for 1.2. */
enum fault { NO_FAULT, WRONG_SIGN, LOST_ROW, SWAPPED_ARRAYS, ONE_ARRAY_ALONE, FAULTS };
static enum fault fault;

static enum status run_wrongly(const struct fft *fft, enum fft_direction direction, uint32_t arrays,
                               struct buffer *real, struct buffer *modes)
{
    const struct fft *right = fft->plans;
    const size_t stride = buffer_view_stride(right->modes_bytes), row = right->modes_bytes / right->grid.nx;
    enum status status = STATUS_OK;
    if (fault == ONE_ARRAY_ALONE)
        return right->run(right, direction, 1, real, modes);
    status = right->run(
        right, fault == WRONG_SIGN && fft->axes == FFT_ALONG_X ? FFT_DIRECTIONS - 1 - direction : direction,
        arrays, real, modes);
    if (fault == LOST_ROW && direction == FFT_FORWARD)
        TRY_IF_OK(buffer_copy(modes, row, modes, 0, row, STAGE_OTHER));
    if (fault == SWAPPED_ARRAYS && direction == FFT_FORWARD && arrays > 1)
        TRY_IF_OK(buffer_copy(modes, stride, modes, 0, right->modes_bytes, STAGE_OTHER));
    return status;
}

/* A right plan passes; one with a fault is refused by the library's name. */
static void check_proof(const uint32_t cells[2], enum fft_axes axes, enum precision precision,
                        enum transform_library library)
{
    const struct grid grid = field_grid(cells[0], cells[1], 1.0, 1.0);
    struct fft *fft = NULL;
    assert_ok(fft_create(device, &grid, axes, cells[1] / 2 + 1, precision, library,
                         (const uint32_t[FFT_DIRECTIONS]){2, 3}, &fft));
    struct fft wrong = *fft;
    wrong.run = run_wrongly;
    wrong.plans = fft;
    for (fault = NO_FAULT; fault < FAULTS; fault++) {
        if (fault == WRONG_SIGN && axes != FFT_ALONG_X)
            continue; /* the other ways cannot be told to turn round */
        const enum status status = fft_prove(&wrong);
        if (fault == NO_FAULT) {
            assert_ok(status);
        } else {
            assert_fails(status, fft->name);
        }
    }
}

TEST(a_wrong_plan_is_refused)
{
    static const uint32_t shapes[][2] = {{8, 6}, {7, 5}, {9, 4}, {512, 256}};
    for (int n = 0; n < (device_info(device)->is_cpu ? 4 : 8); n++)
        for (enum fft_axes axes = FFT_ALONG_Y; axes <= FFT_ALONG_BOTH; axes++)
            check_proof(shapes[n % 4], axes, field_precisions[n % 2],
                        n < 4 ? TRANSFORMS_FFTW : TRANSFORMS_VKFFT);
    check_proof(shapes[0], FFT_ALONG_BOTH, PRECISION_SINGLE, TRANSFORMS_VKFFT);
}

/* An array of nx ny reals read and one of modes written, then modes read and written in place. */
TEST(bytes_are_those_of_two_passes)
{
    const uint32_t cells[2] = {512, 256};
    for (int s = 0; s < 2; s++) {
        struct transform t = transform_create(cells, PRECISION_SINGLE, transform_libraries[s]);
        assert_int_equal(t.fft->bytes, 512 * 256 * 4 + 3 * 512 * 129 * 8);
    }
}

/* All kernels here are VkFFT's, which a CPU runs in tests alone. */
static int open_for_gpu_kernels(void **state)
{
    const int status = open_device(state);
    if (status == 0)
        test_optimise(false);
    return status;
}

TEST_MAIN(open_for_gpu_kernels, close_device)
