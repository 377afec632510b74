/* Deposit, cell by cell, in the ways of CPUs and of GPUs on any device: charge, comparison with a sum over
 * particles in doubles on the host, and the same bits every run. */
#include "field/deposit.h"
#include "support/deposit_support.h"

#include "device/internal.h"

/* Of particle p where particles have weights: none for some, and 3/2 at most. */
static double weight_of(const struct deposit_scene *scene, uint32_t p)
{
    return scene->sorted.species.carries_weights ? 5 * p % 7 / 4.0 : 1;
}

/* Particles of a scene that has w, weights, or both, which its lists have not. */
static struct deposit_scene *scene_with(const struct deposit_case *at, enum precision precision,
                                        uint64_t seed, bool has_w, bool weighs)
{
    struct deposit_scene *scene = deposit_scene_create(at, precision, seed);
    struct sorted_particles *sorted = &scene->sorted;
    const uint32_t count = sorted->particles.count;
    struct particles *const lists[] = {&sorted->particles, &scene->aos};
    if (!has_w && !weighs)
        return scene;
    sorted->species.velocities.dimensions = has_w ? 3 : 2;
    sorted->species.carries_weights = weighs;
    char *weights = test_array(count, attribute_bytes(precision, ATTRIBUTE_WEIGHT));
    for (uint32_t p = 0; p < count; p++)
        store_real(precision, weights, p, weight_of(scene, p));
    for (int n = 0; n < 2; n++) {
        sorted_particles_list(device, &scene->grid, n == 0 ? LAYOUT_SOA : LAYOUT_AOS, count, sorted,
                              lists[n]);
        if (weighs)
            assert_ok(particles_write(lists[n], ATTRIBUTE_WEIGHT, 0, count, weights));
    }
    return scene;
}

/* Sums of shares times the weight of a particle. */
struct weight_sums {
    long double *sums;
    double weight;
};

static void add_weight(void *with, uint32_t node, double share)
{
    const struct weight_sums *to = with;
    to->sums[node] += (long double)(to->weight * share);
}

/* Sums of weights on the nodes, in long double so that they are the better of the two. */
static double *host_weights(const struct deposit_scene *scene, enum shape_kind shape)
{
    const struct sorted_particles *sorted = &scene->sorted;
    const uint32_t cells = grid_cells(&scene->grid);
    long double *sums = test_array(cells, sizeof *sums);
    double *weights = field_numbers(cells);
    for (uint32_t p = 0; p < sorted->particles.count; p++)
        test_for_nodes(&scene->grid, shape, sorted->cell[p], sorted->offset[p], add_weight,
                       &(struct weight_sums){sums, weight_of(scene, p)});
    for (uint32_t node = 0; node < cells; node++)
        weights[node] = (double)sums[node];
    return weights;
}

/* How the particles are summed: by items with vectors, or by groups. */
enum { AS_CPU, AS_GPU, WAYS, BOTH_WAYS = (1 << WAYS) - 1 };

static struct deposit *deposit_for(const struct deposit_scene *scene, enum shape_kind shape, int way)
{
    struct deposit *deposit = NULL;
    const bool is_cpu = device->core->info.is_cpu;
    device->core->info.is_cpu = way == AS_CPU;
    test_optimise(way == AS_CPU);
    assert_ok(deposit_create(device, &scene->grid, scene->sorted.precision, shape,
                             scene->sorted.species.carries_weights, NULL, grid_cells(&scene->grid),
                             scene->sorted.particles.count, &deposit));
    device->core->info.is_cpu = is_cpu;
    return deposit;
}

/* One species deposited alone. */
static double *deposited(struct deposit *deposit, const struct deposit_scene *scene,
                         const struct particles *particles)
{
    struct buffer *rho = deposit_unset(scene);
    assert_ok(deposit_species(deposit, particles, true, rho, 0));
    return field_read(rho, particles->precision, grid_cells(&scene->grid));
}

/* A block of at most 32 is added plainly before the compensated total: 32 roundings of the node's sum at
 * worst; the terms' own and the few sums after it are within 8 more. The caller adds 1 to `weights`, since a
 * weight near 0 is a difference of numbers near 1 and errs by their rounding. */
static double tolerance(const struct particles *particles, double scale, double weights)
{
    return fabs(scale) * 40 * test_epsilon(particles->precision) * weights;
}

