/* Cell key: offsets anywhere come back to [0, 1), and keys follow them around the periodic box. */
#include "support/sorted_particles.h"
#include "support/test_support.h"

#include "shared/motion.h"
#include "sort/cell_key.h"

#include <string.h>

static struct device *device;

static int open_device(void **state)
{
    (void)state;
    return device_open(test_device_spec(), &device) == STATUS_OK ? 0 : -1;
}

static int close_device(void **state)
{
    (void)state;
    device_close(&device);
    return 0;
}

/* One axis by the definition: the cell is the floor of the position, the offset what is above it, rounded as
 * the device stores it. Doubles hold enough digits that rounding to them first changes no float.
 */
struct expected_place {
    long long cells;
    double offset;
};

static struct expected_place expected_place(enum precision precision, double offset)
{
    if (!(fabs(offset) < 1e9))
        return (struct expected_place){0, NAN};
    const double lower = floor(offset);
    const double stored = test_rounded(precision, offset - lower);
    if (stored >= 1)
        return (struct expected_place){(long long)lower + 1, 0};
    return (struct expected_place){(long long)lower, stored};
}

static uint32_t wrapped(long long cell, uint32_t size)
{
    const long long rest = cell % (long long)size;
    return (uint32_t)(rest < 0 ? rest + (long long)size : rest);
}

/* A box, or the local grid of a slab: its own rows first, then `ghost` rows, the lost row, `ghost` rows. */
struct rows {
    uint32_t nx, ny, ghost;
};

static uint32_t own_rows(const struct rows *rows)
{
    return rows->ghost > 0 ? rows->nx - 2 * rows->ghost - 1 : rows->nx;
}

/* Row `from`, or where x leads from there, which becomes what is kept of it. */
static uint32_t expected_row(enum precision precision, const struct rows *rows, uint32_t from,
                             struct expected_place *x)
{
    const long long row = (long long)from + x->cells, ghost = rows->ghost, own = own_rows(rows);
    if (ghost == 0 || (row >= -ghost && row < own + ghost))
        return wrapped(row, rows->nx);
    x->offset = test_rounded(precision, test_rounded(precision, (double)row) + x->offset);
    return (uint32_t)(own + ghost);
}

/* ---- one update of given particles ---- */

/* What comes of a particle of cell `key`. */
static void check_particle(enum precision precision, const struct rows *rows, uint32_t key,
                           const double offset[2], uint32_t new_key, const double new_offset[2])
{
    struct expected_place x = expected_place(precision, offset[0]);
    const struct expected_place y = expected_place(precision, offset[1]);
    const uint32_t i = expected_row(precision, rows, key / rows->ny, &x);
    const uint32_t expected_key = rows->ny * i + wrapped(key % rows->ny + y.cells, rows->ny);
    if (new_key != expected_key)
        fail_msg("offset (%.17g, %.17g) of cell %u in %u x %u, %u ghost rows: key %u, expected %u", offset[0],
                 offset[1], key, rows->nx, rows->ny, rows->ghost, new_key, expected_key);
    for (int axis = 0; axis < 2; axis++) {
        const double stored = new_offset[axis], expected = axis == 0 ? x.offset : y.offset;
        if (isnan(expected) ? !isnan(stored) : stored != expected)
            fail_msg("offset %.17g of cell %u in %u rows, %u ghost rows, becomes %.17g, expected %.17g",
                     offset[axis], key, rows->nx, rows->ghost, stored, expected);
    }
}

static void check_update(enum precision precision, const struct rows *rows, uint32_t count,
                         const uint32_t *keys, double (*offsets)[2])
{
    const struct grid grid =
        grid_make(&(struct grid_config){.cells = {rows->nx, rows->ny}, .length = {1, 2}});
    const struct species_config species = {
        .name = "test", .charge = -1, .mass = 1, .density = 1, .particles = count};
    struct particles particles;
    struct cell_key *cell_key = NULL;
    uint32_t *new_keys = calloc(count, sizeof *new_keys);
    double(*new_offsets)[2] = calloc(count, sizeof *new_offsets);
    assert_true(new_keys && new_offsets);
    assert_ok(particles_create(device, &grid, precision, &species, &particles));
    assert_ok(cell_key_create(device, &grid, rows->ghost, precision, &cell_key));
    assert_ok(buffer_write(particles.key, 0, count * sizeof *keys, keys));
    assert_ok(buffer_write_reals(particles.offset, precision, 0, 2 * (size_t)count, offsets[0]));
    assert_ok(cell_key_update(cell_key, &particles));
    assert_ok(buffer_read(particles.key, 0, count * sizeof *new_keys, new_keys));
    assert_ok(buffer_read_reals(particles.offset, precision, 0, 2 * (size_t)count, new_offsets[0]));

    for (uint32_t p = 0; p < count; p++)
        check_particle(precision, rows, keys[p], offsets[p], new_keys[p], new_offsets[p]);
    free(new_keys);
    free(new_offsets);
    cell_key_destroy(&cell_key);
    assert_null(cell_key);
    particles_destroy(&particles);
}

/* ---- the cases, in both precisions ---- */

enum { GRIDS = 5 };
static const struct rows boxes[GRIDS] = {{32, 32, 0}, {2, 2, 0}, {3, 5, 0}, {2, 1024, 0}, {7, 4, 0}};
/* A single own row; more ghost rows than own ones. */
static const struct rows slabs[GRIDS] = {{32, 32, 3}, {6, 2, 2}, {40, 3, 12}, {7, 1024, 2}, {100, 4, 2}};

