/* Loading: the particles on the device, by the kernel and by the host, against each other and against
 * formulae. */
#include "support/device_fixture.h"

#include "particles/loading.h"
#include "particles/recipe.h"

/* A species' particles as the device holds them. */
struct loaded {
    double *offset, *velocity; /* [2 * count] */
    double *w;                 /* [count], 0 without it */
    uint32_t *key;             /* [count] */
    uint64_t *id;              /* [count] */
};

enum way { BY_DOOR /* by a kernel where the device has fp64 */, BY_HOST };

static struct loaded allocate(size_t count)
{
    return (struct loaded){test_array(2 * count, sizeof(double)), test_array(2 * count, sizeof(double)),
                           test_array(count, sizeof(double)), test_array(count, sizeof(uint32_t)),
                           test_array(count, sizeof(uint64_t))};
}

/* Loads particles first, ..., first + species->particles - 1 into that layout and reads them back. */
static struct loaded load_into(enum particle_layout layout, const struct grid *grid,
                               const struct species_config *species, enum precision precision, uint64_t first,
                               enum way way)
{
    const struct slab slab = slab_whole_box(grid);
    const uint32_t count = (uint32_t)species->particles;
    struct particles particles;
    struct buffer *keys = test_buffer(count * sizeof(uint32_t), NULL);
    assert_ok(particles_create(device, &slab, precision, layout, species, count, &particles));
    particles.count = count;
    assert_ok((way == BY_HOST ? loading_fill_by_host : loading_fill)(grid, first, &particles, keys));
    struct loaded loaded = allocate(count);
    assert_ok(particles_read(&particles, ATTRIBUTE_OFFSET, 0, count, loaded.offset));
    assert_ok(particles_read(&particles, ATTRIBUTE_VELOCITY, 0, count, loaded.velocity));
    if (species_has_w(species))
        assert_ok(particles_read(&particles, ATTRIBUTE_W, 0, count, loaded.w));
    assert_ok(buffer_read(keys, 0, count * sizeof(uint32_t), loaded.key));
    if (species->ids)
        assert_ok(buffer_read(particles.attribute[ATTRIBUTE_ID], 0, count * sizeof(uint64_t), loaded.id));
    return loaded;
}

/* On the host alone, as doubles before they are rounded. */
static struct loaded exactly(const struct grid *grid, const struct species_config *species, uint64_t first)
{
    struct loaded loaded = allocate(species->particles);
    struct recipe_table table;
    assert_ok(recipe_table_create(grid, species, &table));
    for (size_t n = 0; n < species->particles; n++) {
        const struct loaded_particle particle =
            recipe_particle(&table.recipe, table.terms, table.tables, first + n);
        memcpy(loaded.offset + 2 * n, particle.offset, sizeof particle.offset);
        memcpy(loaded.velocity + 2 * n, particle.velocity, 2 * sizeof *particle.velocity);
        loaded.w[n] = particle.velocity[2];
        loaded.key[n] = cell_index(particle.cell[0], particle.cell[1], grid->ny);
    }
    return loaded;
}

static struct loaded load(const struct grid *grid, const struct species_config *species,
                          enum precision precision, uint64_t first, enum way way)
{
    return load_into(LAYOUT_SOA, grid, species, precision, first, way);
}

/* Landau damping's electrons. */
static struct species_config electrons(uint64_t count)
{
    struct species_config species = {
        .name = "electrons",
        .charge = -1,
        .mass = 1,
        .density = 1,
        .particles = count,
        .ids = true,
        .positions = {.kind = POSITIONS_VAN_DER_CORPUT, .bases = {2, 3}},
        .velocities = {.kind = VELOCITIES_MAXWELLIAN, .bases = {5, 7}, .thermal = {1, 0.5}, .drift = {0, 3}},
    };
    species.perturb.density.count = 1;
    species.perturb.density.items[0] = (struct perturbation){AXIS_X, 1, 0.01};
    return species;
}

static struct species_config random_electrons(uint64_t count)
{
    struct species_config species = electrons(count);
    species.random_key = 3 | UINT64_C(2) << 32;
    species.positions = (struct positions_config){.kind = POSITIONS_RANDOM};
    species.velocities.generator = GENERATOR_RANDOM;
    return species;
}

static struct grid grid_of(uint32_t nx, uint32_t ny)
{
    const struct grid_config config = {{nx, ny}, {4 * M_PI, 4 * M_PI}};
    return grid_make(&config);
}

