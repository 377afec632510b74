/* Collisions: launches of kernels/collisions.cl, and their strength. */
#include "particles/collisions.h"

#include "base/integers.h"
#include "shared/random.h"
#include "sort/cell_shuffle.h"

#include <string.h>

enum {
    GROUP_ITEMS = 64, /* or a multiple, of a GPU, an item for each PARTICLES; a CPU has one */
    PARTICLES = 16,   /* half as many pairs */
    MOST_ITEMS = 256,
    GROUPS_PER_UNIT = 8, /* of a CPU; a GPU has a group for each cell, and for its velocities */
    LOCAL_BYTES = 32768  /* at most, which every OpenCL device has */
};

struct collisions {
    const struct config *config; /* not owned */
    uint32_t cells, groups, items;
    double area; /* of a cell */
    uint64_t seed;
    struct kernel *collide;
    struct cell_shuffle *shuffle;
    struct buffer *permutation; /* uint[capacity] */
};

/* ---- how strong they are ---- */

/* Of a species in normalised units: T/m, and T in eV. */
static double loaded_spread(const struct species_config *species)
{
    double squares = 0;
    for (int axis = 0; axis < 3; axis++)
        squares += pow(species_thermal_speed(species, axis), 2) / 3;
    return squares;
}

static double loaded_temperature(const struct config *config, const struct species_config *species)
{
    return loaded_spread(species) * species->mass * config->units.temperature_eV;
}

static const struct species_config *partner(const struct config *config,
                                            const struct collision_config *collision, int n)
{
    return &config->species[species_find(config, collision->species[n])];
}

/* No product of masses, which may leave the range of a double. */
static double reduced_mass(const struct species_config *a, const struct species_config *b)
{
    return a->mass / (1 + a->mass / b->mass);
}

/* Densities in 1/cm^3, temperatures in eV, masses in the proton's. */
static double nrl_logarithm(const struct config *config, const struct species_config *a,
                            const struct species_config *b)
{
    const double per_cm3 = 1e-6 * config->units.density_per_m3, proton = 1836.15267343;
    const bool a_is_light = a->mass <= b->mass;
    const struct species_config *light = a_is_light ? a : b, *heavy = a_is_light ? b : a;
    const double n_light = light->density * per_cm3, n_heavy = heavy->density * per_cm3;
    const double t_light = loaded_temperature(config, light), t_heavy = loaded_temperature(config, heavy);
    const double z = fabs(heavy->charge), mass = heavy->mass / proton;
    const bool light_is_electron = light->mass == 1, heavy_is_electron = heavy->mass == 1;
    if (heavy_is_electron && light_is_electron) { /* of two species of them what both are together */
        const double n = a == b ? n_light : n_light + n_heavy;
        const double t = (n_light * t_light + n_heavy * t_heavy) / (n_light + n_heavy);
        return 23.5 - log(sqrt(n) * pow(t, -1.25)) - sqrt(1e-5 + pow(log(t) - 2, 2) / 16);
    }
    if (light_is_electron && t_light < t_heavy / heavy->mass)
        return 16 - log(sqrt(n_heavy) * pow(t_heavy, -1.5) * z * z * mass);
    if (light_is_electron && t_light > 10 * z * z)
        return 24 - log(sqrt(n_light) / t_light);
    if (light_is_electron)
        return 23 - log(sqrt(n_light) * z * pow(t_light, -1.5));
    return 23 - log(fabs(light->charge * heavy->charge) * (light->mass + heavy->mass) /
                    (light->mass * t_heavy + heavy->mass * t_light) *
                    sqrt(n_light * pow(light->charge, 2) / t_light + n_heavy * z * z / t_heavy));
}

double collisions_logarithm(const struct config *config, const struct collision_config *collision)
{
    if (collision->coulomb_log != COULOMB_LOG_AUTO)
        return collision->coulomb_log;
    return fmax(1, nrl_logarithm(config, partner(config, collision, 0), partner(config, collision, 1)));
}

