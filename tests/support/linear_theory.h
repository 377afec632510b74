/* Linear theory: what small waves do in this code exactly, with its time step and its grid.
 *
 * Times in 1/omega_p; the plasma frequency is 1 where nothing else is said. The formulas are those of C. K.
 * Birdsall and A. B. Langdon, Plasma Physics via Computer Simulation, chapters 4 (time step) and 8 (grid).
 * Include test_support.h first. */
#ifndef RADIXPIC_LINEAR_THEORY_H
#define RADIXPIC_LINEAR_THEORY_H

#include "config/config.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Which of the waves k_p = k + 2 pi p/dx, all alike on the nodes, are summed. A cold plasma answers to all of
 * them. In a warm one all but p = 0 are mixed away within dx/v_thermal. */
enum aliases { ALIASES_NONE = 0, ALIASES_ALL = 200 };

/* The transform of the shape of order n along one axis: (sin(k dx/2)/(k dx/2))^(n + 1). */
static inline double theory_shape(double k, double dx, enum shape_kind shape)
{
    const double half = 0.5 * k * dx;
    const double sinc = half == 0 ? 1 : sin(half) / half;
    double transform = 1;
    for (int n = 0; n <= (int)shape; n++)
        transform *= sinc;
    return transform;
}

/* sum over p of S(k_p)^2 and of k_p S(k_p)^2, along one axis */
struct alias_sums {
    double square, first_moment;
};

static inline struct alias_sums theory_alias_sums(double k, double dx, enum shape_kind shape,
                                                  enum aliases aliases)
{
    struct alias_sums sums = {0, 0};
    for (int p = -(int)aliases; p <= (int)aliases; p++) {
        const double k_p = k + 2 * M_PI * p / dx, s = theory_shape(k_p, dx, shape);
        sums.square += s * s;
        sums.first_moment += k_p * s * s;
    }
    return sums;
}

/* G: what deposit, filter, solver and interpolation together let through of mode (mx, my):
 * sum over p of (kappa . k_p) S(k_p)^2 / k^2, where kappa is the gradient's k, times cos(k dx/2)^2 along each
 * axis for a filter pass. A cold plasma oscillates at sqrt(G) omega_p when dt -> 0. */
static inline double theory_grid_factor(const struct config *config, const int mode[2], enum aliases aliases)
{
    double k[2], kappa[2], smoothing = 1;
    struct alias_sums sums[2];
    for (int axis = 0; axis < 2; axis++) {
        const double dx = config->grid.length[axis] / config->grid.cells[axis];
        k[axis] = 2 * M_PI * mode[axis] / config->grid.length[axis];
        kappa[axis] = config->fields.gradient == GRADIENT_CENTRED ? sin(k[axis] * dx) / dx : k[axis];
        sums[axis] = theory_alias_sums(k[axis], dx, config->deposit.shape, aliases);
        smoothing *= pow(cos(0.5 * k[axis] * dx), 2.0 * config->deposit.filter_passes);
        if (config->deposit.filter_compensator)
            smoothing *= 1 + config->deposit.filter_passes * pow(sin(0.5 * k[axis] * dx), 2);
    }
    return smoothing *
           (kappa[0] * sums[0].first_moment * sums[1].square +
            kappa[1] * sums[0].square * sums[1].first_moment) /
           (k[0] * k[0] + k[1] * k[1]);
}

/* The omega of a cold oscillation in leapfrog: sin(omega dt/2) = sqrt(G) omega_p dt/2. */
static inline double theory_cold_frequency(double grid_factor, double plasma_frequency, double time_step)
{
    return 2 / time_step * asin(0.5 * sqrt(grid_factor) * plasma_frequency * time_step);
}

/* A Maxwellian. With `tails` a this and the distribution 2 a^3/(pi (u^2 + a^2)^2) are convolved. */
struct theory_plasma {
    double k, thermal, tails;
};

/* Transform of the velocity distribution: the density mode that free streaming leaves after `time`. */
static inline double theory_streaming(const struct theory_plasma *plasma, double time)
{
    const double kt = plasma->k * time;
    return exp(-0.5 * kt * kt * plasma->thermal * plasma->thermal) * (1 + kt * plasma->tails) *
           exp(-kt * plasma->tails);
}

/* The exact linear answer of this code to a density perturbation: n_k(m dt)/n_k(0) for m = 0 to steps.
 *
 * To first order, a particle's displacement at step m is the sum over earlier steps j of (m - j) dt^2 times
 * the field it met (half of it at j = 0, for the half kick that starts the leapfrog), so
 *   n(m) = F(m dt) n(0) - G dt^2 [ m/2 F(m dt) n(0) + sum over 0 < j < m of (m - j) F((m - j) dt) n(j) ]
 * with F = theory_streaming(): Volterra's equation with the time step in it. The caller frees the series. */
static inline double *theory_density_series(const struct theory_plasma *plasma, double grid_factor,
                                            double time_step, uint64_t steps)
{
    double *series = test_array(2 * (steps + 1), sizeof *series);
    double *kernel = series + steps + 1;
    for (uint64_t m = 0; m <= steps; m++) {
        const double streaming = theory_streaming(plasma, (double)m * time_step);
        kernel[m] = grid_factor * time_step * time_step * (double)m * streaming;
        series[m] = streaming - (m > 0 ? 0.5 * kernel[m] : 0);
        for (uint64_t j = 1; j < m; j++)
            series[m] -= kernel[m - j] * series[j];
    }
    return series;
}

#endif
