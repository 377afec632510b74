/* Host list: the particles of a list on the host, in doubles, to write into lists of either layout and to
 * compare with them. */
#ifndef RADIXPIC_TEST_HOST_LIST_H
#define RADIXPIC_TEST_HOST_LIST_H

#include "support/test_support.h"

#include "domain/particles.h"

#include <string.h>

struct host_list {
    uint32_t count, cells;
    uint32_t *cell_offsets; /* [cells + 1] */
    double (*state)[4];     /* dx, dy, u, v; exact in the list's precision */
    uint64_t *id;
};

/* With room for `count` particles, and empty. */
static inline struct host_list host_list_make(uint32_t count, uint32_t cells)
{
    struct host_list list = {.cells = cells,
                             .cell_offsets = calloc(cells + (size_t)1, sizeof *list.cell_offsets),
                             .state = calloc(count + (size_t)1, sizeof *list.state),
                             .id = calloc(count + (size_t)1, sizeof *list.id)};
    assert_true(list.cell_offsets && list.state && list.id);
    return list;
}

static inline void host_list_free(struct host_list *list)
{
    free(list->cell_offsets);
    free(list->state);
    free(list->id);
}

/* One particle behind the others. */
static inline void host_list_add(struct host_list *list, const double state[4], uint64_t id)
{
    memcpy(list->state[list->count], state, sizeof *list->state);
    list->id[list->count++] = id;
}

/* Particles [first, first + count) of the host's list to those places of the device's. */
static inline void host_list_write_part(const struct host_list *host, uint32_t first, uint32_t count,
                                        struct particles *list)
{
    double *pairs = calloc(2 * (size_t)count + 1, sizeof *pairs);
    assert_non_null(pairs);
    for (enum attribute a = ATTRIBUTE_OFFSET; a <= ATTRIBUTE_VELOCITY; a++) {
        for (uint32_t p = 0; p < count; p++)
            memcpy(pairs + 2 * (size_t)p, host->state[first + p] + 2 * a, 2 * sizeof *pairs);
        if (list->layout == LAYOUT_SOA)
            assert_ok(buffer_write_reals(list->attribute[a], list->precision, 2 * (size_t)first,
                                         2 * (size_t)count, pairs));
    }
    free(pairs);
    if (list->layout == LAYOUT_AOS)
        assert_ok(buffer_write_reals(list->attribute[ATTRIBUTE_OFFSET], list->precision, 4 * (size_t)first,
                                     4 * (size_t)count, host->state[first]));
    if (list->attribute[ATTRIBUTE_ID])
        assert_ok(buffer_write(list->attribute[ATTRIBUTE_ID], first * sizeof *host->id,
                               count * sizeof *host->id, host->id + first));
}

static inline void host_list_write(const struct host_list *host, struct particles *list)
{
    list->count = host->count;
    host_list_write_part(host, 0, host->count, list);
    assert_ok(buffer_write(list->cell_offsets, 0, (host->cells + (size_t)1) * sizeof *host->cell_offsets,
                           host->cell_offsets));
}

/* The list is the host's, bit for bit. */
static inline void host_list_check(const struct host_list *host, const struct particles *list)
{
    struct host_list found = host_list_make(host->count, host->cells);
    const size_t offsets_bytes = (host->cells + (size_t)1) * sizeof *host->cell_offsets;
    assert_int_equal(list->count, host->count);
    assert_true(list->count <= list->capacity);
    assert_ok(buffer_read(list->cell_offsets, 0, offsets_bytes, found.cell_offsets));
    assert_memory_equal(found.cell_offsets, host->cell_offsets, offsets_bytes);
    double *pairs = calloc(2 * (size_t)host->count + 1, sizeof *pairs);
    assert_non_null(pairs);
    for (enum attribute a = ATTRIBUTE_OFFSET; a <= ATTRIBUTE_VELOCITY; a++) {
        assert_ok(particles_read(list, a, 0, host->count, pairs));
        for (uint32_t p = 0; p < host->count; p++)
            memcpy(found.state[p] + 2 * a, pairs + 2 * (size_t)p, 2 * sizeof *pairs);
    }
    assert_memory_equal(found.state, host->state, host->count * sizeof *host->state);
    if (attribute_present(list->species, ATTRIBUTE_ID)) {
        assert_ok(buffer_read(list->attribute[ATTRIBUTE_ID], 0, host->count * sizeof *host->id, found.id));
        assert_memory_equal(found.id, host->id, host->count * sizeof *host->id);
    }
    free(pairs);
    host_list_free(&found);
}

#endif
