/* Folds: one number from the sixteen lanes of a vector, by halves: lanes n and n + 8 first, n and n + 4 of
 * what that gives next. The upper half is spelled out, since oclgrind 21.10 takes lane b of v.hi for
 * uninitialised. */
#ifndef SHARED_FOLD_H
#define SHARED_FOLD_H

#define ADD(a, b) ((a) + (b))
#define AND(a, b) ((a) & (b))

/* `combine` takes two numbers, or two vectors lane by lane. */
#define DEFINE_FOLD(name, type, combine)                                                                     \
    static inline type name(type##16 v)                                                                      \
    {                                                                                                        \
        const type##8 a = combine(v.lo, (type##8)(v.s8, v.s9, v.sa, v.sb, v.sc, v.sd, v.se, v.sf));          \
        const type##4 b = combine(a.lo, a.hi);                                                               \
        const type##2 c = combine(b.lo, b.hi);                                                               \
        return combine(c.x, c.y);                                                                            \
    }

#endif
