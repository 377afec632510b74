/* Recipe: the inverse distribution functions and what the config's profiles become. */
#include "support/test_support.h"

#include "particles/recipe.h"

/* Phi(x) by the C library's error function. */
static double normal_distribution(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

/* Percentage points given in Wichura 1988 (p = 0.25, 0.001, 1e-20) and in tables, to all digits of a double;
 * the algorithm promises 1 in 10^16, evaluation adds a few round-offs. */
TEST(normal_known_values)
{
    const double points[][2] = {{0.25, -0.6744897501960817}, {0.001, -3.090232306167814},
                                {1e-20, -9.262340089798408}, {0.975, 1.959963984540054},
                                {1e-10, -6.361340902404056}, {0.5, 0.0}};
    for (size_t n = 0; n < sizeof points / sizeof points[0]; n++)
        assert_near(normal_inverse(points[n][0]), points[n][1], 1e-15 * fmax(1.0, fabs(points[n][1])));
}

/* Phi(Phi^-1(p)) = p. A relative error e of x changes Phi by at most |x phi(x)/Phi(x)| e, about x^2 e: 70 e
 * in the tail at the smallest element that loading can draw, 2^-54. */
TEST(normal_round_trip)
{
    for (int n = 1; n < 4096; n++) {
        const double p = n / 4096.0;
        assert_near(normal_distribution(normal_inverse(p)), p, 1e-15);
    }
    for (double p = 0.25; p >= 0x1p-54; p /= 2) {
        assert_near(normal_distribution(normal_inverse(p)), p, 70 * 4 * 0x1p-52 * p);
        if (p >= 0x1p-49)
            assert_true(normal_inverse(1 - p) == -normal_inverse(p));
    }
}

static const struct grid square = {.nx = 32, .ny = 16, .lx = 1, .ly = 1, .dx = 1.0 / 32, .dy = 1.0 / 16};

static struct species_config with_density(uint32_t count, const struct perturbation *items)
{
    struct species_config species = {.name = "electrons", .positions.bases = {2, 3}};
    species.perturb.density.count = count;
    for (uint32_t n = 0; n < count; n++)
        species.perturb.density.items[n] = items[n];
    return species;
}

/* The product as the config says it. */
static double product(const struct species_config *species, enum axis axis, double s)
{
    double density = 1;
    for (uint32_t n = 0; n < species->perturb.density.count; n++) {
        const struct perturbation *factor = &species->perturb.density.items[n];
        if (factor->axis == axis)
            density *= 1 + factor->amplitude * cos(2 * M_PI * factor->mode * s);
    }
    return density;
}

/* Integrates the product by Simpson's rule from 0, checks density and integral at every step against the
 * closed form and the inverse against the integral. With 4,096 steps and modes up to 22 in all, h = 2 pi
 * 22/4096 = 0.034 per radian, Simpson's error is h^4/180 = 7e-9 at most; the closed form itself is good to
 * round-off. */
static void check_against_integration(const struct species_config *species, enum axis axis)
{
    enum { STEPS = 4096 };
    struct recipe_table table;
    assert_ok(recipe_table_create(&square, species, &table));
    const struct series series = table.recipe.density[axis];
    double integral[STEPS + 1] = {0};
    for (int n = 0; n < STEPS; n++) {
        const double left = (double)n / STEPS, width = 1.0 / STEPS;
        integral[n + 1] =
            integral[n] + width / 6 *
                              (product(species, axis, left) + 4 * product(species, axis, left + width / 2) +
                               product(species, axis, left + width));
    }
    for (int n = 0; n <= STEPS; n++) {
        const double s = (double)n / STEPS, mean = integral[STEPS];
        const struct profile_value value = profile_at(table.terms, series, s);
        assert_near(value.density, product(species, axis, s) / mean, 1e-8);
        assert_near(value.cumulative, integral[n] / mean, 1e-8);
    }
}

/* F(F^-1(u)) = u: F and Newton's last step are good to a few round-offs of 1. */
static void check_round_trip(const struct species_config *species, enum axis axis)
{
    struct recipe_table table;
    assert_ok(recipe_table_create(&square, species, &table));
    const struct series series = table.recipe.density[axis];
    double before = 0;
    for (ulong n = 1; n < 20000; n++) {
        const double u = n % 2 ? van_der_corput(n, 3) : (double)n / 20000;
        const double s = profile_inverse(table.terms, series, u);
        assert_true(s >= 0 && s <= 1);
        assert_near(profile_at(table.terms, series, s).cumulative, u, 1e-14);
        if (n % 2 == 0) { /* the even ones ascend */
            assert_true(s > before);
            before = s;
        }
    }
    assert_near(profile_inverse(table.terms, series, 0x1p-49), 0, 1e-4);
    assert_near(profile_inverse(table.terms, series, 1 - 0x1p-49), 1, 1e-4);
}

TEST(density_profiles)
{
    const struct {
        uint32_t count;
        struct perturbation items[8];
    } profiles[] = {
        {1, {{AXIS_X, 1, 0.01}}},
        {1, {{AXIS_X, 16, 0.9}}},
        {2, {{AXIS_X, 2, 0.5}, {AXIS_X, 5, -0.7}}},
        {2, {{AXIS_X, 3, 0.5}, {AXIS_X, 3, 0.5}}},
        {2, {{AXIS_X, 1, 1.0}, {AXIS_X, 1, -1.0}}}, /* 1 - cos^2: empty at 0 and 1/2 */
        {4, {{AXIS_X, 1, 0.3}, {AXIS_X, 2, 0.4}, {AXIS_X, 3, -0.5}, {AXIS_X, 4, 0.9}}},
        {3, {{AXIS_Y, 1, 0.3}, {AXIS_X, 2, 0.4}, {AXIS_Y, 4, 0.2}}},
        {8,
         {{AXIS_X, 1, 0.3},
          {AXIS_X, 2, 0.4},
          {AXIS_X, 3, 0.5},
          {AXIS_X, 4, 0.3},
          {AXIS_X, 4, 0.3},
          {AXIS_X, 3, 0.4},
          {AXIS_X, 2, -0.2},
          {AXIS_X, 1, -0.3}}},
    };
    for (size_t n = 0; n < sizeof profiles / sizeof profiles[0]; n++) {
        const struct species_config species = with_density(profiles[n].count, profiles[n].items);
        for (enum axis axis = AXIS_X; axis <= AXIS_Y; axis++) {
            check_against_integration(&species, axis);
            check_round_trip(&species, axis);
        }
    }
}

TEST(refuses_negative_density)
{
    const struct perturbation items[] = {{AXIS_X, 1, -1.5}};
    const struct species_config species = with_density(1, items);
    struct recipe_table table;
    assert_refuses(recipe_table_create(&square, &species, &table), "perturb.density");
}

/* A formula of one cosine loads as that perturbation does. The table is linear between its nodes, so the
 * density between them is wrong by a (2 pi m/T)^2/8 and a position, an integral of it, by less: T = 1,024
 * intervals, m = 2. */
TEST(formula_of_a_wave_is_that_wave)
{
    const struct perturbation items[] = {{AXIS_Y, 2, 0.5}};
    const struct species_config wave = with_density(1, items);
    struct species_config formula = with_density(0, items);
    strcpy(formula.profile.density, "3 + 1.5*cos(2*pi*2*y/ly)"); /* its mean does not matter */
    struct recipe_table waves, tables;
    assert_ok(recipe_table_create(&square, &wave, &waves));
    assert_ok(recipe_table_create(&square, &formula, &tables));
    assert_int_equal(tables.recipe.profile.intervals[1], 1024);
    for (ulong index = 0; index < 5000; index++) {
        const struct loaded_particle a = recipe_particle(&waves.recipe, waves.terms, waves.tables, index);
        const struct loaded_particle b = recipe_particle(&tables.recipe, tables.terms, tables.tables, index);
        assert_near((a.cell[0] + a.offset[0]) / square.nx, (b.cell[0] + b.offset[0]) / square.nx, 1e-15);
        const double apart = fabs(a.cell[1] + a.offset[1] - b.cell[1] - b.offset[1]) / square.ny;
        assert_near(fmin(apart, 1 - apart), 0, 0.5 * pow(2 * M_PI * 2 / 1024, 2) / 8);
    }
    recipe_table_destroy(&waves);
    recipe_table_destroy(&tables);
}

/* x^2 y on the unit square, of which the cumulative fractions are x^3 and y^2, and vacuum below x = 1/4:
 * positions of van der Corput numbers (r, s) are the inverse of these. In an interval of 1/1024 the step at
 * 1/4 is a ramp. */
TEST(positions_follow_a_formula_of_both_axes)
{
    struct species_config species = with_density(0, NULL);
    strcpy(species.profile.density, "x < 1/4 ? 0 : x^2*y");
    struct recipe_table table;
    assert_ok(recipe_table_create(&square, &species, &table));
    for (ulong index = 0; index < 5000; index++) {
        const struct loaded_particle at = recipe_particle(&table.recipe, table.terms, table.tables, index);
        const double r = van_der_corput(index + 1, 2), s = van_der_corput(index + 1, 3), vacuum = 1.0 / 64;
        assert_near((at.cell[0] + at.offset[0]) / square.nx, cbrt(vacuum + r * (1 - vacuum)), 1e-3);
        assert_near((at.cell[1] + at.offset[1]) / square.ny, sqrt(s), 1e-6);
    }
    recipe_table_destroy(&table);
    strcpy(species.profile.density, "abs(x - 1/2)"); /* the first particle is at 1/2 */
    assert_ok(recipe_table_create(&square, &species, &table));
    const struct loaded_particle first = recipe_particle(&table.recipe, table.terms, table.tables, 0);
    assert_near((first.cell[0] + first.offset[0]) / square.nx, 0.5, 0);
    assert_near((first.cell[1] + first.offset[1]) / square.ny, 1.0 / 3, 1e-12);
    recipe_table_destroy(&table);
}

/* x + sum of a cos(k x)/k with k = 2 pi m of the x that the density profile gives, along each axis alone. */
TEST(displacements_are_those_of_places_after_the_density)
{
    const struct perturbation waves[3] = {{AXIS_X, 1, 0.9}, {AXIS_X, 3, -0.2}, {AXIS_Y, 2, 1e-4}};
    struct species_config species = with_density(1, (const struct perturbation[]){{AXIS_X, 1, 0.5}});
    struct recipe_table tables[2]; /* before and after */
    assert_ok(recipe_table_create(&square, &species, &tables[0]));
    species.perturb.displacement.count = 3;
    memcpy(species.perturb.displacement.items, waves, sizeof waves);
    assert_ok(recipe_table_create(&square, &species, &tables[1]));
    for (ulong index = 0; index < 500; index++) {
        double places[2][2];
        for (int n = 0; n < 2; n++) {
            const struct loaded_particle at =
                recipe_particle(&tables[n].recipe, tables[n].terms, tables[n].tables, index);
            places[n][0] = (at.cell[0] + at.offset[0]) / square.nx;
            places[n][1] = (at.cell[1] + at.offset[1]) / square.ny;
        }
        for (int n = 0; n < 3; n++) {
            const double k = 2 * M_PI * waves[n].mode, x = places[0][waves[n].axis];
            places[1][waves[n].axis] -= waves[n].amplitude * cos(k * x) / k;
        }
        for (int axis = 0; axis < 2; axis++)
            assert_near(remainder(places[1][axis] - places[0][axis], 1), 0, 1e-14);
    }
    recipe_table_destroy(&tables[0]);
    recipe_table_destroy(&tables[1]);
}

/* The drift is added and the factor multiplies, at the place where the particle lies in the end. Both
 * formulas are linear, which a table holds exactly, but for the node at the end of the box. */
TEST(velocities_follow_formulas_of_the_place)
{
    struct species_config species = with_density(0, NULL);
    species.velocities = (struct velocities_config){
        .kind = VELOCITIES_MAXWELLIAN, .bases = {5, 7}, .thermal = {2, 3}, .drift = {10, 20}};
    species.perturb.displacement.count = 1;
    species.perturb.displacement.items[0] = (struct perturbation){AXIS_X, 1, 0.3};
    strcpy(species.profile.drift[0], "x - 2*y");
    strcpy(species.profile.thermal[1], "1 + x + y");
    struct recipe_table table;
    assert_ok(recipe_table_create(&square, &species, &table));
    for (ulong index = 0; index < 5000; index++) {
        const struct loaded_particle at = recipe_particle(&table.recipe, table.terms, table.tables, index);
        const double x = (at.cell[0] + at.offset[0]) / square.nx, y = (at.cell[1] + at.offset[1]) / square.ny;
        const double g = normal_inverse(van_der_corput(index + 1, 5)),
                     h = normal_inverse(van_der_corput(index + 1, 7));
        assert_near(at.velocity[0], 10 + x - 2 * y + 2 * g, 1e-13);
        assert_near(at.velocity[1], 20 + 3 * (1 + x + y) * h, 1e-13);
    }
    recipe_table_destroy(&table);
}

static struct species_config with_velocities(const double range[3][2], const char *const density[3])
{
    struct species_config species = with_density(0, NULL);
    species.velocities =
        (struct velocities_config){.kind = VELOCITIES_FORMULA, .dimensions = 3, .bases = {5, 7, 11}};
    memcpy(species.velocities.range, range, sizeof species.velocities.range);
    for (int axis = 0; axis < 3; axis++)
        strcpy(species.velocities.density[axis], density[axis]);
    return species;
}

/* The density is linear between nodes, which adds h^2/12 f' to its integral, and so moves a velocity by
 * h^2/12 f'/f = h^2/12 |u|; with h = 16/4096, or of two velocities together 16/1024. Quiet and random. */
TEST(formula_of_a_maxwellian_is_maxwellian)
{
    static const double range[3][2] = {{-8, 8}, {-8, 8}, {-7, 9}};
    static const char *const alone[3] = {"3*exp(-u^2/2)", "exp(-v^2/2)", "exp(-(w-1)^2/2)"};
    static const char *const together[3] = {"exp(-(u^2+v^2)/2)", "2", "exp(-(w-1)^2/2)"};
    for (int trial = 0; trial < 4; trial++) {
        struct species_config species = with_velocities(range, trial % 2 ? together : alone);
        const double step[3] = {trial % 2 ? 16 / 1024.0 : 16 / 4096.0, step[0], 16 / 4096.0};
        species.velocities.generator = trial < 2 ? GENERATOR_VAN_DER_CORPUT : GENERATOR_RANDOM;
        struct recipe_table formula, normal;
        assert_ok(recipe_table_create(&square, &species, &formula));
        species.velocities.kind = VELOCITIES_MAXWELLIAN;
        memcpy(species.velocities.thermal, (double[]){1, 1, 1}, sizeof species.velocities.thermal);
        memcpy(species.velocities.drift, (double[]){0, 0, 1}, sizeof species.velocities.drift);
        assert_ok(recipe_table_create(&square, &species, &normal));
        for (ulong index = 0; index < 5000; index++) {
            const struct loaded_particle a =
                recipe_particle(&formula.recipe, formula.terms, formula.tables, index);
            const struct loaded_particle b =
                recipe_particle(&normal.recipe, normal.terms, normal.tables, index);
            for (int axis = 0; axis < 3; axis++)
                assert_near(a.velocity[axis], b.velocity[axis],
                            1e-7 + 1.1 * step[axis] * step[axis] / 12 * fabs(b.velocity[axis] - (axis == 2)));
        }
        recipe_table_destroy(&formula);
        recipe_table_destroy(&normal);
    }
}

/* 1 + u v/9 on [-3, 3]^2, which is linear between nodes as the table is: the distribution of u is uniform,
 * that of v at u is ((v + 3) + u (v^2 - 9)/18)/6. And w has the tails of kappa = 2, with quiet numbers of
 * base b = 11: their greatest distance from the distribution goes as (b - 1)/(4 ln(b)) ln(N)/N (H. Faure,
 * Bull. Soc. math. France 109, 143, 1981), a seventh of random numbers' 1/sqrt(N). */
TEST(velocities_follow_their_densities)
{
    enum { COUNT = 4096 };
    static const double range[3][2] = {{-3, 3}, {-3, 3}, {-20, 20}};
    const struct species_config species =
        with_velocities(range, (const char *const[]){"1", "1 + u*v/9", "(1+w^2)^-2"});
    struct recipe_table table;
    unsigned char is_taken[COUNT] = {0};
    double farthest = 0;
    assert_ok(recipe_table_create(&square, &species, &table));
    for (ulong index = 0; index < COUNT; index++) {
        const struct loaded_particle at = recipe_particle(&table.recipe, table.terms, table.tables, index);
        const double u = at.velocity[0], v = at.velocity[1], w = at.velocity[2];
        assert_near((u + 3) / 6, van_der_corput(index + 1, 5), 1e-14);
        assert_near(((v + 3) + u * (v * v - 9) / 18) / 6, van_der_corput(index + 1, 7), 1e-12);
        const double within = (atan(20) + 20 / 401.0) * 2, share = 0.5 + (atan(w) + w / (1 + w * w)) / within;
        assert_near(share, van_der_corput(index + 1, 11), 2e-5); /* h^2/12 f' with h = 40/4096 */
        is_taken[(size_t)(share * COUNT)]++;
    }
    size_t below = 0;
    for (size_t n = 0; n < COUNT; n++) {
        below += is_taken[n];
        farthest = fmax(farthest, fabs((double)below - (double)(n + 1)) / COUNT);
    }
    assert_true(farthest < (10 / (4 * log(11)) * log(COUNT) + 2) / COUNT);
    recipe_table_destroy(&table);
}

/* Half of all have u below the gap: the first number of base 2 is the middle of it, a node without a density,
 * where v follows that of the next node. */
TEST(no_velocity_is_where_there_is_no_density)
{
    static const double range[3][2] = {{-2, 2}, {-2, 2}, {5, 5}};
    struct species_config species = with_velocities(
        range, (const char *const[]){"abs(u) < 1 ? 0 : abs(u)-1", "abs(v) < 1 ? 1+u-u : 0", "1"});
    struct recipe_table table;
    species.velocities.bases[0] = 2;
    assert_ok(recipe_table_create(&square, &species, &table));
    for (ulong index = 0; index < 5000; index++) {
        const struct loaded_particle at = recipe_particle(&table.recipe, table.terms, table.tables, index);
        assert_true(fabs(at.velocity[0]) >= 1 && fabs(at.velocity[1]) <= 1 && at.velocity[2] == 5);
    }
    recipe_table_destroy(&table);
}

TEST(borders_of_cells)
{
    const struct {
        double s;
        uint32_t cells, cell;
        double offset;
    } cases[] = {
        {0.0, 4, 0, 0.0},
        {-0.0, 4, 0, 0.0},
        {0.25, 4, 1, 0.0},
        {1 - 0x1p-53, 1, 0, 1 - 0x1p-53},
        {1 - 0x1p-53, 3, 2, 1 - 0x1p-51}, /* 3 s is rounded, yet stays below 3 */
        {0.25 - 0x1p-55, 4, 0, 1 - 0x1p-53},
        {1.0, 4, 0, 0.0},
        {1.125, 4, 0, 0.5},
        {-0.125, 4, 3, 0.5},
        {-1e-20, 4, 0, 0.0}, /* s + 1 rounds to 1 */
        {-2.0, 4, 0, 0.0},
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const struct site site = site_at(cases[n].s, cases[n].cells);
        if (site.cell != cases[n].cell || !(site.offset == cases[n].offset))
            fail_msg("s = %a in %u cells: cell %u, offset %a", cases[n].s, cases[n].cells, site.cell,
                     site.offset);
    }
    const struct site inside = site_rounded(2, 0.75, 4), next = site_rounded(2, 1.0, 4),
                      around = site_rounded(3, 1.0, 4);
    assert_true(inside.cell == 2 && inside.offset == 0.75);
    assert_true(next.cell == 3 && next.offset == 0);
    assert_true(around.cell == 0 && around.offset == 0);
}

/* Particle j is that of van der Corput index j + 1, or of lattice site j, for any j up to the last. On a grid
 * of powers of two cell and offset hold every bit of s. */
TEST(particles_of_large_indices)
{
    enum { COUNT = 9 };
    static const uint64_t firsts[] = {0, (UINT64_C(1) << 31) - 4, (UINT64_C(1) << 32) - 4,
                                      (UINT64_C(1) << 33) + 12345, (UINT64_C(1) << 40) - COUNT};
    const struct species_config scattered = {
        .name = "electrons",
        .positions.bases = {2, 3},
        .velocities = {.kind = VELOCITIES_FORMULA, .bases = {5, 65535}, .range = {{-1, 3}, {10, 11}}}};
    const struct species_config lattice = {
        .name = "ions", .positions = {.kind = POSITIONS_LATTICE, .counts = {1u << 23, 1u << 17}}};
    struct recipe_table table;
    for (size_t n = 0; n < sizeof firsts / sizeof firsts[0]; n++) {
        assert_ok(recipe_table_create(&square, &scattered, &table));
        for (ulong index = firsts[n]; index < firsts[n] + COUNT; index++) {
            const struct loaded_particle at =
                recipe_particle(&table.recipe, table.terms, table.tables, index);
            assert_true(at.cell[0] + at.offset[0] == square.nx * van_der_corput(index + 1, 2));
            assert_true(at.cell[1] + at.offset[1] == square.ny * van_der_corput(index + 1, 3));
            assert_near(at.velocity[0], -1 + 4 * van_der_corput(index + 1, 5), 0x1p-51);
            assert_near(at.velocity[1], 10 + van_der_corput(index + 1, 65535), 0x1p-49);
        }
        assert_ok(recipe_table_create(&square, &lattice, &table));
        for (ulong index = firsts[n]; index < firsts[n] + COUNT; index++) {
            const struct loaded_particle at =
                recipe_particle(&table.recipe, table.terms, table.tables, index);
            const ulong along_x = index >> 17, along_y = index & ((1u << 17) - 1);
            assert_true(at.cell[0] + at.offset[0] == square.nx * ((double)along_x + 0.5) * 0x1p-23);
            assert_true(at.cell[1] + at.offset[1] == square.ny * ((double)along_y + 0.5) * 0x1p-17);
        }
    }
}

/* ---- random numbers ---- */

enum { DRAWS = 4096 };

/* Four numbers of each of many particles are uniform in (0, 1) and know nothing of one another: the power
 * |sum over n of exp(2 pi i m.draw)|^2 / DRAWS of the modes m is distributed as exp(-power). Its mean over
 * MODES of them is 1 within 1/sqrt(MODES); five times that is allowed, and no power that chance gives one of
 * them once in 1e6 times. */
static void check_independent(double draws[DRAWS][4])
{
    enum { MODES = 312 }; /* each number from -2 to 2, one of m and -m, not 0 */
    double sum = 0, most = 0;
    for (int mode = 0; mode < MODES; mode++) {
        const int m[4] = {mode % 5 - 2, mode / 5 % 5 - 2, mode / 25 % 5 - 2, mode / 125 - 2};
        double wave[2] = {0, 0};
        for (size_t n = 0; n < DRAWS; n++) {
            const double angle =
                2 * M_PI *
                (m[0] * draws[n][0] + m[1] * draws[n][1] + m[2] * draws[n][2] + m[3] * draws[n][3]);
            wave[0] += cos(angle);
            wave[1] += sin(angle);
        }
        const double power = (wave[0] * wave[0] + wave[1] * wave[1]) / DRAWS;
        sum += power;
        most = fmax(most, power);
    }
    assert_near(sum / MODES, 1, 5 / sqrt(MODES));
    assert_true(most < log(1e6 * MODES));
}

/* The numbers that become x, y, u and v of a particle. */
static void draw(uint64_t random_key, uint64_t index, double numbers[4])
{
    const struct species_config species = {.name = "electrons",
                                           .random_key = random_key,
                                           .positions = {.kind = POSITIONS_RANDOM},
                                           .velocities = {.kind = VELOCITIES_FORMULA,
                                                          .generator = GENERATOR_RANDOM,
                                                          .bases = {5, 7},
                                                          .range = {{0, 1}, {0, 1}}}};
    struct recipe_table table;
    assert_ok(recipe_table_create(&square, &species, &table));
    const struct loaded_particle at = recipe_particle(&table.recipe, table.terms, table.tables, index);
    recipe_table_destroy(&table);
    for (int axis = 0; axis < 2; axis++) {
        numbers[axis] = (at.cell[axis] + at.offset[axis]) / (axis == 0 ? square.nx : square.ny);
        numbers[2 + axis] = at.velocity[axis];
    }
    for (int n = 0; n < 4; n++)
        assert_true(numbers[n] > 0 && numbers[n] < 1);
}

/* Those of a particle; and of another seed, of the next species and of a particle 2^32 later. */
TEST(random_numbers_have_nothing_to_do_with_one_another)
{
    static double own[DRAWS][4], others[DRAWS][4];
    const uint64_t keys[4] = {1, 2, 1 | UINT64_C(1) << 32, 1};
    double numbers[4];
    for (uint64_t n = 0; n < DRAWS; n++) {
        draw(1, n, own[n]);
        for (int k = 0; k < 4; k++) {
            draw(keys[k], n + (k == 3 ? UINT64_C(1) << 32 : 0), numbers);
            others[n][k] = numbers[0];
        }
    }
    check_independent(own);
    check_independent(others);
}

TEST_MAIN(NULL, NULL)
