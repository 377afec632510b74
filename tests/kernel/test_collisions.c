/* Collisions: what each pair keeps, how it is turned, and relaxation rates against the formulae of Trubnikov
 * and the NRL Plasma Formulary (2019, pages 31 to 34), all in the program's units: with c = L/N_D, charges q,
 * masses m and T in units of the loaded one, the formulary's nu_0 is c n q_a^2 q_b^2/(4 pi m_a^2 v^3). */
#include "support/test_support.h"

#include "config/config_reader.h"
#include "config/units.h"
#include "particles/collisions.h"
#include "support/list_support.h"
#include "support/sorted_particles.h"

/* ---- scenes: lists on a grid of unit cells, where the config says what collides ---- */

enum { A, B, SPECIES };

struct scene {
    struct config config;
    struct slab slab;
    struct particles list[SPECIES];
    struct collisions *collisions;
    uint64_t step;
};

/* Electrons a and ions b, of density 1 and `particles` each, in nx x ny cells; c = L/N_D. */
static void scene_open(struct scene *scene, uint32_t nx, uint32_t ny, uint64_t particles, const char *pairs,
                       double c, double dt)
{
    char text[1024];
    const int length = snprintf(
        text, sizeof text,
        "grid: {cells: [%u, %u], length: [%u, %u]}\n"
        "time: {step: %.17g, steps: 1}\n"
        "species:\n"
        "  - {name: a, charge: -1, mass: 1, density: 1, particles: %llu, velocities: {dimensions: 3}}\n"
        "  - {name: b, charge: 1, mass: 25, density: 1, particles: %llu, velocities: {dimensions: 3}}\n"
        "collisions: %s\n",
        nx, ny, nx, ny, dt, (unsigned long long)particles, (unsigned long long)particles, pairs);
    *scene = (struct scene){0};
    assert_ok(config_read_text("test", text, (size_t)length, NULL, 0, &scene->config));
    for (uint32_t n = 0; n < scene->config.collision_count; n++)
        scene->config.collisions[n].coulomb_log = c * units_make(&scene->config.units).particles;
    const struct grid grid = grid_make(&scene->config.grid);
    scene->slab = slab_whole_box(&grid);
    scene->config.precision = best_precision();
}

/* The list of a species, with counts[] particles in the cells. */
static void scene_fill(struct scene *scene, int s, const uint32_t *counts, bool aos)
{
    const uint32_t cells = grid_cells(&scene->slab.local);
    uint32_t *starts = test_array(cells + (size_t)1, sizeof *starts);
    for (uint32_t c = 0; c < cells; c++)
        starts[c + 1] = starts[c] + counts[c];
    scene->config.species[s].particles = starts[cells];
    list_create(&scene->slab, scene->config.precision, &scene->config.species[s], aos, starts[cells],
                &scene->list[s]);
    list_write_starts(&scene->list[s], cells, starts);
}

static void scene_fill_evenly(struct scene *scene, int s, uint32_t each, bool aos)
{
    const uint32_t cells = grid_cells(&scene->slab.local);
    uint32_t *counts = test_array(cells, sizeof *counts);
    for (uint32_t c = 0; c < cells; c++)
        counts[c] = each;
    scene_fill(scene, s, counts, aos);
}

/* For lists that are filled. */
static void scene_start(struct scene *scene)
{
    const uint32_t longest =
        scene->list[A].count > scene->list[B].count ? scene->list[A].count : scene->list[B].count;
    assert_ok(collisions_create(device, &scene->config, &scene->slab, 0, longest, &scene->collisions));
}

static void scene_step(struct scene *scene, uint32_t steps)
{
    for (uint32_t n = 0; n < steps; n++)
        assert_ok(collisions_run(scene->collisions, scene->step++, scene->list));
}

/* ---- velocities ---- */

static double (*read_velocities(const struct particles *list))[3]
{
    double(*plane)[2] = test_array(list->count, sizeof *plane),
    (*all)[3] = test_array(list->count, sizeof *all);
    double *w = test_array(list->count, sizeof *w);
    assert_ok(particles_read(list, ATTRIBUTE_VELOCITY, 0, list->count, plane[0]));
    assert_ok(particles_read(list, ATTRIBUTE_W, 0, list->count, w));
    for (uint32_t p = 0; p < list->count; p++)
        memcpy(all[p], (double[]){plane[p][0], plane[p][1], w[p]}, sizeof all[p]);
    return all;
}

