/* Step scene: the particles of one species on the local grid of a slab, and what one step makes of each by a
 * twin on the host, in doubles. For the tests of the push and of the steppers.
 *
 * Most scenes have a random field, and rounding may decide on the cell of a particle close to an edge. Exact
 * ones have none, and numbers of few bits: there the twin's cells and offsets are those of the device, bit
 * for bit.
 */
#ifndef RADIXPIC_TEST_STEP_SCENE_H
#define RADIXPIC_TEST_STEP_SCENE_H

#include "support/sorted_particles.h"

#include "shared/motion.h" /* in double precision, with w */
#include "step/stepper.h"

/* What a scene is made of; two scenes of the same sort hold the same particles. */
struct scene_kind {
    uint32_t nx, ny, count; /* of the local grid */
    enum precision precision;
    enum shape_kind shape;
    double magnetic; /* along z; see scene_magnetic() */
    bool has_w, tilted;
    double cluster; /* share of the particles in one cell */
    double speed;   /* what velocities are multiplied by */
    bool exact;     /* and some particles go anywhere, some for ever */
    uint32_t ghost; /* rows, of an exact scene */
    uint32_t own;   /* rows, of one without ghost rows; 0: all */
};

static inline struct scene_kind field_scene(uint32_t nx, uint32_t ny, uint32_t count,
                                            enum precision precision, enum shape_kind shape, double magnetic,
                                            double cluster, double speed)
{
    return (struct scene_kind){.nx = nx,
                               .ny = ny,
                               .count = count,
                               .precision = precision,
                               .shape = shape,
                               .magnetic = magnetic,
                               .cluster = cluster,
                               .speed = speed};
}

static inline struct scene_kind exact_scene(uint32_t nx, uint32_t ny, uint32_t count,
                                            enum precision precision, double cluster, uint32_t ghost,
                                            uint32_t own)
{
    struct scene_kind kind = field_scene(nx, ny, count, precision, SHAPE_CIC, 0, cluster, 1);
    kind.exact = true;
    kind.ghost = ghost;
    kind.own = own;
    return kind;
}

/* The same with the component w, and B in any direction. */
static inline struct scene_kind with_w(struct scene_kind kind)
{
    kind.has_w = kind.tilted = true;
    return kind;
}

struct scene {
    struct scene_kind kind;
    struct device *device; /* the handle that owns what is made for the scene: the caller closes it */
    struct slab slab;
    double time_step;
    struct fields fields;
    double *field[2];               /* as the device holds them */
    struct sorted_particles sorted; /* as loaded */
    uint64_t ids;                   /* given so far */
};

/* ---- making a scene ---- */

static inline double *scene_field(const struct scene *scene, struct buffer *buffer, uint64_t seed)
{
    const enum precision precision = scene->kind.precision;
    const uint32_t nodes = grid_cells(&scene->slab.local);
    double *numbers = test_array(nodes, sizeof *numbers);
    for (uint32_t n = 0; n < nodes && !scene->kind.exact; n++)
        numbers[n] = test_rounded(precision, 2 * test_random(&seed) - 1);
    assert_ok(buffer_write_reals(buffer, precision, 0, nodes, numbers));
    return numbers;
}

/* Numbers of particles of an exact scene that go nowhere, or as far as an integer counts. */
enum { BAD_PARTICLE = 100, FAR_PARTICLE = 110, SPECIAL_PARTICLES = 6 };

/* How far a particle goes along an axis, in cells: mostly to a neighbour, else anywhere about the grid, and
 * at times very far. Displacements are multiples of 1/16 and offsets odd ones of 1/32. */
static inline double random_way(uint32_t cells, uint64_t *seed)
{
    const double kind = test_random(seed), way = test_random(seed);
    if (kind < 0.8)
        return floor(16 * (3 * way - 1.5)) / 16;
    const double longest = kind < 0.99 ? 1.5 * cells : 50.0 * cells;
    return floor(16 * longest * (2 * way - 1)) / 16;
}

