/* Layout: the serial algorithms of kernels/layout.cl on one array, for the device and for the host.
 *
 * Included once for each type of element, hence without a guard, with
 *   ELEMENT       the type
 *   SERIAL(name)  the name of a function for that type
 *   ARRAY         the parameters that say where the array is
 *   PLACE(j)         its element j, by these
 */

/* Y_j = X_0 + ... + X_j in the place of X: each element adds the sum that stands before it. */
static inline void SERIAL(prefix_sum)(ARRAY, uint length)
{
    for (uint j = 1; j < length; j++)
        PLACE(j) += PLACE(j - 1);
}

/* Ascending. No early end: a list in order costs as many comparisons as any other, but no writes. */
static inline void SERIAL(bubble_sort)(ARRAY, uint length)
{
    for (uint last = length - 1; last > 0; last--) {
        for (uint j = 0; j < last; j++) {
            const ELEMENT a = PLACE(j), b = PLACE(j + 1);
            if (a > b) {
                PLACE(j) = b;
                PLACE(j + 1) = a;
            }
        }
    }
}

/* Ascending; `length` is a power of two. Blocks that double in length are merged, upwards and downwards by
 * turns, each by comparing elements half a block apart, then a quarter, and so on. */
static inline void SERIAL(bitonic_sort)(ARRAY, uint length)
{
    for (uint block = 2; block <= length; block *= 2) {
        for (uint apart = block / 2; apart > 0; apart /= 2) {
            for (uint pair = 0; pair < length / 2; pair++) {
                const uint within = pair & (apart - 1);
                const uint low = 2 * (pair - within) + within; /* the bit of `apart` is 0 */
                const ELEMENT a = PLACE(low), b = PLACE(low + apart);
                const bool upwards = (low & block) == 0;
                if (upwards ? a > b : a < b) {
                    PLACE(low) = b;
                    PLACE(low + apart) = a;
                }
            }
        }
    }
}