/* A position in cells from the left or lower border of the box. */
static double position(const struct grid *grid, const struct loaded *loaded, size_t n, enum axis axis)
{
    const uint32_t cell = axis == AXIS_X ? loaded->key[n] / grid->ny : loaded->key[n] % grid->ny;
    return cell + loaded->offset[2 * n + axis];
}

/* The distance of two positions on a periodic axis of `cells` cells. */
static double distance(double a, double b, double cells)
{
    const double apart = fabs(a - b);
    return fmin(apart, cells - apart);
}

static void check_inside(const struct grid *grid, const struct loaded *loaded, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        assert_true(loaded->key[n] < grid_cells(grid));
        for (size_t axis = 0; axis < 2; axis++) {
            assert_true(loaded->offset[2 * n + axis] >= 0 && loaded->offset[2 * n + axis] < 1);
            assert_true(isfinite(loaded->velocity[2 * n + axis]));
        }
    }
}

/* Kernel and host, both precisions, with every kind of profile. They share their source; sine, cosine and
 * logarithm of the two compilers may differ by 4 ulp each (OpenCL 1.2, table 7.1), which moves s by a few
 * 2^-53 and a position by `cells` as much, and a velocity (|v| < 16) by a few 2^-49. In single precision each
 * may round to the other neighbour: 2^-24 for offsets, 2^-21 for velocities below 8. */
static void check_kernel_equals_host(const struct species_config *species, enum precision precision,
                                     uint64_t first)
{
    const struct grid grid = grid_of(48, 32);
    const size_t count = species->particles;
    struct loaded kernel = load_into(LAYOUT_AOS, &grid, species, precision, first, BY_DOOR);
    struct loaded host = load_into(LAYOUT_AOS, &grid, species, precision, first, BY_HOST);
    const double position_tolerance = precision == PRECISION_DOUBLE ? 48 * 8 * 0x1p-53 : 0x1p-24 + 0x1p-43;
    const double velocity_tolerance = precision == PRECISION_DOUBLE ? 0x1p-46 : 0x1p-21;
    check_inside(&grid, &kernel, count);
    check_inside(&grid, &host, count);
    for (size_t n = 0; n < count; n++) {
        assert_near(distance(position(&grid, &kernel, n, AXIS_X), position(&grid, &host, n, AXIS_X), grid.nx),
                    0, position_tolerance);
        assert_near(distance(position(&grid, &kernel, n, AXIS_Y), position(&grid, &host, n, AXIS_Y), grid.ny),
                    0, position_tolerance);
        for (size_t axis = 0; axis < 2; axis++)
            assert_near(kernel.velocity[2 * n + axis], host.velocity[2 * n + axis], velocity_tolerance);
        assert_near(kernel.w[n], host.w[n], velocity_tolerance);
        assert_true(kernel.id[n] == first + n && host.id[n] == first + n);
    }
}

TEST(kernel_equals_host)
{
    if (!device_info(device)->has_fp64)
        skip();
    struct species_config species = electrons(100003); /* more than one piece of the host, no whole groups */
    for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++) {
        check_kernel_equals_host(&species, precision, 0);
        check_kernel_equals_host(&species, precision, (UINT64_C(1) << 31) - 1000);
        check_kernel_equals_host(&species, precision, (UINT64_C(1) << 32) - 1000);
        check_kernel_equals_host(&species, precision, CONFIG_MAX_SPECIES_PARTICLES - species.particles);
    }
    species.particles = 5000;
    species.velocities =
        (struct velocities_config){.kind = VELOCITIES_UNIFORM, .bases = {5, 7}, .range = {{-1, 1}, {2, 5}}};
    species.perturb.density.count = 3;
    species.perturb.density.items[1] = (struct perturbation){AXIS_X, 3, -0.5};
    species.perturb.density.items[2] = (struct perturbation){AXIS_Y, 2, 0.7};
    species.perturb.displacement.count = 1;
    species.perturb.displacement.items[0] = (struct perturbation){AXIS_Y, 1, 0.1};
    check_kernel_equals_host(&species, PRECISION_SINGLE, 0);
    check_kernel_equals_host(&species, PRECISION_DOUBLE, 0);
    species.positions = (struct positions_config){.kind = POSITIONS_LATTICE, .counts = {100, 50}};
    species.velocities = (struct velocities_config){.kind = VELOCITIES_COLD, .drift = {1, 2}};
    check_kernel_equals_host(&species, PRECISION_SINGLE, 0);
    check_kernel_equals_host(&species, PRECISION_DOUBLE, 0);
    species = electrons(5000);
    species.velocities = (struct velocities_config){.kind = VELOCITIES_MAXWELLIAN,
                                                    .dimensions = 3,
                                                    .bases = {5, 7, 11},
                                                    .thermal = {1, 0.5, 0.25},
                                                    .drift = {0, 3, -2}};
    species.perturb.density.count = 0;
    strcpy(species.profile.drift[2], "sin(2*pi*y/ly)");
    strcpy(species.profile.density, "1 + 0.5*sin(2*pi*x/lx)*sin(4*pi*y/ly)");
    strcpy(species.profile.drift[1], "cos(2*pi*x/lx)");
    strcpy(species.profile.thermal[0], "1 + y/ly");
    check_kernel_equals_host(&species, PRECISION_SINGLE, 0);
    check_kernel_equals_host(&species, PRECISION_DOUBLE, 0);
    species = random_electrons(5000);
    check_kernel_equals_host(&species, PRECISION_SINGLE, 0);
    check_kernel_equals_host(&species, PRECISION_DOUBLE, (UINT64_C(1) << 32) - 1000);
}