static void write_velocities(struct particles *list, double (*all)[3])
{
    double(*plane)[2] = test_array(list->count, sizeof *plane), *w = test_array(list->count, sizeof *w);
    for (uint32_t p = 0; p < list->count; p++) {
        memcpy(plane[p], all[p], sizeof plane[p]);
        w[p] = all[p][2];
    }
    list_write(list, ATTRIBUTE_VELOCITY, plane[0]);
    list_write(list, ATTRIBUTE_W, w);
}

static double gauss(uint64_t *seed)
{
    const double radius = sqrt(-2 * log(1 - test_random(seed)));
    return radius * cos(2 * M_PI * test_random(seed));
}

/* temperature[]: T along each axis. */
static void write_maxwellian(struct particles *list, const double temperature[3], const double drift[3],
                             uint64_t seed)
{
    double(*all)[3] = test_array(list->count, sizeof *all);
    for (uint32_t p = 0; p < list->count; p++)
        for (int axis = 0; axis < 3; axis++)
            all[p][axis] = drift[axis] + sqrt(temperature[axis] / list->species->mass) * gauss(&seed);
    write_velocities(list, all);
}

/* Means of v, of m (v - mean)^2, which is T, and of its kurtosis, along each axis. */
struct moments {
    double mean[3], temperature[3], kurtosis[3];
};

static struct moments moments_of(const struct particles *list)
{
    double(*all)[3] = read_velocities(list);
    struct moments moments = {0};
    for (int axis = 0; axis < 3; axis++) {
        double square = 0, fourth = 0;
        for (uint32_t p = 0; p < list->count; p++)
            moments.mean[axis] += all[p][axis] / list->count;
        for (uint32_t p = 0; p < list->count; p++) {
            const double v = all[p][axis] - moments.mean[axis];
            square += v * v / list->count;
            fourth += v * v * v * v / list->count;
        }
        moments.temperature[axis] = list->species->mass * square;
        moments.kurtosis[axis] = fourth / (square * square);
    }
    return moments;
}

static double temperature_of(const struct particles *list)
{
    const struct moments moments = moments_of(list);
    return (moments.temperature[0] + moments.temperature[1] + moments.temperature[2]) / 3;
}

/* ---- what collisions keep ---- */

/* Momentum and energy of each cell, of all species in it. */
static double (*cell_sums(const struct scene *scene))[4]
{
    const uint32_t cells = grid_cells(&scene->slab.local);
    double(*sums)[4] = test_array(cells, sizeof *sums);
    uint32_t *starts = test_array(cells + (size_t)1, sizeof *starts);
    for (int s = 0; s < SPECIES; s++) {
        const struct particles *list = &scene->list[s];
        if (list->count == 0)
            continue;
        const double mass = list->weight * list->species->mass;
        double(*all)[3] = read_velocities(list);
        assert_ok(buffer_read(list->cell_offsets, 0, (cells + (size_t)1) * sizeof *starts, starts));
        for (uint32_t c = 0; c < cells; c++)
            for (uint32_t p = starts[c]; p < starts[c + 1]; p++)
                for (int axis = 0; axis < 3; axis++) {
                    sums[c][axis] += mass * all[p][axis];
                    sums[c][3] += mass * all[p][axis] * all[p][axis];
                }
    }
    return sums;
}

/* Sums of up to 12 particles of a cell: each pair rounds its six velocities, of up to 4 thermal ones, once,
 * after a dozen operations; relative to the energy of the cell, and to the root of it times the mass. */
static void check_kept(const struct scene *scene, double (*before)[4], double tolerance)
{
    double(*after)[4] = cell_sums(scene);
    for (uint32_t c = 0; c < grid_cells(&scene->slab.local); c++) {
        const double mass = scene->list[A].weight * 25;
        for (int axis = 0; axis < 3; axis++)
            assert_near(after[c][axis], before[c][axis], tolerance * sqrt(mass * before[c][3]));
        assert_near(after[c][3], before[c][3], tolerance * before[c][3]);
    }
}