/* q_a^2 q_b^2 L / (pi N_D) */
static double coupling(const struct config *config, const struct collision_config *collision)
{
    const double charges = partner(config, collision, 0)->charge * partner(config, collision, 1)->charge;
    return charges * charges * collisions_logarithm(config, collision) /
           (acos(-1.0) * units_make(&config->units).particles);
}

double collisions_rate(const struct config *config, const struct collision_config *collision, bool backwards)
{
    const struct species_config *a = partner(config, collision, backwards);
    const struct species_config *b = partner(config, collision, !backwards);
    double spread = loaded_spread(a) + loaded_spread(b);
    for (int axis = 0; axis < 3; axis++)
        spread += pow(a->velocities.drift[axis] - b->velocities.drift[axis], 2) / 3;
    const double pi = acos(-1.0);
    return coupling(config, collision) * b->density * pi /
           (3 * pow(2 * pi * spread, 1.5) * a->mass * reduced_mass(a, b));
}

/* Which species is the light one, of like masses any. */
static int light_one(const struct config *config, const struct collision_config *collision)
{
    return partner(config, collision, 1)->mass < partner(config, collision, 0)->mass;
}

double collisions_strength(const struct config *config, const struct collision_config *collision)
{
    const int light = light_one(config, collision);
    const struct species_config *a = partner(config, collision, light),
                                *b = partner(config, collision, !light);
    const double all_a = (double)a->particles, all_b = (double)b->particles;
    const double met = fmin(all_a, all_b) * fmax(a->density / all_a, b->density / all_b) / b->density;
    const double dt = config->time.step * (double)collision->every / collision->substeps;
    return dt * met * collisions_rate(config, collision, light);
}

double collisions_bias(const struct config *config, const struct collision_config *collision,
                       enum collision_effect effect, double strength)
{
    /* Lost is 1 - 1/(1 + f x^p/(1 + g x^p)), fitted to the integrals within 0.007 for x from 0.001 to 1. */
    static const struct {
        double f, p, g;
    } fits[COLLISION_EFFECTS][COLLISION_MODELS] = {
        [COLLISIONS_ISOTROPY] =
            {[COLLISIONS_TAKIZUKA_ABE] = {3.01, 0.812, 1.398}, [COLLISIONS_NANBU] = {2.162, 0.864, 1.186}},
        [COLLISIONS_CURRENT] =
            {[COLLISIONS_TAKIZUKA_ABE] = {1.095, 0.656, 4.26}, [COLLISIONS_NANBU] = {0, 1, 0}},
        [COLLISIONS_ENERGY] =
            {[COLLISIONS_TAKIZUKA_ABE] = {1.786, 0.584, -0.068}, [COLLISIONS_NANBU] = {1.213, 0.608, -0.156}},
    };
    const int light = light_one(config, collision);
    const struct species_config *a = partner(config, collision, light),
                                *b = partner(config, collision, !light);
    const double spread = loaded_spread(a);
    double drifts = 0;
    for (int axis = 0; axis < 3; axis++)
        drifts += pow(a->velocities.drift[axis] - b->velocities.drift[axis], 2);
    const bool is_known =
        effect == COLLISIONS_ISOTROPY
            ? a == b
            : b->mass >= 100 * a->mass && 25 * loaded_spread(b) <= spread && drifts <= spread;
    const double power = pow(fmin(strength, 1), fits[effect][collision->model].p);
    const double lost =
        fits[effect][collision->model].f * power / (1 + fits[effect][collision->model].g * power);
    return is_known ? 1 - 1 / (1 + lost) : NAN;
}

/* ---- creation ---- */

