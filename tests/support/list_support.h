/* List support: lists of particles made attribute by attribute, in either layout. Includes the device
 * fixture.
 */
#ifndef RADIXPIC_TEST_LIST_SUPPORT_H
#define RADIXPIC_TEST_LIST_SUPPORT_H

#include "support/device_fixture.h"

#include "domain/particles.h"

/* `count` particles, and room for as many; what they carry is not set. */
static inline void list_create(const struct slab *slab, enum precision precision,
                               const struct species_config *species, bool aos, uint32_t count,
                               struct particles *list)
{
    assert_ok(
        particles_create(device, slab, precision, aos ? LAYOUT_AOS : LAYOUT_SOA, species, count + 1, list));
    list->count = count;
}

/* One component of one particle, of a real attribute. */
static inline void list_write_one(const struct particles *list, enum attribute attribute, size_t p,
                                  unsigned component, double value)
{
    const size_t element = particles_stride(list, attribute) * p + particles_first(list, attribute);
    assert_ok(buffer_write_reals(list->attribute[attribute], list->precision,
                                 attribute_table[attribute].components * element + component, 1, &value));
}

/* A real attribute of all particles, where the species has it. */
static inline void list_write(struct particles *list, enum attribute attribute, const double *values)
{
    const size_t count = attribute_table[attribute].components * (size_t)list->count;
    assert_true(list->attribute[attribute] || attribute == ATTRIBUTE_W);
    if (!list->attribute[attribute])
        return;
    float *singles = test_array(count, sizeof *singles);
    for (size_t n = 0; n < count; n++)
        singles[n] = (float)values[n];
    assert_ok(particles_write(list, attribute, 0, list->count,
                              list->precision == PRECISION_SINGLE ? (const void *)singles : values));
}

/* Where each of `cells` cells begins, and the last ends. */
static inline void list_write_starts(const struct particles *list, uint32_t cells, const uint32_t *starts)
{
    assert_ok(buffer_write(list->cell_offsets, 0, (cells + (size_t)1) * sizeof *starts, starts));
}

/* All of a list; w and ids[count] where the species has them. */
static inline void list_write_all(struct particles *list, uint32_t cells, const uint32_t *starts,
                                  const double *offsets, const double *velocities, const double *w,
                                  const uint64_t *ids)
{
    list_write_starts(list, cells, starts);
    list_write(list, ATTRIBUTE_OFFSET, offsets);
    list_write(list, ATTRIBUTE_VELOCITY, velocities);
    list_write(list, ATTRIBUTE_W, w);
    if (list->attribute[ATTRIBUTE_ID])
        assert_ok(buffer_write(list->attribute[ATTRIBUTE_ID], 0, list->count * sizeof *ids, ids));
}

#endif
