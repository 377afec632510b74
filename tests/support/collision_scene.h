/* What tests of collisions share: lists of two species on a grid of unit cells, and their velocities. */
#ifndef RADIXPIC_TEST_COLLISION_SCENE_H
#define RADIXPIC_TEST_COLLISION_SCENE_H

#include "support/test_support.h"

#include "particles/collisions.h"
#include "support/config_of_test.h"
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
    uint32_t group_items; /* 0: what suits the device */
};

/* Electrons a and ions b, of density 1 and `particles` each, in nx x ny cells; c = L/N_D. */
static inline void scene_open(struct scene *scene, uint32_t nx, uint32_t ny, uint64_t particles,
                              const char *pairs, double c, double dt)
{
    char text[1024];
    snprintf(text, sizeof text,
             "grid: {cells: [%u, %u], length: [%u, %u]}\n"
             "time: {step: %.17g, steps: 1}\n"
             "species:\n"
             "  - {name: a, charge: -1, mass: 1, density: 1, particles: %llu, velocities: {dimensions: 3}}\n"
             "  - {name: b, charge: 1, mass: 25, density: 1, particles: %llu, velocities: {dimensions: 3}}\n"
             "collisions: %s\n",
             nx, ny, nx, ny, dt, (unsigned long long)particles, (unsigned long long)particles, pairs);
    *scene = (struct scene){.step = 1, .config = test_config(text, NULL, 0)}; /* none are due at 0 */
    for (uint32_t n = 0; n < scene->config.collision_count; n++)
        scene->config.collisions[n].coulomb_log = c * units_make(&scene->config.units).particles;
    const struct grid grid = grid_make(&scene->config.grid);
    scene->slab = slab_whole_box(&grid);
    scene->config.precision = best_precision();
}

/* The list of a species, with counts[] particles in the cells. */
static inline void scene_fill(struct scene *scene, int s, const uint32_t *counts, bool aos)
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

static inline void scene_fill_evenly(struct scene *scene, int s, uint32_t each, bool aos)
{
    const uint32_t cells = grid_cells(&scene->slab.local);
    uint32_t *counts = test_array(cells, sizeof *counts);
    for (uint32_t c = 0; c < cells; c++)
        counts[c] = each;
    scene_fill(scene, s, counts, aos);
}

/* For lists that are filled. */
static inline void scene_start(struct scene *scene)
{
    const uint32_t longest =
        scene->list[A].count > scene->list[B].count ? scene->list[A].count : scene->list[B].count;
    assert_ok(collisions_create(device, &scene->config, &scene->slab, 0, longest, scene->group_items,
                                &scene->collisions));
}

static inline void scene_step(struct scene *scene, uint32_t steps)
{
    for (uint32_t n = 0; n < steps; n++)
        assert_ok(collisions_run(scene->collisions, scene->step++, scene->list));
}

/* ---- velocities ---- */

static inline double (*read_velocities(const struct particles *list))[3]
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

static inline void write_velocities(struct particles *list, double (*all)[3])
{
    double(*plane)[2] = test_array(list->count, sizeof *plane), *w = test_array(list->count, sizeof *w);
    for (uint32_t p = 0; p < list->count; p++) {
        memcpy(plane[p], all[p], sizeof plane[p]);
        w[p] = all[p][2];
    }
    list_write(list, ATTRIBUTE_VELOCITY, plane[0]);
    list_write(list, ATTRIBUTE_W, w);
}

static inline double gauss(uint64_t *seed)
{
    const double radius = sqrt(-2 * log(1 - test_random(seed)));
    return radius * cos(2 * M_PI * test_random(seed));
}

/* Electrons alone, `each` in every cell, at rest: returns their velocities, for scene_collide(). */
static inline double (*scene_alone(struct scene *scene, uint32_t nx, uint32_t ny, uint32_t each,
                                   const char *pairs, double c, double dt))[3]
{
    scene_open(scene, nx, ny, 1, pairs, c, dt);
    scene_fill_evenly(scene, A, each, false);
    return test_array(scene->list[A].count, sizeof(double[3]));
}

/* The electrons' velocities after so many steps from these on. */
static inline double (*scene_collide(struct scene *scene, double (*velocities)[3], uint32_t steps))[3]
{
    write_velocities(&scene->list[A], velocities);
    scene_start(scene);
    scene_step(scene, steps);
    return read_velocities(&scene->list[A]);
}

/* temperature[]: T along each axis. */
static inline void write_maxwellian(struct particles *list, const double temperature[3],
                                    const double drift[3], uint64_t seed)
{
    double(*all)[3] = test_array(list->count, sizeof *all);
    for (uint32_t p = 0; p < list->count; p++)
        for (int axis = 0; axis < 3; axis++)
            all[p][axis] = drift[axis] + sqrt(temperature[axis] / list->species->mass) * gauss(&seed);
    write_velocities(list, all);
}

#endif