/* How many particles have another velocity than `before`. */
static uint32_t count_changed(const struct particles *list, double (*before)[3])
{
    double(*after)[3] = read_velocities(list);
    uint32_t changed = 0;
    for (uint32_t p = 0; p < list->count; p++)
        changed += memcmp(after[p], before[p], sizeof after[p]) != 0;
    return changed;
}

/* `each_a` and `each_b` particles a cell, in both layouts and precisions. */
static void check_conservation(const char *pairs, uint32_t each_a, uint32_t each_b)
{
    static const double still[3] = {0}, hot[3] = {1, 1, 1};
    for (int variant = 0; variant < 4; variant++) {
        struct scene scene;
        const uint32_t side = test_is_small() ? 2 : 16;
        scene_open(&scene, side, side, 1, pairs, 3, 1);
        scene.config.precision = variant & 1 ? PRECISION_SINGLE : best_precision();
        scene_fill_evenly(&scene, A, each_a, variant & 2);
        scene_fill_evenly(&scene, B, each_b, variant & 2);
        scene.list[B].weight = scene.list[A].weight;
        write_maxwellian(&scene.list[A], hot, still, 1);
        write_maxwellian(&scene.list[B], hot, still, 2);
        double(*sums)[4] = cell_sums(&scene), (*a)[3] = read_velocities(&scene.list[A]),
        (*b)[3] = read_velocities(&scene.list[B]);
        scene_start(&scene);
        scene_step(&scene, 1);
        const bool is_single = scene.config.precision == PRECISION_SINGLE;
        check_kept(&scene, sums, is_single ? 1e-6 : 1e-13);
        const bool is_alone = strstr(pairs, "[a, a]") != NULL;
        assert_int_equal(count_changed(&scene.list[A], a), is_alone && each_a == 1 ? 0 : scene.list[A].count);
        assert_int_equal(count_changed(&scene.list[B], b), is_alone ? 0 : scene.list[B].count);
    }
}

TEST(every_pair_keeps_momentum_and_energy)
{
    check_conservation("[{species: [a, a]}]", 2, 1);
    check_conservation("[{species: [a, b]}]", 1, 1);
}

/* Also those that share particles: triples, and the less numerous species'. */
TEST(cells_of_any_number_keep_momentum_and_energy)
{
    for (uint32_t each = 1; each <= 7; each += 2)
        check_conservation("[{species: [a, a]}]", each, 1);
    check_conservation("[{species: [a, a]}]", 100, 1);
    check_conservation("[{species: [a, b]}]", 7, 3);
    check_conservation("[{species: [a, b]}]", 2, 5);
    check_conservation("[{species: [b, a]}]", 40, 41);
}

/* Particles beside each other have one velocity; and u along z has no direction across. */
TEST(pairs_without_a_direction_stay_finite)
{
    struct scene scene;
    scene_open(&scene, 4, 4, 1, "[{species: [a, a]}]", 3, 1);
    scene_fill_evenly(&scene, A, 4, false);
    double(*all)[3] = test_array(scene.list[A].count, sizeof *all);
    for (uint32_t p = 0; p < scene.list[A].count; p++)
        all[p][2] = p % 8 < 4 ? 1 : p % 2;
    write_velocities(&scene.list[A], all);
    double(*sums)[4] = cell_sums(&scene);
    scene_start(&scene);
    scene_step(&scene, 5);
    check_kept(&scene, sums, 1e-6);
}

/* ---- one step: the angles ---- */

enum { BINS = 20 };

/* Chi-square of numbers in [0, 1) that are uniform, with 19 degrees of freedom: beyond 50.8 once in 1e4. */
static void check_uniform(const uint32_t counts[BINS], uint32_t total)
{
    double chi_square = 0;
    for (int n = 0; n < BINS; n++)
        chi_square += pow(counts[n] - total / (double)BINS, 2) / (total / (double)BINS);
    print_message("chi-square %.1f of %u\n", chi_square, total);
    assert_true(chi_square < 50.8);
}

