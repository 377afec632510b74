/* Units: those of a density and a temperature. */
#include "config/units.h"

#include <math.h>

/* CODATA 2018; e and k are exact by the definition of the SI, and a temperature in eV needs no k. */
static const double elementary_charge = 1.602176634e-19;    /* C */
static const double electron_mass = 9.1093837015e-31;       /* kg */
static const double vacuum_permittivity = 8.8541878128e-12; /* F/m */

struct units units_make(const struct units_config *config)
{
    const double n = config->density_per_m3;
    const double e = elementary_charge;
    const double omega_p = e * sqrt(n / (vacuum_permittivity * electron_mass));
    /* With T in volts, kT = e T. */
    const double lambda_d = sqrt(vacuum_permittivity * config->temperature_eV / (n * e));
    const double v_th = lambda_d * omega_p;
    return (struct units){
        .length = lambda_d,
        .time = 1 / omega_p,
        .velocity = v_th,
        .charge = e,
        .mass = electron_mass,
        .momentum = electron_mass * v_th,
        .electric_field = electron_mass * omega_p * v_th / e,
        .potential = config->temperature_eV,
        .charge_density = n * e,
        .particles = n * lambda_d * lambda_d * lambda_d,
    };
}