/* One way, one layout: near the host's sums, the right charge in all, the same bits again. */
static void check_layout(struct deposit *deposit, const struct deposit_scene *scene,
                         const struct particles *particles, const double *expected)
{
    const uint32_t cells = grid_cells(&scene->grid), count = particles->count;
    const double scale = deposit_scale(scene), area = scene->grid.dx * scene->grid.dy, charge = scale * area;
    const double *rho = deposited(deposit, scene, particles);
    if (!test_is_small())
        assert_memory_equal(rho, deposited(deposit, scene, particles), cells * sizeof *rho);
    long double total = 0, weights = 0;
    for (uint32_t p = 0; p < count; p++)
        weights += (long double)weight_of(scene, p);
    for (uint32_t node = 0; node < cells; node++) {
        assert_near(rho[node], scale * expected[node], tolerance(particles, scale, expected[node] + 1));
        total += (long double)rho[node];
    }
    assert_near((double)total * area, charge * (double)weights,
                16 * tolerance(particles, charge, (count + 1) / 16.0));
}

/* In the ways that are set in `ways`, by bits; the sums of the host, which take as long as a deposit, are the
 * same for all. */
static void check_case(const struct deposit_case *at, enum precision precision, enum shape_kind shape,
                       unsigned ways, bool weighs)
{
    struct deposit_scene *scene = scene_with(at, precision, 7 + test_count(at->count), false, weighs);
    const double *expected = host_weights(scene, shape);
    for (int way = 0; way < WAYS; way++) {
        if (!(ways & 1U << way))
            continue;
        struct deposit *deposit = deposit_for(scene, shape, way);
        check_layout(deposit, scene, &scene->sorted.particles, expected);
        check_layout(deposit, scene, &scene->aos, expected);
    }
}

/* Kernels take long to build: each shape is in both precisions, one in each way. Under oclgrind all is in
 * single precision, and cic and the widest shape are enough: whole runs there have the others, in double too.
 */
static bool is_left_out(enum shape_kind shape)
{
    return test_is_small() && shape != SHAPE_CIC && shape != SHAPE_COUNT - 1;
}

static enum precision precision_of(enum shape_kind shape, int way)
{
    return ((int)shape + way) % 2 && !test_is_small() ? best_precision() : PRECISION_SINGLE;
}

TEST(matches_the_host)
{
    for (enum shape_kind shape = SHAPE_NGP; shape < SHAPE_COUNT; shape++)
        for (int way = 0; way < WAYS; way++)
            for (size_t n = deposit_first_case(); n < deposit_end_case() && !is_left_out(shape); n++)
                if (deposit_case_fits(&deposit_cases[n], (int)shape))
                    check_case(&deposit_cases[n], precision_of(shape, way), shape, 1U << way, false);
}

/* So many segments that the pieces of a full cell are added before: a cell of half of all particles, among so
 * many that a GPU takes one item a node; and five cells of just over 16 pieces, most of them 17, the fewest
 * of a full cell. */
TEST(many_pieces_of_one_cell)
{
    needs_speed();
    check_case(&(struct deposit_case){512, 256, 600000, 0.5}, PRECISION_SINGLE, SHAPE_CIC, BOTH_WAYS, false);
    check_case(&(struct deposit_case){2, 3, 667000, 0}, PRECISION_SINGLE, SHAPE_CIC, BOTH_WAYS, false);
}

/* A particle that is not a number shows in the nodes around it and in no others. */
TEST(not_a_number_shows)
{
    needs_speed();
    for (enum shape_kind shape = SHAPE_NGP; shape < SHAPE_COUNT; shape++)
        for (int way = 0; way < WAYS; way++) {
            struct deposit_scene *scene = deposit_scene_create(&(struct deposit_case){16, 16, 20000, 0.25},
                                                               precision_of(shape, way), 11);
            const uint32_t broken = scene->sorted.particles.count / 3;
            scene->sorted.offset[broken][1] = (double)NAN;
            deposit_scene_upload(scene);
            const int row = (int)(scene->sorted.cell[broken] / 16);
            struct deposit *deposit = deposit_for(scene, shape, way);
            deposit_check_broken(deposited(deposit, scene, &scene->sorted.particles), row);
            deposit_check_broken(deposited(deposit, scene, &scene->aos), row);
        }
}

