/* Relativistic push: the pushers beside Boris', of which motion.h includes the one that PUSHER names. They
 * need HAS_LOCAL_B.
 */
#ifndef SHARED_RELATIVISTIC_PUSH_H
#define SHARED_RELATIVISTIC_PUSH_H

/* Half of what the rotation changes: added to `before` it gives the u of turning_factor(). */
static inline struct velocity half_change(struct velocity before, const struct turn *turn)
{
    const struct velocity none = {0, 0, 0}, first = add_cross(none, before, turn->sine);
    const struct velocity both = add_cross(first, first, turn->tangent);
    const struct velocity change = {(real)0.5 * both.u, (real)0.5 * both.v, (real)0.5 * both.w};
    return change;
}

/* u x q B dt/2 gamma m, with the gamma of u. */
static inline struct velocity own_turn(struct velocity u, const reals *field, const struct pusher *pusher)
{
    const struct velocity none = {0, 0, 0}, at_rest = turn_at_rest(field, pusher);
    return add_cross(none, u, tangent_of(at_rest, lorentz_factor(u, pusher)));
}

#if PUSHER == 1 /* vay */

/* Vay (Phys. Plasmas 15, 056701, 2008): half a step to n with the velocity before it, and half a step with
 * the velocity after it. Each half has E and v x B of one velocity, so that a particle on which these cancel
 * keeps its momentum, for any step. */
static inline struct velocity_step velocity_push(struct velocity old, const reals *field,
                                                 const struct pusher *pusher, reals dither)
{
    const real half_kick = pusher->half_kick;
    const struct velocity first = own_turn(old, field, pusher);
    const struct velocity at_n = add_kick(sum_of(old, first), field, half_kick);
    const struct velocity minus = add_kick(at_n, field, half_kick);
    const struct turn turn = turn_of(minus, field, pusher);
    const struct velocity turned_by = sum_of(first, half_change(minus, &turn));
#if DITHERS
    const struct velocity rounder = {rounder_of(old.u), rounder_of(old.v), rounder_of(old.w)};
    const struct velocity change =
        sum_of(dithered_kick(dither, rounder, field, (real)2 * half_kick), turned_by);
    const struct velocity after = {add_rounded(old.u, change.u, rounder.u),
                                   add_rounded(old.v, change.v, rounder.v),
                                   add_rounded(old.w, change.w, rounder.w)};
#else
    const struct velocity after = sum_of(old, add_kick(turned_by, field, (real)2 * half_kick));
    (void)dither;
#endif
    const struct velocity_step step = {after, after, at_n};
    return step;
}

/* The loaded momentum at 0 -> -1/2, so that velocity_push() passes through it. Its first half step is
 * explicit, so that backwards it is solved as the second one is. */
static inline struct velocity velocity_start(struct velocity loaded, const reals *field,
                                             const struct pusher *pusher)
{
    struct pusher back = *pusher;
    back.half_kick = -pusher->half_kick;
    back.tangent.x = -pusher->tangent.x;
    back.tangent.y = -pusher->tangent.y;
    back.tangent.z = -pusher->tangent.z;
    const struct velocity minus = add_kick(loaded, field, back.half_kick);
    const struct turn turn = turn_of(minus, field, &back);
    return sum_of(minus, half_change(minus, &turn));
}

#else /* higuera_cary */

/* Higuera and Cary (Phys. Plasmas 24, 052104, 2017): as Boris, but the gamma of the rotation is that of the
 * mean of the momenta before and after the step, which is the momentum at n. Where E and v x B of that
 * cancel, it stays as it is. */
static inline struct velocity_step velocity_push(struct velocity old, const reals *field,
                                                 const struct pusher *pusher, reals dither)
{
    const struct velocity none = {0, 0, 0}, minus = add_kick(old, field, pusher->half_kick);
    const struct turn turn = turn_of(minus, field, pusher);
    const struct velocity after =
        turned(old, add_cross(none, minus, turn.sine), &turn, field, pusher, dither);
    const struct velocity_step step = {after, after, sum_of(minus, half_change(minus, &turn))};
    return step;
}

/* The loaded momentum at 0 -> -1/2, so that velocity_push() passes through it: half a step by the fields that
 * act on it. */
static inline struct velocity velocity_start(struct velocity loaded, const reals *field,
                                             const struct pusher *pusher)
{
    const struct velocity by = own_turn(loaded, field, pusher), back = {-by.u, -by.v, -by.w};
    return add_kick(sum_of(loaded, back), field, -pusher->half_kick);
}

#endif
#endif