static inline void scene_make_exact(struct scene *scene, uint64_t seed)
{
    const struct grid *grid = &scene->slab.local;
    const double per_cell[2] = {grid->dx / scene->time_step, grid->dy / scene->time_step};
    const uint32_t cells[2] = {grid->nx, grid->ny};
    const double bad[SPECIAL_PARTICLES] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e30, -1e30,
                                           1e12};
    const double far[SPECIAL_PARTICLES] = {9e8, -9e8, 1e8, -1e8, 2e9 / 3, -2e9 / 3};
    struct sorted_particles *sorted = &scene->sorted;
    for (uint32_t p = 0; p < scene->kind.count; p++)
        for (int axis = 0; axis < 2; axis++) {
            sorted->offset[p][axis] = (2 * floor(16 * test_random(&seed)) + 1) / 32;
            sorted->velocity[p][axis] = random_way(cells[axis], &seed) * per_cell[axis];
        }
    for (int n = 0; n < SPECIAL_PARTICLES && scene->kind.count >= FAR_PARTICLE + SPECIAL_PARTICLES; n++) {
        sorted->velocity[BAD_PARTICLE + n][0] = bad[n];
        sorted->velocity[FAR_PARTICLE + n][0] = test_rounded(sorted->precision, far[n] * per_cell[0]);
    }
}

/* Tilted, B has components in the plane too. */
static inline void scene_magnetic(const struct scene_kind *kind, double magnetic[3])
{
    magnetic[0] = kind->tilted ? -0.6 * kind->magnetic : 0;
    magnetic[1] = kind->tilted ? 0.4 * kind->magnetic : 0;
    magnetic[2] = kind->magnetic;
}

/* For the stepper; all particles stand in own rows, and the list has room for `more`. */
static inline void scene_create(const struct scene_kind *kind, const struct stepper_kind *stepper, bool ids,
                                uint32_t more, struct scene *scene)
{
    test_optimise(stepper != &tiled_step);
    const uint32_t rows = kind->ghost ? 10 * kind->nx : kind->nx;
    const uint32_t own = kind->ghost ? kind->nx - 2 * kind->ghost - 1 : kind->own ? kind->own : kind->nx;
    const double dx = kind->exact ? 0.5 : 0.4, dy = kind->exact ? 0.125 : 0.7;
    const struct grid box =
        grid_make(&(struct grid_config){.cells = {rows, kind->ny}, .length = {dx * rows, dy * kind->ny}});
    *scene = (struct scene){.kind = *kind, .time_step = kind->exact ? 0.25 : 0.3, .ids = kind->count};
    scene->slab = slab_make(&box, 0, own, kind->ghost);
    assert_ok(device_branch(device, &scene->device));
    struct sorted_particles *sorted = &scene->sorted;
    sorted_particles_make(kind->precision, slab_own_cells(&scene->slab), kind->count, kind->cluster,
                          11 + kind->count, sorted);
    sorted->cells = grid_cells(&scene->slab.local);
    sorted->species.ids = ids;
    sorted->species.velocities.dimensions = kind->has_w ? 3 : 2;
    for (uint32_t p = 0; p < kind->count; p++)
        for (int axis = 0; axis < 2; axis++)
            sorted->velocity[p][axis] =
                test_rounded(kind->precision, sorted->velocity[p][axis] * kind->speed);
    if (kind->exact)
        scene_make_exact(scene, 5 + kind->count);
    assert_ok(particles_create(scene->device, &scene->slab, kind->precision,
                               stepper->layout[device_info(device)->is_cpu], &sorted->species,
                               kind->count + more, &sorted->particles));
    sorted->particles.count = kind->count;
    sorted_particles_upload(sorted);
    assert_ok(fields_create(scene->device, &scene->slab.local, kind->precision, SOLVER_ELECTROSTATIC,
                            &scene->fields));
    scene->field[0] = scene_field(scene, field_component(&scene->fields, FIELD_E, 0), 21);
    scene->field[1] = scene_field(scene, field_component(&scene->fields, FIELD_E, 1), 22);
}

static inline struct stepper_setup scene_setup(const struct scene *scene)
{
    const struct scene_kind *kind = &scene->kind;
    const struct particles *list = &scene->sorted.particles;
    struct stepper_setup setup = {.grid = scene->slab.local,
                                  .ghost_rows = kind->ghost,
                                  .own_rows = scene->slab.rows,
                                  .leaves_gaps = kind->ghost > 0 || kind->own > 0,
                                  .carries = scene->sorted.species.ids,
                                  .sorts = {!kind->has_w, kind->has_w},
                                  .precision = kind->precision,
                                  .layout = list->layout,
                                  .shape = kind->shape,
                                  .time_step = scene->time_step,
                                  .felt = 2,
                                  .species_count = 2, /* the second to see that sets of sums do not mix */
                                  .capacity = list->capacity,
                                  .fewest = list->count,
                                  .reach = {2, 2}};
    const struct sort_config sort = {0};
    scene_magnetic(kind, setup.magnetic);
    assert_ok(sorter_plan_make(device_info(device), &sort, grid_key_bits(&setup.grid), setup.capacity,
                               &setup.sort));
    return setup;
}

