/* Physics support: a whole run from a config to its history, without files. */
#ifndef RADIXPIC_PHYSICS_SUPPORT_H
#define RADIXPIC_PHYSICS_SUPPORT_H

#include "support/device_fixture.h"

#include "config/config_reader.h"
#include "simulation.h"

#include <string.h>

/* The config of a YAML text. Tests then change the members they vary. */
static inline struct config physics_config(const char *yaml)
{
    struct config config;
    assert_ok(config_read_text("test", yaml, strlen(yaml), NULL, 0, &config));
    return config;
}

/* A square box, so that mode 1 along x has this k. */
static inline void physics_set_box(struct config *config, uint32_t cells, double k)
{
    for (int axis = 0; axis < 2; axis++) {
        config->grid.cells[axis] = cells;
        config->grid.length[axis] = 2 * M_PI / k;
    }
}

static inline void physics_set_time(struct config *config, double step, double end)
{
    config->time.step = step;
    config->time.steps = (uint64_t)lround(end / step);
}

/* Runs the config to its end. Returns the history, a row for each of the steps 0 to time.steps; the caller
 * frees it. */
static inline struct history_row *physics_run(const struct config *config)
{
    struct simulation simulation;
    struct history_row *rows = test_array(config->time.steps + 1, sizeof *rows);
    assert_ok(simulation_create(config, device, &simulation));
    while (!simulation_done(&simulation)) {
        struct history_row *row = &rows[simulation.step];
        assert_ok(simulation_step(&simulation));
        *row = simulation.row;
    }
    simulation_destroy(&simulation);
    return rows;
}

/* Mode number `mode` of the config's history at each step, as (real, imaginary). The caller frees it. */
static inline double (*physics_mode(const struct history_row *rows, uint64_t steps, uint32_t mode))[2]
{
    double(*wave)[2] = test_array(steps + 1, sizeof *wave);
    for (uint64_t m = 0; m <= steps; m++)
        memcpy(wave[m], rows[m].modes[mode], sizeof *wave);
    return wave;
}

/* The omega of a wave that is a sum of exp(i omega t) and exp(-i omega t) alone, from `count` values dt
 * apart: wave(m-1) + wave(m+1) = 2 cos(omega dt) wave(m), by least squares. */
static inline double physics_frequency(double (*wave)[2], uint64_t count, double dt)
{
    double product = 0, square = 0;
    for (uint64_t m = 1; m + 1 < count; m++)
        for (int part = 0; part < 2; part++) {
            product += wave[m][part] * (wave[m - 1][part] + wave[m + 1][part]);
            square += wave[m][part] * wave[m][part];
        }
    return acos(0.5 * product / square) / dt;
}

static inline double physics_total_energy(const struct history_row *row)
{
    return row->field_energy + row->kinetic_energy;
}

/* sum of w m over all particles: what a momentum is to be compared with */
static inline double physics_total_mass(const struct config *config)
{
    double mass = 0;
    for (uint32_t s = 0; s < config->species_count; s++)
        mass += config->species[s].mass * config->species[s].density * config->grid.length[0] *
                config->grid.length[1];
    return mass;
}

#endif
