/* Physics support: a whole run from a config to its history, without files. */
#ifndef RADIXPIC_PHYSICS_SUPPORT_H
#define RADIXPIC_PHYSICS_SUPPORT_H

#include "support/config_of_test.h"
#include "support/device_fixture.h"

#include "simulation.h"

#include <string.h>

static const char physics_warm_plasma[] =
    "grid: {cells: [32, 16], length: [10, 7]}\n"
    "time: {step: 0.2, steps: 20}\n"
    "species:\n"
    "  - {name: electrons, charge: -1, mass: 1, density: 1, particles: 20011, ids: true,\n"
    "     velocities: {kind: maxwellian, drift: [1, -1]},\n"
    "     perturb: {density: [{axis: x, mode: 1, amplitude: 0.3}, {axis: y, mode: 1, amplitude: 0.3}]}}\n"
    "  - {name: ions, charge: 1, mass: 30, density: 1, particles: 9973,\n"
    "     velocities: {kind: maxwellian, thermal: [0.2, 0.2]}}\n"
    "output: {history: {modes: [[1, 0], [0, 1], [2, -1]]}}\n";

/* The config of a YAML text. Tests then change the members they vary. */
static inline struct config physics_config(const char *yaml)
{
    return test_config(yaml, NULL, 0);
}

/* Cold electrons "e" in a box of length 2 pi, changed by "KEY=VALUE" words that a NULL ends. */
static inline struct config physics_plasma(const char *const *settings)
{
    static const char plasma[] = "grid: {cells: [32, 32], length: [6.283185307179586, 6.283185307179586]}\n"
                                 "time: {step: 0.1, steps: 150}\n"
                                 "species: [{name: e, charge: -1, mass: 1, density: 1, particles: 16384}]\n"
                                 "output: {history: {modes: [[1, 0]]}}\n";
    size_t count = 0;
    while (settings[count])
        count++;
    return test_config(plasma, settings, count);
}
#define PHYSICS(...) physics_plasma((const char *const[]){__VA_ARGS__, NULL})

/* Words for PHYSICS(): the box in which mode 1 has k = 0.5, and a lattice with a wave along x. */
#define HALF_K "grid.length=[12.566370614359172, 12.566370614359172]"
#define COLD_LATTICE                                                                                         \
    "precision=double", "species.e.positions={kind: lattice, counts: [128, 128]}",                           \
        "species.e.perturb.displacement=[{axis: x, mode: 1, amplitude: 1.0e-4}]"

static inline void physics_set_time(struct config *config, double step, double end)
{
    config->time.step = step;
    config->time.steps = (uint64_t)lround(end / step);
}

/* Runs the config to its end on the ranks of the communicator, on which all particles stay. Returns the
 * history, a row for each of the steps 0 to time.steps, of all ranks together. */
static inline struct history_row *physics_run_on(const struct communicator *communicator,
                                                 const struct config *config)
{
    struct simulation simulation;
    struct history_row *rows = test_array(config->time.steps + 1, sizeof *rows);
    assert_ok(simulation_create_on(communicator, config, device, NULL, &simulation));
    while (!simulation_done(&simulation)) {
        struct history_row *row = &rows[simulation.step];
        assert_ok(simulation_step(&simulation));
        *row = simulation.row;
        uint64_t held = simulation_own_particles(&simulation);
        communicator_sum_counts(communicator, 1, &held);
        assert_int_equal(held, simulation_particles(config));
    }
    simulation_destroy(&simulation);
    return rows;
}

static inline struct history_row *physics_run(const struct config *config)
{
    return physics_run_on(&(const struct communicator){.size = 1, .local_size = 1}, config);
}

/* What the first rank of all makes alone, for all: so its kernels are built once. */
static inline struct history_row *physics_run_alone(const struct communicator *all,
                                                    const struct config *config)
{
    const size_t count = (size_t)config->time.steps + 1;
    struct history_row *rows = all->rank == 0 ? physics_run(config) : test_array(count, sizeof *rows);
    assert_ok(communicator_meet(all, STATUS_OK));
    communicator_broadcast(all, count * sizeof *rows, rows);
    return rows;
}

/* Mode number `mode` of the config's history at each step, as (real, imaginary). */
static inline double (*physics_mode(const struct history_row *rows, uint64_t steps, uint32_t mode))[2]
{
    double(*wave)[2] = test_array(steps + 1, sizeof *wave);
    for (uint64_t m = 0; m <= steps; m++)
        memcpy(wave[m], rows[m].modes[mode], sizeof *wave);
    return wave;
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

/* Rows from `first` on of two runs of the config: modes, and sums over particles and nodes, to their size. */
static inline void physics_compare(const struct config *config, uint64_t first,
                                   const struct history_row *found, const struct history_row *expected,
                                   double of_modes, double of_sums)
{
    for (uint64_t n = first; n <= config->time.steps; n++) {
        const struct history_row *a = &expected[n], *b = &found[n];
        const double energy = physics_total_energy(a), mass = physics_total_mass(config);
        assert_int_equal(b->step, n);
        assert_near(b->field_energy, a->field_energy, of_sums * energy);
        assert_near(b->kinetic_energy, a->kinetic_energy, of_sums * energy);
        assert_near(b->charge, a->charge, 100 * of_sums);
        for (int axis = 0; axis < 3; axis++)
            assert_near(b->momentum[axis], a->momentum[axis], of_sums * mass);
        for (uint32_t mode = 0; mode < config->output.history.mode_count; mode++)
            for (int part = 0; part < 2; part++)
                assert_near(b->modes[mode][part], a->modes[mode][part], of_modes);
    }
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

#endif