/* The list as it is on the device. */
static inline struct sorted_particles state_read(const struct scene *scene)
{
    return sorted_particles_read(&scene->sorted.particles, scene->sorted.cells);
}

/* ---- the twin ---- */

struct interpolation {
    const struct scene *scene;
    double field[2];
};

static inline void add_field(void *into, uint32_t node, double weight)
{
    struct interpolation *interpolation = into;
    for (int axis = 0; axis < 2; axis++)
        interpolation->field[axis] += weight * interpolation->scene->field[axis][node];
}

static inline struct velocity_step twin_velocity(const struct scene *scene, const struct sorted_particles *at,
                                                 uint32_t p)
{
    const struct species_config *species = &scene->sorted.species;
    const double half_kick = 0.5 * scene->time_step * species->charge / species->mass;
    double magnetic[3];
    scene_magnetic(&scene->kind, magnetic);
    const struct pusher pusher = pusher_make(half_kick, magnetic, 0);
    const struct velocity old = {at->velocity[p][0], at->velocity[p][1], scene->kind.has_w ? at->w[p] : 0};
    struct interpolation here = {.scene = scene};
    if (isnan(at->offset[p][0] + at->offset[p][1]))
        here.field[0] = here.field[1] = (double)NAN;
    else if (!scene->kind.exact)
        test_for_nodes(&scene->slab.local, scene->kind.shape, at->cell[p], at->offset[p], add_field, &here);
    return velocity_push(old, here.field, &pusher, 0);
}

/* One axis by the definition: the cell is the floor of the position, the offset what is above it, rounded as
 * the device stores it, where 1 is 0 of the next cell. Doubles hold enough digits that rounding to them first
 * changes no float. */
struct twin_place {
    long long cells; /* from the old cell on */
    double offset;
};

static inline struct twin_place twin_place(enum precision precision, double offset)
{
    if (!(fabs(offset) < 1e9))
        return (struct twin_place){0, (double)NAN};
    const double lower = floor(offset), stored = test_rounded(precision, offset - lower);
    return stored >= 1 ? (struct twin_place){(long long)lower + 1, 0}
                       : (struct twin_place){(long long)lower, stored};
}

static inline uint32_t twin_wrapped(long long cell, uint32_t size)
{
    const long long rest = cell % (long long)size;
    return (uint32_t)(rest < 0 ? rest + (long long)size : rest);
}

/* Where x leads from row `from`. In the lost row the offset is all of x, in cells from own row 0. */
static inline uint32_t twin_row(const struct scene *scene, uint32_t from, struct twin_place *x)
{
    const struct slab *slab = &scene->slab;
    const long long row = from + x->cells, ghost = slab->ghost;
    if (slab_is_whole(slab) || (row >= -ghost && row < slab->rows + ghost))
        return twin_wrapped(row, slab->local.nx);
    x->offset =
        test_rounded(scene->kind.precision, test_rounded(scene->kind.precision, (double)row) + x->offset);
    return slab_lost_row(slab);
}

/* ---- comparing ---- */

/* A velocity of `size`, in cells or not, is rounded some ten times in a step, and so is an offset. */
static inline double scene_tolerance(const struct scene *scene, double size)
{
    return 40 * test_epsilon(scene->kind.precision) * fmax(size, 1);
}

/* In double precision no particle is so close to an edge that rounding decides the cell; in single precision
 * as many are as chance lets come so close to one of four edges, and some. */
static inline double scene_elsewhere(const struct scene *scene)
{
    const double tolerance = scene_tolerance(scene, scene->kind.speed);
    return scene->kind.precision == PRECISION_DOUBLE ? 0 : 3 + 16 * tolerance * scene->kind.count;
}

