/* Electromagnetic support: the fields of a run on the nodes, step by step. */
#ifndef RADIXPIC_ELECTROMAGNETIC_SUPPORT_H
#define RADIXPIC_ELECTROMAGNETIC_SUPPORT_H

#include "support/physics_support.h"

#include <complex.h>

/* Ex, Ey, Ez, Bx, By, Bz */
enum { WAVE_FIELDS = 6 };

/* The config of a YAML text with the numbers and words of a format. */
__attribute__((format(printf, 1, 2))) static inline struct config electromagnetic_config(const char *format,
                                                                                         ...)
{
    char yaml[4096];
    va_list list;
    va_start(list, format);
    assert_in_range(vsnprintf(yaml, sizeof yaml, format, list), 1, sizeof yaml - 1);
    va_end(list);
    return physics_config(yaml);
}

/* values[nx * ny] <- a component of a field, at the last step that was solved. */
static inline void electromagnetic_read(const struct simulation *simulation, enum field field, uint32_t axis,
                                        double *values)
{
    assert_ok(buffer_read_reals(field_component(&simulation->fields, field, axis),
                                simulation->config->precision, 0, grid_cells(&simulation->slab.box), values));
}

/* (1/(nx ny)) sum f(i, j) exp(-2 pi i (mx i/nx + my j/ny)) */
static inline double complex electromagnetic_mode(const struct grid *grid, const double *f, int mx, int my)
{
    double complex sum = 0;
    for (uint32_t i = 0; i < grid->nx; i++)
        for (uint32_t j = 0; j < grid->ny; j++) {
            const double turn = (double)mx * i / grid->nx + (double)my * j / grid->ny;
            sum += f[(size_t)i * grid->ny + j] * cexp(-2 * M_PI * I * turn);
        }
    return sum / grid_cells(grid);
}

/* The mode (mx, my) of the WAVE_FIELDS components at each of the steps 0 to time.steps. */
static inline double complex (*electromagnetic_follow(const struct config *config,
                                                      const int mode[2]))[WAVE_FIELDS]
{
    struct simulation simulation;
    double complex(*series)[WAVE_FIELDS] = test_array(config->time.steps + 1, sizeof *series);
    assert_ok(simulation_create(config, device, &simulation));
    const struct grid *grid = &simulation.slab.box;
    double *values = test_array(grid_cells(grid), sizeof *values);
    while (!simulation_done(&simulation)) {
        assert_ok(simulation_solve(&simulation));
        for (uint32_t c = 0; c < WAVE_FIELDS; c++) {
            electromagnetic_read(&simulation, c < 3 ? FIELD_E : FIELD_B, c % 3, values);
            series[simulation.step][c] = electromagnetic_mode(grid, values, mode[0], mode[1]);
        }
        assert_ok(simulation_step(&simulation));
    }
    simulation_destroy(&simulation);
    return series;
}

#endif
