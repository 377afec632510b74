/* Units: SI values of one density and temperature against numbers computed elsewhere, and the relations that
 * make epsilon_0 equal 1. */
#include "support/test_support.h"

#include "config/config.h"

/* Relative: double arithmetic of a dozen operations, and 12 digits of the expected numbers. */
#define assert_relative(value, expected) assert_near((value) / (expected), 1.0, 1e-11)

/* From the formulas in the header with CODATA 2018, in 30-digit decimal arithmetic. */
TEST(known_plasma)
{
    const struct units units = units_make(&(struct units_config){1.0e18, 100});
    assert_relative(units.length, 7.4339419947005e-05);
    assert_relative(units.time, 1.7725907105982e-11);
    assert_relative(units.velocity, 4.1938288124006e+06);
    assert_relative(units.charge, 1.602176634e-19);
    assert_relative(units.mass, 9.1093837015e-31);
    assert_relative(units.momentum, 3.8203195830563e-24);
    assert_relative(units.electric_field, 1.3451813327477e+06);
    assert_relative(units.potential, 100.0);
    assert_relative(units.charge_density, 0.1602176634);
    assert_relative(units.particles, 4.1082560570247e+05);
}

/* In normalised units div E = rho, E = -grad phi, m dv/dt = q E, so the units must obey the SI forms. */
TEST(consistent)
{
    const struct units u = units_make(&(struct units_config){3.7e24, 0.025});
    const double vacuum_permittivity = 8.8541878128e-12;
    assert_relative(vacuum_permittivity * u.electric_field / u.length, u.charge_density);
    assert_relative(u.potential / u.length, u.electric_field);
    assert_relative(u.mass * u.velocity / u.time, u.charge * u.electric_field);
    assert_relative(u.velocity * u.time, u.length);
    assert_relative(u.charge * u.particles, u.charge_density * u.length * u.length * u.length);
}

TEST_MAIN(NULL, NULL)