/* Along an axis, a particle of an offset in a cell. Returns whether another cell was expected. */
static inline bool check_place(const struct scene *scene, double tolerance, uint32_t cell, double offset,
                               uint32_t cells, uint32_t expected_cell, double expected_offset)
{
    if (scene->kind.exact || isnan(expected_offset)) {
        assert_int_equal(cell, expected_cell);
        if (isnan(expected_offset) ? !isnan(offset) : offset != expected_offset)
            fail_msg("offset %.17g in cell %u, expected %.17g", offset, cell, expected_offset);
        return false;
    }
    const double apart = fabs((double)cell - expected_cell + (offset - expected_offset));
    assert_true(offset >= 0 && offset < 1);
    assert_near(fmin(apart, cells - apart), 0, tolerance);
    return cell != expected_cell;
}

/* An offset after a way, both exact, as the device rounds them: in single precision the way comes to one of
 * the multiples of 2^-24 around it, by the dither (kernels/shared/dither.h); a larger way to that of them
 * which is next to it once 3/4 is added. */
static inline double exact_offset(const struct scene *scene, double offset, double way, int side)
{
    if (scene->kind.precision == PRECISION_DOUBLE)
        return offset + way;
    const float sum = 0.75F + (float)(way + side * 0x0.fffffp-25);
    return (double)((float)offset + (sum - 0.75F));
}

/* Particle p of before is q of after. Returns whether another cell was expected. */
static inline bool check_particle(const struct scene *scene, const struct sorted_particles *before,
                                  uint32_t p, const struct sorted_particles *after, uint32_t q)
{
    const struct grid *grid = &scene->slab.local;
    const double *old = before->velocity[p], *offset = before->offset[p];
    const struct velocity_step step = twin_velocity(scene, before, p);
    const double velocity[2] = {step.after.u, step.after.v}, length[2] = {grid->dx, grid->dy};
    const double tolerance =
        scene_tolerance(scene, isfinite(hypot(old[0], old[1])) ? hypot(old[0], old[1]) : 0);
    const uint32_t size[2] = {grid->nx, grid->ny}, from = before->cell[p];
    const uint32_t cell[2] = {after->cell[q] / grid->ny, after->cell[q] % grid->ny};
    struct twin_place place[2];
    uint32_t expected[2];
    for (int n = 0; n < 6; n++) { /* with the highest dither, and where that was not it, with others */
        const int axis = n / 3;
        if (n % 3 && cell[axis] == expected[axis] && after->offset[q][axis] == place[axis].offset)
            continue;
        const double way = velocity[axis] * scene->time_step / length[axis];
        place[axis] = twin_place(scene->kind.precision,
                                 scene->kind.exact ? exact_offset(scene, offset[axis], way, 1 - n % 3)
                                                   : offset[axis] + way);
        expected[axis] = axis == 0 ? twin_row(scene, from / grid->ny, &place[0])
                                   : twin_wrapped(from % grid->ny + place[1].cells, grid->ny);
    }
    bool elsewhere = false;
    if (scene->kind.has_w && isfinite(step.after.w))
        assert_near(after->w[q], step.after.w, scene->kind.exact ? 0 : tolerance);
    for (int axis = 0; axis < 2; axis++) {
        const bool spoilt = isnan(velocity[axis]) && isfinite(old[axis]) && !isnan(offset[0] + offset[1]);
        if (spoilt && scene->kind.magnetic == 0)
            continue; /* by a rotation by nothing, which a stepper may leave out */
        const double found = after->velocity[q][axis];
        if (isnan(velocity[axis])) /* the twin has w, and B along z turns infinity by 0 times it too */
            assert_true(!isfinite(found) || (scene->kind.magnetic == 0 && found == old[axis]));
        else if (found != velocity[axis]) /* infinite ones are the same */
            assert_near(found, velocity[axis], scene->kind.exact ? 0 : tolerance);
        elsewhere |= check_place(scene, tolerance, cell[axis], after->offset[q][axis], size[axis],
                                 expected[axis], place[axis].offset);
    }
    return elsewhere;
}

/* The sums at n against sums in long doubles. A block of 32 plain additions adds up to 16 epsilon of its sum;
 * the terms have some ten roundings. */
