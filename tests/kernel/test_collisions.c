/* Collisions: what each pair keeps, how it is turned, and what its draws follow from. Relaxation is that of
 * tests/kernel/test_relaxation.c. */
#include "support/collision_scene.h"

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
    for (int variant = 0; variant < 4; variant += test_is_small() ? 3 : 1) {
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

/* Also those that share particles: triples, and the less numerous species'. */
TEST(cells_of_any_number_keep_momentum_and_energy)
{
    static const struct {
        const char *pairs;
        uint32_t each_a, each_b;
    } cases[] = {{"[{species: [a, a]}]", 1, 1},
                 {"[{species: [a, a]}]", 2, 1},
                 {"[{species: [a, a]}]", 3, 1},
                 {"[{species: [a, a]}]", 5, 1},
                 {"[{species: [a, a]}]", 100, 1},
                 {"[{species: [a, b]}]", 1, 1},
                 {"[{species: [a, b]}]", 7, 3},
                 {"[{species: [a, b]}]", 2, 5},
                 {"[{species: [b, a]}]", 40, 41},
                 {"[{species: [a, a], model: nanbu}]", 7, 1},
                 {"[{species: [a, b], model: nanbu}]", 7, 3}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++)
        check_conservation(cases[n].pairs, cases[n].each_a, cases[n].each_b);
}

/* The velocities of both species after two steps, in cells of all kinds: one that local memory is not
 * made for, if `has_full_cell`. */
static double (*collided(const char *pairs, uint32_t group_items, bool has_full_cell, bool aos,
                         uint32_t *count))[3]
{
    static const double still[3] = {0}, hot[3] = {1, 1, 1};
    const uint32_t full = has_full_cell ? 120 : 7; /* of both species together above STAGED, 192 */
    const uint32_t counts_a[] = {0, 1, 2, 3, full, 40, 5, 33, 1},
                   counts_b[] = {3, 2, 0, 8, full, 41, 2, 1, 1};
    struct scene scene;
    scene_open(&scene, 3, 3, 1, pairs, 3, 1);
    scene.group_items = group_items;
    scene_fill(&scene, A, counts_a, aos);
    scene_fill(&scene, B, counts_b, aos);
    scene.list[B].weight = 0.7 * scene.list[A].weight;
    write_maxwellian(&scene.list[A], hot, still, 1);
    write_maxwellian(&scene.list[B], hot, still, 2);
    scene_start(&scene);
    scene_step(&scene, 2);
    *count = scene.list[A].count + scene.list[B].count;
    double(*all)[3] = test_array(*count, sizeof *all);
    memcpy(all, read_velocities(&scene.list[A]), scene.list[A].count * sizeof *all);
    memcpy(all + scene.list[A].count, read_velocities(&scene.list[B]), scene.list[B].count * sizeof *all);
    return all;
}

/* To round-off, which a pair that is turned much brings to those after it. */
TEST(local_memory_and_vectors_find_the_same)
{
    static const char *const pairs[] = {"[{species: [a, a]}]", "[{species: [a, b]}]",
                                        "[{species: [b, a], model: nanbu}, {species: [b, b]}]"};
    for (int n = 0; n < 12; n += test_is_small() ? 5 : 1) {
        const bool has_full_cell = n % 4 / 2 == 1;
        uint32_t count = 0;
        double(*expected)[3] = collided(pairs[n / 4], 1, has_full_cell, n % 2, &count);
        double(*met)[3] = collided(pairs[n / 4], 16, has_full_cell, n % 2, &count);
        for (uint32_t p = 0; p < count; p++)
            for (int axis = 0; axis < 3; axis++)
                assert_near(met[p][axis], expected[p][axis],
                            best_precision() == PRECISION_DOUBLE ? 1e-9 : 1e-3);
    }
}

/* Particles beside each other have one velocity; and u along z has no direction across. */
static void check_no_direction(const char *pairs)
{
    struct scene scene;
    double(*all)[3] = scene_alone(&scene, 4, 4, 4, pairs, 3, 1);
    for (uint32_t p = 0; p < scene.list[A].count; p++)
        all[p][2] = p % 8 < 4 ? 1 : p % 2;
    write_velocities(&scene.list[A], all);
    double(*sums)[4] = cell_sums(&scene);
    scene_collide(&scene, all, 5);
    check_kept(&scene, sums, 1e-6);
}

TEST(pairs_without_a_direction_stay_finite)
{
    check_no_direction("[{species: [a, a]}]");
    check_no_direction("[{species: [a, a], model: nanbu}]");
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

/* How likely a turn is less than that of delta = tan(theta/2), by the models: deviation sigma, s = 2 sigma^2.
 */
static double takizuka_abe_chance(double delta, double sigma)
{
    return erf(delta / sigma / sqrt(2));
}

static double nanbu_chance(double delta, double sigma)
{
    double low = 1e-9, high = 1e6; /* coth A - 1/A, which is A/3 where 1/A would cancel, grows with A */
    while (high / low > 1 + 1e-12) {
        const double a = sqrt(low * high);
        *((a < 1e-4 ? a / 3 : 1 / tanh(a) - 1 / a) < exp(-2 * sigma * sigma) ? &low : &high) = a;
    }
    const double versine = 2 * delta * delta / (1 + delta * delta);
    return expm1(-low * versine) / expm1(-2 * low);
}

/* The relative velocities u of all, before, and their turns: by delta as `chance` has it, and about u. */
static void check_turns(const double u[3], double (*after)[3], uint32_t count,
                        double (*chance)(double delta, double sigma), double sigma)
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
        deltas[(int)fmin(BINS * chance(delta, sigma), BINS - 1)]++;
        turns[(int)fmin(BINS * turn, BINS - 1)]++;
    }
    check_uniform(deltas, count);
    check_uniform(turns, count);
}