/* Particles depend on their global index alone: a part is that slice of the whole, bit for bit, in
 * either layout. */
static void check_slice(struct species_config all)
{
    const struct grid grid = grid_of(32, 32);
    struct species_config some = all;
    const size_t first = 1234;
    some.particles = 1001;
    for (enum way way = BY_DOOR; way <= BY_HOST; way++) {
        struct loaded whole = load(&grid, &all, PRECISION_SINGLE, 0, way);
        for (enum particle_layout layout = LAYOUT_SOA; layout <= LAYOUT_AOS; layout++) {
            struct loaded part = load_into(layout, &grid, &some, PRECISION_SINGLE, first, way);
            assert_memory_equal(part.offset, whole.offset + 2 * first, 2 * some.particles * sizeof(double));
            assert_memory_equal(part.velocity, whole.velocity + 2 * first,
                                2 * some.particles * sizeof(double));
            assert_memory_equal(part.key, whole.key + first, some.particles * sizeof(uint32_t));
            assert_memory_equal(part.id, whole.id + first, some.particles * sizeof(uint64_t));
        }
    }
}

TEST(part_is_slice_of_whole)
{
    check_slice(electrons(3000));
    check_slice(random_electrons(3000));
}

/* Van der Corput element 2^32 - 1 of base 2 is 1 - 2^-32: as a float offset in one of 32 cells it rounds
 * to 1. In place of that it is offset 0 of the next cell, here of cell 0. Element 2^32 of base 2 is 2^-33. */
static void check_rounding(enum axis axis, enum way way)
{
    const uint64_t first = (UINT64_C(1) << 32) - 2;
    const struct grid grid = axis == AXIS_X ? grid_of(32, 1) : grid_of(1, 32);
    struct species_config species = electrons(2);
    species.perturb.density.count = 0;
    species.positions.bases[axis] = 2;
    species.positions.bases[1 - axis] = 3;
    struct loaded single = load(&grid, &species, PRECISION_SINGLE, first, way);
    struct loaded exact = exactly(&grid, &species, first);
    check_inside(&grid, &single, 2);
    assert_int_equal(single.key[0], 0);
    assert_true(single.offset[axis] == 0);
    assert_int_equal(single.key[1], 0);
    assert_true(single.offset[2 + axis] == 32 * 0x1p-33);
    assert_true(single.id[1] == first + 1);
    assert_int_equal(exact.key[0], 31);
    assert_true(exact.offset[axis] == 1 - 0x1p-27);
}

TEST(rounded_to_next_cell)
{
    for (enum axis axis = AXIS_X; axis <= AXIS_Y; axis++) {
        check_rounding(axis, BY_DOOR);
        check_rounding(axis, BY_HOST);
    }
}

/* Indices around the powers of two where float arithmetic gives 0, 1 and infinite velocities. */
TEST(float_traps)
{
    const struct grid grid = grid_of(32, 32);
    struct species_config species = electrons(64);
    species.velocities.bases[0] = 2; /* the trap's base for a velocity too */
    species.positions.bases[0] = 5;
    for (int power = 23; power <= 32; power++) {
        const uint64_t first = (UINT64_C(1) << power) - 33;
        struct loaded loaded = load(&grid, &species, PRECISION_SINGLE, first, BY_DOOR);
        check_inside(&grid, &loaded, 64);
        double largest = 0;
        for (size_t n = 0; n < 64; n++)
            largest = fmax(largest, fabs(loaded.velocity[2 * n]));
        /* The largest element is 1 - 2^-power; the velocity is finite and in the far tail. */
        assert_near(largest, -normal_inverse(ldexp(1, -power - 1)), 1e-6);
    }
}