static inline void check_sums(const struct scene *scene, const struct sorted_particles *before,
                              const struct push_sums *sums)
{
    const struct particles *list = &scene->sorted.particles;
    const double mass = list->weight * list->species->mass, epsilon = test_epsilon(scene->kind.precision);
    const uint32_t count = before->particles.count;
    long double square = 0, mean[3] = {0, 0, 0}, largest = 1;
    for (uint32_t p = 0; p < count; p++) {
        const struct velocity_step step = twin_velocity(scene, before, p);
        const long double u = (long double)step.at_n.u, v = (long double)step.at_n.v,
                          w = (long double)step.at_n.w, own = u * u + v * v + w * w;
        square += own;
        mean[0] += u;
        mean[1] += v;
        mean[2] += w;
        largest = own > largest ? own : largest;
    }
    if (isnan((double)square)) {
        assert_true(isnan(sums->kinetic_energy) && isnan(sums->momentum[0] + sums->momentum[1]));
        return;
    }
    const double kinetic = mass * (double)square / 2;
    assert_near(sums->kinetic_energy, kinetic, 40 * epsilon * (kinetic + mass * count));
    for (int axis = 0; axis < 3; axis++)
        assert_near(sums->momentum[axis], mass * (double)mean[axis],
                    40 * epsilon * mass * count * sqrt((double)largest));
}

/* ---- a stepper under test ---- */

struct tested {
    const struct stepper_kind *kind;
    bool keeps_order; /* particles of a cell stand as a stable sort has them */
};

static const struct tested radix = {&radix_step, true};
static const struct tested chunked = {&chunked_step, true};
/* Grids of up to 1,024 cells, and up to 4,096 where the list is short. */
static const struct tested digits = {&tiled_step, true};
/* Grids of more than 1,024 cells, with a tile for each 497 cells at most. */
static const struct tested windows = {&tiled_step, false};

static const struct tested *const any_grid[] = {&radix, &chunked, &digits};
enum { KINDS = 3, USED = 1 /* number of a species alone */ };

static inline struct stepper stepper_for(const struct tested *tested, uint32_t species, struct scene *scene)
{
    const struct stepper_setup setup = scene_setup(scene);
    struct stepper stepper;
    assert_ok(stepper_create(scene->device, tested->kind, &setup, &stepper));
    assert_ok(stepper_list_changed(&stepper, species, &scene->sorted.particles));
    return stepper;
}

/* Without arrivals. */
static inline void step_once(struct stepper *stepper, struct scene *scene, uint32_t species, bool measure)
{
    struct particles *list = &scene->sorted.particles;
    assert_ok(stepper->kind->count(stepper, &scene->fields, species, measure, list));
    assert_ok(stepper_move(stepper, &scene->fields, species, &stepper->no_gaps, list));
    assert_ok(device_join(scene->device));
}

/* All particles of before are in after once, where the twin has them, and those of a cell in their old order
 * where that is kept. `is_empty`: places that hold none, or NULL. */
static inline void check_moved(const struct tested *tested, const struct scene *scene,
                               const struct sorted_particles *before, const struct sorted_particles *after,
                               const bool *is_empty)
{
    uint32_t *place = test_array(scene->ids + 1, sizeof *place); /* 1 + that of an id in before */
    uint32_t elsewhere = 0, found = 0, last = 0, last_cell = UINT32_MAX;
    for (uint32_t p = 0; p < before->particles.count; p++)
        place[before->id[p]] = p + 1;
    for (uint32_t q = 0; q < after->particles.count; q++) {
        if (is_empty && is_empty[q])
            continue;
        assert_true(after->id[q] < scene->ids && place[after->id[q]] > 0); /* there, and once */
        const uint32_t p = place[after->id[q]] - 1;
        place[after->id[q]] = 0;
        elsewhere += check_particle(scene, before, p, after, q);
        if (tested->keeps_order && after->cell[q] == last_cell)
            assert_true(p > last);
        last = p;
        last_cell = after->cell[q];
        found++;
    }
    assert_int_equal(found, before->particles.count);
    assert_true(elsewhere <= scene_elsewhere(scene));
}

/* What the last step that measured left. */
static inline struct push_sums read_sums(struct stepper *stepper, uint32_t species,
                                         const struct particles *list)
{
    assert_ok(stepper_read_sums(stepper, stepper->slot, 1));
    return stepper_sums(stepper, stepper->slot, species, list);
}

/* A step and, where it measures, its sums. */
static inline void check_step(const struct tested *tested, struct stepper *stepper, uint32_t species,
                              bool measure, struct scene *scene)
{
    struct sorted_particles before = state_read(scene);
    step_once(stepper, scene, species, measure);
    struct sorted_particles after = state_read(scene);
    check_moved(tested, scene, &before, &after, NULL);
    if (!measure)
        return;
    const struct push_sums sums = read_sums(stepper, species, &scene->sorted.particles);
    check_sums(scene, &before, &sums);
}

#endif