static bool missing(enum precision precision)
{
    return precision == PRECISION_DOUBLE && !device_info(device)->has_fp64;
}

/* Every pair of the special offsets, in the first cell and in the last own one. */
static void check_special_offsets(enum precision precision, const struct rows grids[GRIDS])
{
    if (missing(precision))
        skip();
    const double below_one = test_below_one(precision), tiny = precision == PRECISION_SINGLE ? 1e-40 : 1e-310;
    const double below_limit =
        precision == PRECISION_SINGLE ? (double)nextafterf(1e9F, 0) : nextafter(1e9, 0);
    const double special[] = {
        0.0,      -0.0,         below_one,   -below_one,
        1.0,      -1.0,         1.5,         -1.5, /* around the cell */
        tiny,     -tiny,        1e-20,       -1e-20,
        0x1p-24,  -0x1p-24,     -0x1p-25,    -0x1p-54, /* round to 1 */
        31.0,     32.0,         -32.0,       33.25,
        2.5,      3.75,         -2.5,        -3.75, /* in and out of ghost rows */
        6.0,      -3.0,         13.5,        -12.125,
        1000.75,  -1000.75,     16777215,    -16777216, /* far */
        12345678, -7654321,     1000000.25,  -1e6,
        1e9,      -below_limit, below_limit, /* the last in reach */
        -1e9,     1e10,         -3e38,       INFINITY,
        NAN,      -INFINITY,    -NAN, /* out of reach */
    };
    enum { SPECIALS = sizeof special / sizeof special[0], COUNT = 2 * SPECIALS * SPECIALS };
    static uint32_t keys[COUNT];
    static double offsets[COUNT][2];
    const size_t last = test_count(COUNT) < COUNT ? 1 : GRIDS;
    for (size_t g = 0; g < last; g++) {
        for (uint32_t n = 0; n < COUNT; n++) {
            const uint32_t pair = n / 2;
            keys[n] = n % 2 ? own_rows(&grids[g]) * grids[g].ny - 1 : 0;
            offsets[n][0] = test_rounded(precision, special[pair / SPECIALS]);
            offsets[n][1] = test_rounded(precision, special[pair % SPECIALS]);
        }
        check_update(precision, &grids[g], COUNT, keys, offsets);
    }
}

static void places_special_offsets_single(void **state)
{
    (void)state;
    check_special_offsets(PRECISION_SINGLE, boxes);
}

static void places_special_offsets_double(void **state)
{
    (void)state;
    check_special_offsets(PRECISION_DOUBLE, boxes);
}

/* From a part of a cell to many boxes away; counts around the group size. */
static void check_random_offsets(enum precision precision, const struct rows grids[GRIDS])
{
    if (missing(precision))
        skip();
    enum { MOST = 2000 };
    static const uint32_t counts[] = {1, 63, 64, 65, MOST};
    static const double reaches[] = {1, 3, 100, 1e6};
    static uint32_t keys[MOST];
    static double offsets[MOST][2];
    uint64_t seed = 11;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (size_t r = 0; r < sizeof reaches / sizeof reaches[0]; r++) {
            const struct rows *grid = &grids[(c + r) % GRIDS];
            const uint32_t count = test_count(counts[c]);
            for (uint32_t n = 0; n < count; n++) {
                keys[n] = (uint32_t)(test_random(&seed) * own_rows(grid) * grid->ny);
                for (int axis = 0; axis < 2; axis++)
                    offsets[n][axis] = test_rounded(precision, reaches[r] * (2 * test_random(&seed) - 1));
            }
            check_update(precision, grid, count, keys, offsets);
        }
}

static void places_random_offsets_single(void **state)
{
    (void)state;
    check_random_offsets(PRECISION_SINGLE, boxes);
}

static void places_random_offsets_double(void **state)
{
    (void)state;
    check_random_offsets(PRECISION_DOUBLE, boxes);
}

/* Up and down, into ghost rows and beyond them. */
static void ghost_rows_single(void **state)
{
    (void)state;
    check_special_offsets(PRECISION_SINGLE, slabs);
    check_random_offsets(PRECISION_SINGLE, slabs);
}

static void ghost_rows_double(void **state)
{
    (void)state;
    check_special_offsets(PRECISION_DOUBLE, slabs);
    check_random_offsets(PRECISION_DOUBLE, slabs);
}

/* The definition above and the function that the kernel shares with the host are the same. */
static void the_shared_function_is_the_definition(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int n = 0; n < 20000; n++) {
        const double offset = ldexp(2 * test_random(&seed) - 1, (int)(test_random(&seed) * 100) - 60);
        const struct placement place = offset_place(offset); /* in doubles on the host */
        const struct expected_place expected = expected_place(PRECISION_DOUBLE, offset);
        assert_int_equal(place.cells, expected.cells);
        assert_true(isnan(expected.offset) ? isnan(place.offset) : place.offset == expected.offset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_special_offsets_single),
        cmocka_unit_test(places_special_offsets_double),
        cmocka_unit_test(places_random_offsets_single),
        cmocka_unit_test(places_random_offsets_double),
        cmocka_unit_test(ghost_rows_single),
        cmocka_unit_test(ghost_rows_double),
        cmocka_unit_test(the_shared_function_is_the_definition),
    };
    return cmocka_run_group_tests_name("cell_key", tests, open_device, close_device);
}