/* The relative velocities u of all, before, and their turns: |delta| of deviation sigma, and about u. */
static void check_turns(const double u[3], double (*after)[3], uint32_t count, double sigma)
{
    uint32_t deltas[BINS] = {0}, turns[BINS] = {0};
    const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2], across = hypot(u[0], u[1]);
    const double first[3] = {-u[1] / across, u[0] / across, 0};
    for (uint32_t n = 0; n < count; n++) {
        const double *v = after[n];
        const double along = (u[0] * v[0] + u[1] * v[1] + u[2] * v[2]) / square;
        const double off[3] = {v[0] - along * u[0], v[1] - along * u[1], v[2] - along * u[2]};
        const double side = off[0] * first[0] + off[1] * first[1];
        const double up = off[2] * sqrt(square) / across;
        const double delta = hypot(side, up) / sqrt(square) / (1 + along); /* tan(theta/2) */
        const double turn = (atan2(up, side) / M_PI + 1) / 2;
        deltas[(int)fmin(BINS * erf(delta / sigma / sqrt(2)), BINS - 1)]++;
        turns[(int)fmin(BINS * turn, BINS - 1)]++;
    }
    check_uniform(deltas, count);
    check_uniform(turns, count);
}

/* A species with itself, two particles a cell: <delta^2> = c n dt/(8 pi m_ab^2 u^3) with n = 1 particle a
 * cell, m_ab = 1/2 and u = 1. */
TEST(tangents_of_half_the_angle_are_gaussian)
{
    needs_speed();
    static const double u[3] = {1 / 3.0, 2 / 3.0, 2 / 3.0};
    struct scene scene;
    scene_open(&scene, 256, 128, 1, "[{species: [a, a]}]", 0.7, 0.5);
    scene_fill_evenly(&scene, A, 2, false);
    double(*all)[3] = test_array(scene.list[A].count, sizeof *all);
    for (uint32_t p = 1; p < scene.list[A].count; p += 2)
        memcpy(all[p], u, sizeof all[p]);
    write_velocities(&scene.list[A], all);
    scene_start(&scene);
    scene_step(&scene, 1);
    double(*after)[3] = read_velocities(&scene.list[A]);
    for (uint32_t p = 0; p < scene.list[A].count; p += 2)
        for (int axis = 0; axis < 3; axis++)
            after[p / 2][axis] = after[p + 1][axis] - after[p][axis];
    check_turns(u, after, scene.list[A].count / 2, sqrt(scene.list[A].weight * 0.7 * 0.5 * 4 / (8 * M_PI)));
}

/* Three particles on two so heavy that they do not move: each has one collision, with the density of two. */
TEST(the_more_numerous_species_collides_once)
{
    needs_speed();
    static const double u[3] = {0.6, 0, 0.8};
    struct scene scene;
    scene_open(&scene, 128, 128, 1, "[{species: [b, a]}]", 0.3, 0.5);
    scene.config.species[B].mass = 1e30;
    scene_fill_evenly(&scene, A, 3, false);
    scene_fill_evenly(&scene, B, 2, false);
    scene.list[B].weight = scene.list[A].weight;
    double(*all)[3] = test_array(scene.list[A].count, sizeof *all);
    for (uint32_t p = 0; p < scene.list[A].count; p++)
        memcpy(all[p], u, sizeof all[p]);
    write_velocities(&scene.list[A], all);
    write_velocities(&scene.list[B], test_array(scene.list[B].count, sizeof *all));
    scene_start(&scene);
    scene_step(&scene, 1);
    check_turns(u, read_velocities(&scene.list[A]), scene.list[A].count,
                sqrt(2 * scene.list[A].weight * 0.3 * 0.5 / (8 * M_PI)));
}

/* ---- relaxation ---- */

/* Trubnikov's rate in dT_across/dt = -nu (T_across - T_along) of electrons. */
static double isotropisation_rate(double c, double across, double along)
{
    const double ratio = across / along - 1, root = sqrt(fabs(ratio));
    const double inverse = ratio > 0 ? atan(root) / root : atanh(root) / root;
    return c / (8 * pow(M_PI, 1.5) * pow(along, 1.5)) * ((ratio + 3) * inverse - 3) / (ratio * ratio);
}

static double anisotropy(const struct particles *list)
{
    const struct moments moments = moments_of(list);
    return (moments.temperature[0] + moments.temperature[1]) / 2 - moments.temperature[2];
}