/* A deposit made for fewer particles says so and writes nothing beyond its sums. */
TEST(more_particles_than_made_for)
{
    struct deposit_scene *scene =
        deposit_scene_create(&(struct deposit_case){4, 4, 101, 0}, PRECISION_SINGLE, 5);
    struct deposit *deposit = NULL;
    assert_ok(deposit_create(device, &scene->grid, PRECISION_SINGLE, SHAPE_CIC, false, NULL,
                             grid_cells(&scene->grid), 100, &deposit));
    assert_fails(deposit_species(deposit, &scene->sorted.particles, true, deposit_unset(scene), 0),
                 "100 particles was given 101");
}

/* 100,000 equal particles in one cell, single precision: rounding errors that all point one way. Shapes
 * differ in the terms, not in how they are added, so each is in one way. */
TEST(long_sums_do_not_drift)
{
    needs_speed();
    struct deposit_scene *scene =
        deposit_scene_create(&(struct deposit_case){4, 4, 100000, 1}, PRECISION_SINGLE, 1);
    for (uint32_t p = 0; p < scene->sorted.particles.count; p++) {
        scene->sorted.offset[p][0] = (double)0.3f;
        scene->sorted.offset[p][1] = (double)0.7f;
    }
    deposit_scene_upload(scene);
    const double scale = deposit_scale(scene);
    for (enum shape_kind shape = SHAPE_NGP; shape < SHAPE_COUNT; shape++) {
        const double *expected = host_weights(scene, shape);
        for (int way = 0; way < WAYS; way++) {
            if (precision_of(shape, way) != PRECISION_SINGLE)
                continue;
            const double *rho = deposited(deposit_for(scene, shape, way), scene, &scene->sorted.particles);
            /* The plain sums of 32 equal terms err by at most 32/2 roundings of half an epsilon, 1e-6. */
            for (uint32_t node = 0; node < grid_cells(&scene->grid); node++)
                assert_near(rho[node], scale * expected[node], 1e-6 * fabs(scale) * expected[node]);
        }
    }
}

/* 64 pieces of one cell, as many as stay apart where an item adds all of a node: particles of the first give
 * its lower node 1 each, those of the others 2^-25 each, of which no piece is half a rounding of the first,
 * but all together are 16 of them. All sums but the last ones are exact. */
TEST(small_pieces_are_not_lost)
{
    enum { FIRST = 8192, COUNT = 64 * FIRST };
    needs_speed();
    struct deposit_scene *scene =
        deposit_scene_create(&(struct deposit_case){4, 4, COUNT, 1}, PRECISION_SINGLE, 1);
    for (uint32_t p = 0; p < COUNT; p++) {
        scene->sorted.offset[p][0] = p < FIRST ? 0 : 1 - 0x1p-12;
        scene->sorted.offset[p][1] = p < FIRST ? 0 : 1 - 0x1p-13;
    }
    deposit_scene_upload(scene);
    const double scale = deposit_scale(scene), expected = FIRST + 0x1p-25 * (COUNT - FIRST);
    for (int way = 0; way < WAYS; way++) {
        const double *rho = deposited(deposit_for(scene, SHAPE_CIC, way), scene, &scene->sorted.particles);
        assert_near(rho[scene->sorted.cell[0]], scale * expected, 4 * 0x1p-23 * fabs(scale) * expected);
    }
}

/* The second species adds to what the first left. */
TEST(species_add_up)
{
    struct deposit_scene *electrons =
        deposit_scene_create(&(struct deposit_case){8, 8, 3000, 0}, PRECISION_SINGLE, 5);
    struct deposit_scene *ions =
        deposit_scene_create(&(struct deposit_case){8, 8, 200, 0}, PRECISION_SINGLE, 6);
    ions->sorted.species.charge = 1.5;
    const struct particles *first = &electrons->sorted.particles, *second = &ions->sorted.particles;
    struct buffer *rho = deposit_unset(electrons);
    for (int way = 0; way < WAYS; way++) {
        struct deposit *deposit = deposit_for(electrons, SHAPE_CIC, way);
        assert_ok(deposit_species(deposit, first, true, rho, 0));
        assert_ok(deposit_species(deposit, second, false, rho, 0));
        const double *sum = field_read(rho, PRECISION_SINGLE, 64);
        const double *of_electrons = deposited(deposit, electrons, first);
        const double *of_ions = deposited(deposit, ions, second);
        for (uint32_t node = 0; node < 64; node++) /* one product and one sum, fused or not */
            assert_near(sum[node], of_electrons[node] + of_ions[node],
                        0x1p-23 * (fabs(of_electrons[node]) + fabs(of_ions[node])));
    }
}

