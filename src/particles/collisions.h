/* Collisions: binary Coulomb collisions of particles in the same cell, by T. Takizuka and H. Abe, J. Comput.
 * Phys. 25, 205 (1977), of species with three velocities.
 *
 * Partners are found by a random order of each cell's particles (sort/cell_shuffle.h). Of a species with
 * itself neighbours in it are pairs; in a cell of odd number the last three collide each with each, over half
 * the time. Of two species every particle of the more numerous one has one collision, those of the other as
 * many as it takes.
 *
 * A pair's relative velocity u is turned by theta, in Takizuka's and Abe's model tan(theta/2) being Gaussian
 * with the variance (in SI)
 *
 *     <delta^2> = q_a^2 q_b^2 n L dt / (8 pi eps_0^2 m_ab^2 |u|^3),
 *
 * L the Coulomb logarithm, m_ab the reduced mass, n the density to collide with. Lengths in Debye lengths
 * lambda, times in 1/omega_p, charges in e, masses in m_e and densities in n_0 = units.density_per_m3 leave
 * e^4 n_0/(eps_0^2 m_e^2 v_th^3 omega_p) = 1/(n_0 lambda^3) of the units, since e^2 n_0/(eps_0 m_e) =
 * omega_p^2 and v_th = lambda omega_p. So, in normalised numbers,
 *
 *     <delta^2> = q_a^2 q_b^2 n L dt / (8 pi N_D m_ab^2 |u|^3)
 *
 * with N_D = n_0 lambda^3, units_make().particles. In Nanbu's model (Phys. Rev. E 55, 4642, 1997) the mean of
 * cos theta is exp(-s) (eq. 13), s = 2 <delta^2> (eq. 19). dt is the time since the last collision, or the
 * part of it that a substep has.
 *
 * n is that of the other particles in the cell: of a species with itself (N - 1) w/(dx dy) of N particles of
 * weight w, which is on average the density that a particle meets whatever N is, since it is itself in the
 * cell; of two species min(N_a, N_b) max(w_a, w_b)/(dx dy). With weights that differ, a particle of the
 * heavier weight takes its part in a collision with the probability w_light/w_heavy: then each meets the
 * other species' density, and momentum and energy are conserved on average, not by each pair.
 */
#ifndef RADIXPIC_PARTICLES_COLLISIONS_H
#define RADIXPIC_PARTICLES_COLLISIONS_H

#include "domain/particles.h"

struct collisions;

/* All collisions of the config, on a rank's slab with lists of up to `capacity` particles. They die with the
 * device handle; the config outlives them. group_items: of a group, which if they are several collide pair by
 * pair in local memory, as far as that holds a cell, else by vectors; 0: what suits the device. */
STATUS_CHECKED enum status collisions_create(struct device *device, const struct config *config,
                                             const struct slab *slab, int rank, uint32_t capacity,
                                             uint32_t group_items, struct collisions **collisions);

/* Makes the collisions that are due in that step, in the order of the config, in place in the sorted lists of
 * all species: those of every multiple of `every` but 0, each for the time since the one before. What they
 * draw follows from seed, rank, item of the config, step and the places in the lists alone. */
STATUS_CHECKED enum status collisions_run(struct collisions *collisions, uint64_t step,
                                          struct particles *lists);

/* The Coulomb logarithm of the config, or by the NRL Plasma Formulary (2019, page 34) at the temperatures
 * that the species are loaded with, profiles and ranges of uniform velocities left out, and at least 1.
 * Species of mass 1 are electrons there, two of them with summed densities and mean temperature. */
double collisions_logarithm(const struct config *config, const struct collision_config *collision);

/* nu, by which the mean velocity of species a in the collision falls to that of b, or with `backwards` that
 * of b to that of a: of Maxwellians of the loaded temperatures (S. I. Braginskii, 1965),
 *
 *     nu = q_a^2 q_b^2 n_b L / (3 (2 pi)^(3/2) N_D m_a m_ab (T_a/m_a + T_b/m_b)^(3/2)),
 *
 * where a third of the square of the difference of drifts stands beside the temperatures. Infinite where both
 * species are cold. */
double collisions_rate(const struct config *config, const struct collision_config *collision, bool backwards);

/* What collisions do: to the anisotropy of a species that collides with itself, or of a light and a heavy
 * species to their current and to the difference of their temperatures. */
enum collision_effect { COLLISIONS_ISOTROPY, COLLISIONS_CURRENT, COLLISIONS_ENERGY, COLLISION_EFFECTS };

/* nu times the time of one collision. */
double collisions_strength(const struct config *config, const struct collision_config *collision);

/* The part of the change in one step that is lost where every pair turns once in it, and not by many partners
 * step by step: of nu dt = `strength`, above 1 that of 1. NaN where it is not known: of two species it is for
 * masses that differ by 100 or more, heavy particles that are slow beside light ones, and drifts up to the
 * thermal speed; at least masses it is within 0.02.
 *
 * It is of Maxwellians and small changes. An anisotropy decays by exp(-1.2 nu dt) in kinetic theory, and in
 * one turn by the average of |u|^4 (1 - <P_2(cos theta)>) over the relative velocity. Of a current of light
 * particles exp(-s) is left at the speed v, s = 3 sqrt(pi/2) nu dt/v^3, as slow ones lose theirs early, and
 * after one turn <cos theta>: exp(-s) by Nanbu's model, which so loses nothing. The energy exchanged is the
 * average of v^2 s, and in one turn that of v^2 (1 - <cos theta>), since speeds stay. */
double collisions_bias(const struct config *config, const struct collision_config *collision,
                       enum collision_effect effect, double strength);

#endif