/* The time in which an anisotropy falls from `across`, `along` to `end`, by the formula. */
static double isotropisation_time(double c, double across, double along, double end)
{
    const double dt = 1e-3;
    double time = 0;
    for (; across - along > end; time += dt) {
        const double change = isotropisation_rate(c, across, along) * (across - along) * dt;
        across -= change;
        along += 2 * change;
    }
    return time;
}

/* The particles of a list change places at random, as motion through the cells would have it. */
static void mix(struct particles *list, uint64_t *seed)
{
    double(*all)[3] = read_velocities(list), one[3];
    for (uint32_t p = list->count - 1; p > 0; p--) {
        const uint32_t q = (uint32_t)(test_random(seed) * (p + 1));
        memcpy(one, all[p], sizeof one);
        memcpy(all[p], all[q], sizeof one);
        memcpy(all[q], one, sizeof one);
    }
    write_velocities(list, all);
    free_arrays(NULL);
}

/* The time until exp(-0.1) of the difference is left of T = 1, 1, 0.5, over the formula's, mean of some
 * seeds. Cells have `each` particles, or `each` on average by chance, and others every eight steps. */
static double isotropisation(uint32_t along_axis, uint32_t each, bool by_chance, double dt, uint32_t seeds)
{
    enum { STEPS = 8 };
    static const double start[3] = {1, 1, 0.5}, still[3] = {0};
    const uint32_t cells = along_axis * along_axis;
    const double c = 1;
    double ratio = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        uint64_t draws = seed;
        struct scene scene;
        scene_open(&scene, along_axis, along_axis, 1, "[{species: [a, a]}]", c, dt);
        scene.config.precision = PRECISION_SINGLE;
        scene.config.seed = (uint32_t)seed;
        uint32_t *counts = test_array(cells, sizeof *counts);
        for (uint32_t p = 0; p < each * cells; p++)
            counts[by_chance ? (uint32_t)(test_random(&draws) * cells) : p % cells]++;
        scene_fill(&scene, A, counts, true);
        write_maxwellian(&scene.list[A], start, still, seed);
        scene_start(&scene);
        const struct moments first = moments_of(&scene.list[A]);
        const double across = (first.temperature[0] + first.temperature[1]) / 2, along = first.temperature[2];
        const double end = (across - along) * exp(-0.1);
        double before = across - along, now = before, time = 0;
        while (now > end) {
            scene_step(&scene, STEPS);
            time += STEPS * dt;
            before = now;
            now = anisotropy(&scene.list[A]);
            if (by_chance)
                mix(&scene.list[A], &draws);
            free_arrays(NULL);
        }
        time -= STEPS * dt * (end - now) / (before - now);
        ratio += time / isotropisation_time(c, across, along, end) / seeds;
    }
    print_message("%u cells of %u, dt %g: %.3f of the formula's time\n", cells, each, dt, ratio);
    return ratio;
}

/* Within 5 %. The collisions move the difference of 262,144 particles by chance by 2 % of its change, four
 * seeds by 1 %. The formula is that of Maxwellians along each axis, which it is no more afterwards: the
 * viscosity of S. I. Braginskii (1965) has 0.96 n T tau where it would give 5/6, so the mean time of the
 * whole relaxation is 1.15 of the formula's; 2 % of it belong to the first tenth. Slow pairs, with delta of
 * about 1 or more, are turned less than in proportion to the step: 1 to 3 % here. */
TEST(isotropisation_has_trubnikovs_rate)
{
    needs_speed();
    assert_near(isotropisation(32, 256, false, 0.02, 4), 1, 0.05);
}

TEST(the_rate_does_not_depend_on_the_time_step_or_the_cells)
{
    needs_speed();
    assert_near(isotropisation(32, 256, false, 0.08, 2), 1, 0.06);
    assert_near(isotropisation(256, 4, true, 0.04, 2), 1, 0.06);
}

/* dT_a/dt = nu (T_b - T_a), and alike for b, of electrons and ions of 25 times their mass. The formula is
 * that of Maxwellians: slow electrons, which have most of the exchange, come to the ions' temperature before
 * the others, unless collisions among electrons are stronger, here ten times. The cold ions leave little to
 * chance, 1 % of the change. */