/* ---- the charge and the current ---- */

enum { SOURCES = 4 };

/* What a particle gives to nodes: the weights times its amounts of components from `first` to before `end`,
 * 1 of the charge and the velocity, and their magnitudes. */
struct source_sums {
    double amount[SOURCES];
    int first, end;
    long double (*sum)[SOURCES], (*magnitude)[SOURCES];
};

static void add_sources(void *with, uint32_t node, double weight)
{
    struct source_sums *to = with;
    for (int c = to->first; c < to->end; c++) {
        to->sum[node][c] += (long double)(to->amount[c] * weight);
        to->magnitude[node][c] += (long double)fabs(to->amount[c] * weight);
    }
}

/* c = 4 and c dt the side of a cell: at most half a cell back. */
static const double light = 4;

static void host_sources(const struct deposit_scene *scene, enum shape_kind shape, double time_step,
                         struct source_sums *sums)
{
    const struct sorted_particles *sorted = &scene->sorted;
    const struct grid *grid = &scene->grid;
    sums->sum = test_array(grid_cells(grid), sizeof *sums->sum);
    sums->magnitude = test_array(grid_cells(grid), sizeof *sums->magnitude);
    for (uint32_t p = 0; p < sorted->particles.count; p++) {
        const double weight = weight_of(scene, p),
                     u[] = {sorted->velocity[p][0], sorted->velocity[p][1], sorted->w[p]};
        const double gamma = sqrt(1 + (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) / (light * light));
        *sums = (struct source_sums){
            {weight, weight * u[0] / gamma, weight * u[1] / gamma, weight * u[2] / gamma},
            0,
            1,
            sums->sum,
            sums->magnitude};
        const double middle[2] = {sorted->offset[p][0] - u[0] / gamma * time_step / (2 * grid->dx),
                                  sorted->offset[p][1] - u[1] / gamma * time_step / (2 * grid->dy)};
        test_for_nodes(grid, shape, sorted->cell[p], sorted->offset[p], add_sources, sums);
        sums->first = 1;
        sums->end = SOURCES;
        test_for_nodes(grid, shape, sorted->cell[p], middle, add_sources, sums);
    }
}

static struct deposit *sources_deposit(const struct deposit_scene *scene, enum shape_kind shape, int way)
{
    struct deposit *deposit = NULL;
    const bool is_cpu = device->core->info.is_cpu;
    device->core->info.is_cpu = way == AS_CPU;
    test_optimise(way == AS_CPU);
    const struct deposit_current current = {fmin(scene->grid.dx, scene->grid.dy) / light,
                                            1 / (light * light)};
    assert_ok(deposit_create(device, &scene->grid, scene->sorted.precision, shape,
                             scene->sorted.species.carries_weights, &current, grid_cells(&scene->grid),
                             scene->sorted.particles.count, &deposit));
    device->core->info.is_cpu = is_cpu;
    return deposit;
}

/* The components, `stride` apart; `times` deposits, one on top of the other. */
static const double *deposited_sources(struct deposit *deposit, const struct particles *particles,
                                       uint32_t stride, int times)
{
    struct buffer *sources = test_buffer(SOURCES * stride * precision_bytes(particles->precision), NULL);
    assert_ok(buffer_fill(sources, UINT32_MAX));
    for (int n = 0; n < times; n++)
        assert_ok(deposit_species(deposit, particles, n == 0, sources, stride));
    return field_read(sources, particles->precision, SOURCES * stride);
}