/* Of 2^20 elements of base 5; the values of an independent implementation, to half a unit of their last
 * digit. */
TEST(maxwellian_moments)
{
    const struct grid grid = grid_of(32, 32);
    const size_t count = 1 << 20;
    const struct species_config species = electrons(count);
    struct loaded loaded = load(&grid, &species, PRECISION_SINGLE, 0, BY_DOOR);
    double sum = 0, squares = 0, largest = 0, sum_v = 0, squares_v = 0;
    for (size_t n = 0; n < count; n++) {
        const double u = loaded.velocity[2 * n], v = loaded.velocity[2 * n + 1] - 3;
        sum += u;
        squares += u * u;
        largest = fmax(largest, u);
        sum_v += v;
        squares_v += v * v;
    }
    const double mean = sum / (double)count;
    assert_near(mean, -2.8e-5, 0.05e-5);
    assert_near(squares / (double)count - mean * mean - 1, -2.2e-5, 0.05e-5);
    assert_near(largest, 4.606, 0.0005);
    /* v: drift 3, deviation 1/2; sampling error as above, discrepancy of base 7 at most three times that of 5
     */
    assert_near(sum_v / (double)count, 0, 1e-4);
    assert_near(squares_v / (double)count, 0.25, 1e-4);
}

/* n_k of mode 1 along x as charges shared among nodes by linear weighting (CIC) give it:
 * alpha/2 S(k), S = (sin(k dx/2)/(k dx/2))^2, but for the sampling error. Elements 1 ... N of base 2 are the
 * N points n/N with 0 moved to 1/(2N), so the error is known: the moved particle turns the imaginary part by
 * pi/N^2 of 1, and the real part falls short by 1.4e-8, 8.9e-10, 5.5e-11 of alpha/2 (an independent
 * implementation; kinks of the weighting). Tolerance: half a unit of the last digit given. */
TEST(initial_density_mode)
{
    if (!device_info(device)->has_fp64)
        skip(); /* float offsets add 1e-9 of noise */
    const struct grid grid = grid_of(32, 32);
    const double alpha = 0.01, k_dx = 2 * M_PI / 32;
    const struct {
        uint64_t count;
        double shortfall, tolerance;
    } known[] = {{1 << 16, 1.4e-8, 5e-10}, {1 << 18, 8.9e-10, 5e-12}, {1 << 20, 5.5e-11, 5e-13}};
    for (size_t row = 0; row < sizeof known / sizeof known[0]; row++) {
        const size_t count = known[row].count;
        const struct species_config species = electrons(count);
        struct loaded loaded = load(&grid, &species, PRECISION_DOUBLE, 0, BY_DOOR);
        double re = 0, im = 0;
        for (size_t n = 0; n < count; n++) {
            const double node = loaded.key[n] / grid.ny, upper = loaded.offset[2 * n];
            re += (1 - upper) * cos(k_dx * node) + upper * cos(k_dx * (node + 1));
            im -= (1 - upper) * sin(k_dx * node) + upper * sin(k_dx * (node + 1));
        }
        re /= (double)count;
        im /= (double)count;
        const double shape = pow(sin(k_dx / 2) / (k_dx / 2), 2);
        assert_near((alpha / 2 * shape - re) / (alpha / 2), known[row].shortfall, known[row].tolerance);
        /* density 1 + alpha and linear weighting reduce the turn by about 1.5 % */
        assert_near(-im * (double)count * (double)count / M_PI, 1, 0.03);
    }
}

/* Site j of the lattice, undisturbed, in cells: exact in double but for the rounding of two operations. */
TEST(lattice_sites)
{
    const struct grid grid = grid_of(8, 4);
    struct species_config species = electrons(6 * 10);
    species.positions = (struct positions_config){.kind = POSITIONS_LATTICE, .counts = {6, 10}};
    species.velocities = (struct velocities_config){.kind = VELOCITIES_COLD, .drift = {0.25, -3}};
    species.perturb.density.count = 0;
    struct loaded loaded = load(&grid, &species, PRECISION_SINGLE, 0, BY_DOOR);
    for (size_t n = 0; n < 60; n++) { /* offsets in single precision */
        assert_near(position(&grid, &loaded, n, AXIS_X), 8 * ((double)(n / 10) + 0.5) / 6, 0x1p-24);
        assert_near(position(&grid, &loaded, n, AXIS_Y), 4 * ((double)(n % 10) + 0.5) / 10, 0x1p-24);
        assert_true(loaded.velocity[2 * n] == 0.25 && loaded.velocity[2 * n + 1] == -3);
    }
}