TEST(temperatures_of_electrons_and_ions_approach_each_other)
{
    needs_speed();
    static const double still[3] = {0}, hot[3] = {1, 1, 1}, cold[3] = {0.05, 0.05, 0.05};
    enum { STEPS = 2000 };
    const double c = 1, dt = 0.01, mass = 25;
    struct scene scene;
    scene_open(&scene, 8, 8, 1,
               "[{species: [a, b]}, {species: [a, a], every: 10}, {species: [b, b], every: 10}]", c, dt);
    scene.config.precision = PRECISION_SINGLE;
    for (int s = 0; s < SPECIES; s++) {
        scene_fill_evenly(&scene, s, 256, false);
        write_maxwellian(&scene.list[s], s == A ? hot : cold, still, (uint64_t)s + 5);
    }
    for (int n = 1; n < 3; n++)
        scene.config.collisions[n].coulomb_log *= 10;
    scene_start(&scene);
    double a = temperature_of(&scene.list[A]), b = temperature_of(&scene.list[B]);
    const double first = a - b;
    scene_step(&scene, STEPS);
    for (int n = 0; n < STEPS; n++) {
        const double rate = 2 * c * sqrt(mass) / (3 * pow(2 * M_PI * (b + mass * a), 1.5));
        const double change = dt * rate * (a - b);
        a -= change;
        b += change;
    }
    const double left = temperature_of(&scene.list[A]) - temperature_of(&scene.list[B]);
    print_message("T_a - T_b %.4f, by the formula %.4f, at first %.4f\n", left, a - b, first);
    assert_near(first - left, first - (a - b), 0.05 * (first - (a - b)));
    const struct moments moments = moments_of(&scene.list[A]);
    for (int axis = 0; axis < 3;
         axis++) /* the kurtosis of 16,384 normal numbers is 3 to sqrt(24/16384) = 0.04 */
        assert_near(moments.kurtosis[axis], 3, 0.16);
}

/* psi(x) = 2/sqrt(pi) int_0^x sqrt(t) exp(-t) dt, and its derivative. */
static double psi(double x)
{
    return erf(sqrt(x)) - 2 * sqrt(x / M_PI) * exp(-x);
}
static double psi_slope(double x)
{
    return 2 * sqrt(x / M_PI) * exp(-x);
}

/* A beam of four electron masses and 3 thermal velocities, of so little density that the electrons stay as
 * they are. Its particles have a sixtieth of the electrons' weight: those take their part once in sixty
 * times. */
TEST(a_beam_slows_down)
{
    needs_speed();
    static const double still[3] = {0}, hot[3] = {1, 1, 1}, none[3] = {0}, drift[3] = {0, 1.8, 2.4};
    enum { STEPS = 110 };
    const double c = 2, dt = 1, mass = 4;
    struct scene scene;
    scene_open(&scene, 16, 16, 1, "[{species: [b, a]}]", c, dt);
    scene.config.species[B].mass = mass;
    scene.config.species[B].density = 0.002;
    scene_fill_evenly(&scene, A, 256, false);
    scene_fill_evenly(&scene, B, 32, false);
    write_maxwellian(&scene.list[A], hot, still, 7);
    write_maxwellian(&scene.list[B], none, drift, 8);
    scene_start(&scene);
    scene_step(&scene, STEPS);
    double along = 3, speed = 3;
    for (int n = 0; n < STEPS * 10; n++) {
        const double x = speed * speed / 2, rate = c / (4 * M_PI * mass * mass * pow(speed, 3));
        along -= 0.1 * dt * (1 + mass) * psi(x) * rate * along;
        speed -= 0.1 * dt * (mass * psi(x) - psi_slope(x)) * rate * speed;
    }
    const struct moments beam = moments_of(&scene.list[B]), electrons = moments_of(&scene.list[A]);
    const double now = 0.6 * beam.mean[1] + 0.8 * beam.mean[2];
    print_message("beam at %.4f, by the formula %.4f; electrons at %.5f\n", now, along,
                  0.6 * electrons.mean[1] + 0.8 * electrons.mean[2]);
    assert_near(3 - now, 3 - along, 0.05 * (3 - along));
    /* what the beam lost, of 0.008 of their mass; sixty times fewer collisions, each with sixty times the
     * momentum, scatter by a tenth of it */
    assert_near(0.6 * electrons.mean[1] + 0.8 * electrons.mean[2], 0.008 * (3 - now),
                0.3 * 0.008 * (3 - now));
}