/* A species with itself, two particles a cell: <delta^2> = c n dt/(8 pi m_ab^2 u^3) with n = 1 particle a
 * cell, m_ab = 1/2 and u = 1. */
static void check_angles(const char *pairs, double c, double (*chance)(double delta, double sigma))
{
    static const double u[3] = {1 / 3.0, 2 / 3.0, 2 / 3.0};
    struct scene scene;
    scene_open(&scene, 256, 128, 1, pairs, c, 0.5);
    scene.config.precision = c > 100 ? PRECISION_SINGLE : best_precision();
    scene_fill_evenly(&scene, A, 2, false);
    double(*all)[3] = test_array(scene.list[A].count, sizeof *all);
    for (uint32_t p = 1; p < scene.list[A].count; p += 2)
        memcpy(all[p], u, sizeof all[p]);
    double(*after)[3] = scene_collide(&scene, all, 1);
    for (uint32_t p = 0; p < scene.list[A].count; p += 2)
        for (int axis = 0; axis < 3; axis++)
            after[p / 2][axis] = after[p + 1][axis] - after[p][axis];
    check_turns(u, after, scene.list[A].count / 2, chance,
                sqrt(scene.list[A].weight * c * 0.5 * 4 / (8 * M_PI)));
}

TEST(tangents_of_half_the_angle_are_gaussian)
{
    needs_speed();
    check_angles("[{species: [a, a]}]", 0.7, takizuka_abe_chance);
}

/* s of about 0.02, 0.3, 5 and, where A cancels most in single precision, 90. */
TEST(angles_of_many_turns_are_nanbus)
{
    needs_speed();
    for (double c = 0.2; c < 2000; c *= 18)
        check_angles("[{species: [a, a], model: nanbu}]", c, nanbu_chance);
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
    write_velocities(&scene.list[B], test_array(scene.list[B].count, sizeof *all));
    check_turns(u, scene_collide(&scene, all, 1), scene.list[A].count, takizuka_abe_chance,
                sqrt(2 * scene.list[A].weight * 0.3 * 0.5 / (8 * M_PI)));
}

/* Three particles of one species in a cell, with relative velocities of 1, collide in three pairs, each with
 * half the variance of the density of the two others: as long as turns are small, each of a pair changes by
 * delta, and changes add up as squares. */
TEST(each_pair_of_a_triple_has_half_the_variance)
{
    needs_speed();
    static const double corner[3][3] = {{0, 0, 0}, {1, 0, 0}, {0.5, 0.8660254037844386, 0}};
    struct scene scene;
    double sum = 0;
    double(*before)[3] = scene_alone(&scene, 64, 64, 3, "[{species: [a, a]}]", 0.02, 0.5);
    for (uint32_t p = 0; p < scene.list[A].count; p++)
        memcpy(before[p], corner[p % 3], sizeof before[p]);
    double(*after)[3] = scene_collide(&scene, before, 1);
    for (uint32_t p = 0; p < scene.list[A].count; p++)
        for (int axis = 0; axis < 3; axis++)
            sum += pow(after[p][axis] - before[p][axis], 2);
    const double variance = 2 * scene.list[A].weight * 0.02 * 0.5 * 4 / (8 * M_PI);
    const double expected = scene.list[A].count * 2 * variance / 2;
    print_message("changes of %.3f of what is expected\n", sum / expected);
    assert_near(sum, expected, 0.06 * expected);
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
    assert_ok(collisions_create(device, &scene.config, &scene.slab, rank, scene.list[A].count, 0,
                                &scene.collisions));
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