/* x + sum of a cos(k x)/k with k = 2 pi m/L of the undisplaced x, periodic, along each axis alone. */
TEST(displacement_of_lattice)
{
    const struct grid_config config = {{32, 16}, {7.5, 2.5}};
    const struct grid grid = grid_make(&config);
    struct species_config species = electrons(20 * 12);
    species.positions = (struct positions_config){.kind = POSITIONS_LATTICE, .counts = {20, 12}};
    species.perturb.density.count = 0;
    species.perturb.displacement.count = 3;
    species.perturb.displacement.items[0] = (struct perturbation){AXIS_X, 1, 0.9};
    species.perturb.displacement.items[1] = (struct perturbation){AXIS_X, 3, -0.2};
    species.perturb.displacement.items[2] = (struct perturbation){AXIS_Y, 2, 1e-4};
    struct loaded loaded = exactly(&grid, &species, 0);
    for (size_t n = 0; n < 240; n++) {
        const double x = 7.5 * ((double)(n / 12) + 0.5) / 20, y = 2.5 * ((double)(n % 12) + 0.5) / 12;
        const double k1 = 2 * M_PI / 7.5, k3 = 3 * k1, ky = 2 * M_PI * 2 / 2.5;
        const double expected_x = x + 0.9 * cos(k1 * x) / k1 - 0.2 * cos(k3 * x) / k3;
        const double expected_y = y + 1e-4 * cos(ky * y) / ky;
        /* round-off of a position of size L, a few operations: in cells */
        assert_near(distance(position(&grid, &loaded, n, AXIS_X), fmod(expected_x + 7.5, 7.5) / grid.dx, 32),
                    0, 1e-13);
        assert_near(distance(position(&grid, &loaded, n, AXIS_Y), fmod(expected_y + 2.5, 2.5) / grid.dy, 16),
                    0, 1e-13);
    }
}

/* The displacement is that of the position after the density profile. */
TEST(density_then_displacement)
{
    const struct grid grid = grid_of(32, 32);
    struct species_config species = electrons(500);
    species.perturb.density.items[0].amplitude = 0.5;
    struct loaded before = exactly(&grid, &species, 0);
    species.perturb.displacement.count = 1;
    species.perturb.displacement.items[0] = (struct perturbation){AXIS_X, 2, 0.3};
    struct loaded after = exactly(&grid, &species, 0);
    for (size_t n = 0; n < 500; n++) {
        const double s = position(&grid, &before, n, AXIS_X) / 32;
        const double expected = 32 * (s + 0.3 * cos(4 * M_PI * s) / (4 * M_PI));
        assert_near(distance(position(&grid, &after, n, AXIS_X), fmod(expected + 32, 32), 32), 0, 1e-13);
    }
}

TEST(uniform_velocities)
{
    const struct grid grid = grid_of(4, 4);
    const size_t count = 5 * 5 * 5 * 7 * 7;
    struct species_config species = electrons(count);
    species.velocities =
        (struct velocities_config){.kind = VELOCITIES_UNIFORM, .bases = {5, 7}, .range = {{-1, 3}, {10, 11}}};
    struct loaded loaded = load(&grid, &species, PRECISION_SINGLE, 0, BY_DOOR);
    double sum_u = 0, sum_v = 0;
    for (size_t n = 0; n < count; n++) {
        const double u = loaded.velocity[2 * n], v = loaded.velocity[2 * n + 1];
        assert_true(u >= -1 && u <= 3 && v >= 10 && v <= 11);
        if (n < 4) /* elements 1/5 ... 4/5: half a unit of the last place below 4 */
            assert_near(u, -1 + 4 * (double)(n + 1) / 5, 0x1p-23);
        sum_u += u;
        sum_v += v;
    }
    /* The mean of elements 0 ... N - 1 is within the discrepancy, below 10/N, of 1/2. */
    assert_near(sum_u / (double)count, 1, 40.0 / (double)count);
    assert_near(sum_v / (double)count, 10.5, 10.0 / (double)count);
}

TEST_MAIN(open_device, close_device)