/* ---- rates from SI numbers ---- */

/* nu_e = 2.91e-6 n L T^(-3/2) /s of the NRL formulary, n in 1/cm^3 and T in eV, on ions that do not move; L
 * by its page 34. */
TEST(rates_are_those_of_the_formulary)
{
    struct scene scene;
    scene_open(&scene, 4, 4, 64, "[{species: [a, b]}, {species: [a, a]}, {species: [b, b]}]", 1, 1);
    scene.config.units = (struct units_config){1e20, 50};
    struct species_config *ion = &scene.config.species[B];
    ion->mass = 1836.15 * 2;
    for (int s = 0; s < SPECIES; s++) {
        scene.config.species[s].velocities.kind = VELOCITIES_MAXWELLIAN;
        for (int axis = 0; axis < 3; axis++)
            scene.config.species[s].velocities.thermal[axis] = s == A ? 1 : sqrt(0.5 / ion->mass); /* 25 eV */
    }
    for (uint32_t n = 0; n < 3; n++)
        scene.config.collisions[n].coulomb_log = COULOMB_LOG_AUTO;
    const double n = 1e14, te = 50, ti = 25;
    assert_near(collisions_logarithm(&scene.config, &scene.config.collisions[0]), 24 - log(sqrt(n) / te),
                1e-9);
    assert_near(collisions_logarithm(&scene.config, &scene.config.collisions[1]),
                23.5 - log(sqrt(n) * pow(te, -1.25)) - sqrt(1e-5 + pow(log(te) - 2, 2) / 16), 1e-9);
    assert_near(collisions_logarithm(&scene.config, &scene.config.collisions[2]),
                23 - log(sqrt(2 * n / ti) / ti), 1e-9);
    scene.config.collisions[0].coulomb_log = 10;
    const double rate = collisions_rate(&scene.config, &scene.config.collisions[0], false) /
                        units_make(&scene.config.units).time;
    const double expected = 2.91e-6 * n * 10 * pow(te, -1.5);
    assert_near(rate / expected, 1, 5e-3); /* three digits; m_e/m_i is 3e-4 */
    const double back = collisions_rate(&scene.config, &scene.config.collisions[0], true) /
                        units_make(&scene.config.units).time;
    assert_near(back / rate, 1 / ion->mass, 1e-9);
}

/* ---- ranks, steps and runs ---- */

static double (*after_steps(int rank, uint32_t seed, uint64_t step, uint64_t every))[3]
{
    static const double still[3] = {0}, hot[3] = {1, 1, 1};
    struct scene scene;
    scene_open(&scene, 4, 4, 1, "[{species: [a, a]}]", 3, 1);
    scene.config.seed = seed;
    scene.config.collisions[0].every = every;
    scene_fill_evenly(&scene, A, 9, false);
    write_maxwellian(&scene.list[A], hot, still, 1);
    assert_ok(
        collisions_create(device, &scene.config, &scene.slab, rank, scene.list[A].count, &scene.collisions));
    scene.step = step;
    scene_step(&scene, 1);
    return read_velocities(&scene.list[A]);
}

TEST(draws_follow_from_seed_rank_and_step)
{
    const size_t bytes = 4 * 4 * 9 * sizeof(double[3]);
    double(*usual)[3] = after_steps(0, 1, 6, 1);
    assert_memory_equal(after_steps(0, 1, 6, 1), usual, bytes);
    assert_memory_not_equal(after_steps(1, 1, 6, 1), usual, bytes);
    assert_memory_not_equal(after_steps(0, 2, 6, 1), usual, bytes);
    assert_memory_not_equal(after_steps(0, 1, 7, 1), usual, bytes);
    assert_memory_not_equal(after_steps(0, 1, 6, 2), after_steps(0, 1, 7, 2),
                            bytes); /* the second has none */
}

TEST_MAIN(open_device, close_device)