enum status collisions_create(struct device *device, const struct config *config, const struct slab *slab,
                              int rank, uint32_t capacity, uint32_t group_items, struct collisions **created)
{
    struct collisions *collisions = NULL;
    struct program *program = NULL;
    TRY(DEVICE_NEW(device, collisions));
    *created = collisions;
    *collisions = (struct collisions){.config = config,
                                      .cells = (uint32_t)slab_own_cells(slab),
                                      .area = slab->box.dx * slab->box.dy,
                                      .seed = random_mix((uint64_t)(rank + 1) << 32 | config->seed)};
    if (config->collision_count == 0)
        return STATUS_OK;
    const struct device_info *info = device_info(device);
    const uint64_t usual =
        cell_shuffle_usual(collisions->cells, capacity) * (config->species_count > 1 ? 2 : 1);
    const uint32_t staged = at_most(round_up(at_most(usual, LOCAL_BYTES), GROUP_ITEMS),
                                    LOCAL_BYTES / (3 * precision_bytes(config->precision)));
    const uint32_t items = at_most(round_up(divide_up(staged, PARTICLES), GROUP_ITEMS), MOST_ITEMS);
    const uint32_t suitable = info->is_cpu ? 1 : (uint32_t)device_group_items(device, items);
    collisions->items = group_items > 0 ? group_items : suitable;
    const bool has_vectors = collisions->items == 1;
    collisions->groups = info->is_cpu
                             ? at_most(collisions->cells, (uint64_t)GROUPS_PER_UNIT * info->compute_units)
                             : collisions->cells;
    TRY(program_build(device, "collisions.cl", config->precision, &program,
                      "-D GROUP_ITEMS=%u -D LANES=%d -D STAGED=%u", collisions->items,
                      has_vectors ? CPU_LANES : 1, has_vectors ? 0 : staged));
    TRY(kernel_create(program, "collide_pairs", &collisions->collide));
    TRY(buffer_create(device, capacity * sizeof(uint32_t), "the order of partners",
                      &collisions->permutation));
    return cell_shuffle_create(device, collisions->cells, capacity, NULL, &collisions->shuffle);
}

/* ---- one step ---- */

/* time: the number of the substep since step 0. */
static enum status run_one(struct collisions *collisions, uint32_t entry, uint64_t time,
                           struct particles *lists)
{
    const struct config *config = collisions->config;
    const struct collision_config *collision = &config->collisions[entry];
    const uint32_t s = species_find(config, collision->species[0]);
    const uint32_t t = species_find(config, collision->species[1]);
    const struct particles *a = &lists[s], *b = &lists[t];
    if (a->count == 0 || b->count == 0)
        return STATUS_OK;
    const double mass = reduced_mass(a->species, b->species), most_weight = fmax(a->weight, b->weight);
    const double dt = config->time.step * (double)collision->every / collision->substeps;
    const double strength =
        coupling(config, collision) * dt * most_weight / (8 * mass * mass * collisions->area);
    const uint32_t each = divide_up(collisions->cells, collisions->groups);
    const uint64_t moved = (uint64_t)a->count + (s == t ? 0 : b->count);
    const struct launch launch = {divide_up(collisions->cells, each), collisions->items, STAGE_COLLISIONS,
                                  6 * moved * precision_bytes(config->precision)};
    TRY(cell_shuffle_run(collisions->shuffle, b->cell_offsets, b->count, collisions->seed, entry, time,
                         collisions->permutation));
#define LIST_ARGUMENTS(list)                                                                                 \
    (list)->attribute[ATTRIBUTE_VELOCITY], (list)->attribute[ATTRIBUTE_W],                                   \
        particles_stride((list), ATTRIBUTE_VELOCITY), particles_first((list), ATTRIBUTE_VELOCITY),           \
        (list)->cell_offsets
    const double parts[] = {mass / a->species->mass, mass / b->species->mass, b->weight / most_weight,
                            a->weight / most_weight};
    return KERNEL_LAUNCH(collisions->collide, launch, LIST_ARGUMENTS(a), LIST_ARGUMENTS(b),
                         collisions->permutation, s == t, collision->model == COLLISIONS_NANBU,
                         collisions->cells, each, strength, arg_reals(parts, sizeof parts / sizeof parts[0]),
                         entry, time, collisions->seed);
#undef LIST_ARGUMENTS
}

enum status collisions_run(struct collisions *collisions, uint64_t step, struct particles *lists)
{
    for (uint32_t n = 0; n < collisions->config->collision_count; n++) {
        const struct collision_config *collision = &collisions->config->collisions[n];
        const bool is_due = step > 0 && step % collision->every == 0;
        for (uint32_t part = 0; is_due && part < collision->substeps; part++)
            TRY(run_one(collisions, n, step * collision->substeps + part, lists));
    }
    return STATUS_OK;
}
