/* Units: what the normalised numbers mean in SI, once a density n and a temperature T are chosen.
 *
 * One normalised length is the Debye length, one time 1/omega_p, one charge and mass an electron's (charge
 * taken positive), so velocities count in v_th = lambda_D omega_p and epsilon_0 is 1. */
#ifndef RADIXPIC_CONFIG_UNITS_H
#define RADIXPIC_CONFIG_UNITS_H

/* What the normalised units mean, for openPMD's unitSI and collisions. */
struct units_config {
    double density_per_m3;
    double temperature_eV;
};

/* SI values of one normalised unit of each quantity. */
struct units {
    double length;         /* m: lambda_D = sqrt(eps0 kT / (n e^2)) */
    double time;           /* s: 1/omega_p, omega_p = sqrt(n e^2 / (eps0 m_e)) */
    double velocity;       /* m/s: v_th = sqrt(kT / m_e) */
    double charge;         /* C: e */
    double mass;           /* kg: m_e */
    double momentum;       /* kg m/s: m_e v_th */
    double electric_field; /* V/m: m_e omega_p v_th / e */
    double potential;      /* V: kT / e */
    double charge_density; /* C/m^3: n e */
    /* Real particles that one unit of normalised weight stands for in a box one Debye length deep: n
     * lambda_D^3. A pure number. */
    double particles;
};

struct units units_make(const struct units_config *config);

#endif