/* Also the same bits again, and twice as much after a second deposit. */
static void check_sources_of(struct deposit *deposit, const struct deposit_scene *scene,
                             const struct particles *particles, const struct source_sums *expected)
{
    const uint32_t cells = grid_cells(&scene->grid), stride = cells + 5;
    const double *found = deposited_sources(deposit, particles, stride, 1);
    const double *twice = deposited_sources(deposit, particles, stride, 2);
    if (!test_is_small())
        assert_memory_equal(found, deposited_sources(deposit, particles, stride, 1),
                            SOURCES * cells * sizeof *found);
    for (uint32_t at_node = 0; at_node < SOURCES * cells; at_node++) {
        const uint32_t node = at_node / SOURCES, c = at_node % SOURCES, place = c * stride + node;
        const double near =
            2 * tolerance(particles, deposit_scale(scene), (double)expected->magnitude[node][c] + 1);
        assert_near(found[place], deposit_scale(scene) * (double)expected->sum[node][c], near);
        assert_near(twice[place], 2 * found[place], near);
    }
}

static void check_sources(const struct deposit_case *at, enum precision precision, enum shape_kind shape,
                          unsigned ways, bool weighs)
{
    const struct deposit_scene *scene = scene_with(at, precision, 3 + test_count(at->count), true, weighs);
    struct source_sums expected;
    host_sources(scene, shape, fmin(scene->grid.dx, scene->grid.dy) / light, &expected);
    for (int way = 0; way < WAYS; way++) {
        if (!(ways & 1U << way))
            continue;
        struct deposit *deposit = sources_deposit(scene, shape, way);
        check_sources_of(deposit, scene, &scene->sorted.particles, &expected);
        check_sources_of(deposit, scene, &scene->aos, &expected);
    }
}

/* The current at the middle of the last step, where particles may be in the cells beside their own. */
TEST(sources_match_the_host)
{
    for (enum shape_kind shape = SHAPE_NGP; shape < (test_is_small() ? SHAPE_TSC : SHAPE_COUNT); shape++) {
        const enum precision precision = shape < SHAPE_TSC ? PRECISION_SINGLE : best_precision();
        for (size_t n = deposit_first_case(); n < deposit_end_case() && !is_left_out(shape); n++)
            if (deposit_case_fits(&deposit_cases[n], (int)shape + 1))
                check_sources(&deposit_cases[n], precision, shape, BOTH_WAYS, false);
    }
}

TEST(sources_of_many_pieces_of_one_cell)
{
    needs_speed();
    check_sources(&(struct deposit_case){512, 256, 600000, 0.5}, PRECISION_SINGLE, SHAPE_CIC, BOTH_WAYS,
                  false);
    check_sources(&(struct deposit_case){16, 16, 20000, 0.25}, PRECISION_SINGLE, SHAPE_CUBIC, 1U << AS_GPU,
                  false);
}

TEST(current_of_a_velocity_that_is_not_a_number_shows)
{
    struct deposit_scene *scene =
        scene_with(&(struct deposit_case){16, 16, 20000, 0.25}, PRECISION_SINGLE, 3, true, false);
    const uint32_t broken = scene->sorted.particles.count / 3;
    scene->sorted.w[broken] = (double)NAN;
    deposit_scene_upload(scene);
    for (int way = 0; way < WAYS; way++) {
        struct deposit *deposit = sources_deposit(scene, SHAPE_CIC, way);
        const double *found = deposited_sources(deposit, &scene->sorted.particles, 256, 1);
        for (int c = 1; c < SOURCES; c++)
            deposit_check_broken(found + 256 * c, (int)(scene->sorted.cell[broken] / 16));
    }
}

/* Where particles have weights: of lists shorter than a vector, with a cell of many pieces, and of many
 * cells. In single precision shapes of odd order have the current of some particles in fixed point on GPUs.
 */
TEST(weights_count)
{
    for (enum shape_kind shape = SHAPE_CIC; shape <= (test_is_small() ? SHAPE_CIC : SHAPE_TSC); shape++)
        for (size_t n = 0; n < 3; n++) {
            const struct deposit_case cases[] = {{2, 2, 11, 0}, {8, 5, 40000, 0}, {32, 32, 40961, 0.5}};
            const enum precision precision = shape == SHAPE_CIC ? PRECISION_SINGLE : best_precision();
            check_case(&cases[n], precision, shape, BOTH_WAYS, true);
            if (n > 0)
                check_sources(&cases[n], precision, shape, BOTH_WAYS, true);
        }
}

TEST_MAIN(open_device, close_device)
