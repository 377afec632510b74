/* NDPA shape: the pure numbers of in-place N-dimensional permutation, on the host.
 *
 * M. E. Ali, S. El-shehaby, M. S. Abougabal, "NDPA: A generalized efficient parallel in-place N-Dimensional
 * Permutation Algorithm", Alexandria Engineering Journal 54 (2015): a volume is a grid of cells of p^N
 * elements; a permutation moves elements inside each cell, and leaves the cells where they are.
 *
 * Linear index. Arrays are in C order, the last axis fastest (the paper's have the first axis fastest): in a
 * volume of sides n_0 ... n_{N-1}, element (i_0, ..., i_{N-1}) lies at (...(i_0 n_1 + i_1) n_2 + ...) +
 * i_{N-1}.
 *
 * Axes. As those of numpy.transpose: axis k of the permuted volume is axis axes[k] of the original one, so
 * that permuted[j_0, ..., j_{N-1}] = original[i_0, ..., i_{N-1}] with i_{axes[k]} = j_k; its sides are
 * sides[axes[k]].
 *
 * Where it lies. With c_{axes[k]} = floor(j_k / p), the cell that the element was in and still is, and
 * o_k = j_k mod p, its new place inside the cell, permuted[j] is found in the original volume's layout at
 * subscript (c_0 p + o_0, ..., c_{N-1} p + o_{N-1}). Cells thus keep their places, and so does every bar of
 * cells; permuting with the inverse axes brings every element back.
 */
#ifndef RADIXPIC_EXPERIMENTS_NDPA_SHAPE_H
#define RADIXPIC_EXPERIMENTS_NDPA_SHAPE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { NDPA_MAX_DIMENSIONS = 8 };

struct ndpa_shape {
    uint32_t dimensions;                 /* N, 2 to 8 */
    uint32_t sides[NDPA_MAX_DIMENSIONS]; /* of the volume in elements, multiples of cell_side */
    uint32_t cell_side;                  /* p, 2 or more */
};

/* STATUS_USAGE with a sentence where the numbers are not as above, the volume has more than 2^32 - 1
 * elements, or axes[dimensions] is no permutation of 0 ... N-1. */
STATUS_CHECKED enum status ndpa_check(const struct ndpa_shape *shape, const uint32_t *axes);

/* The product of the sides, which may be more than a volume can have; p^N; and bytes of a volume. */
uint64_t ndpa_elements(const struct ndpa_shape *shape);
uint64_t ndpa_cell_elements(const struct ndpa_shape *shape);
size_t ndpa_bytes(const struct ndpa_shape *shape);

/* From subscript to linear index of an array, and back. */
uint64_t ndpa_index(uint32_t dimensions, const uint32_t *sides, const uint32_t *subscript);
void ndpa_subscript(uint32_t dimensions, const uint32_t *sides, uint64_t index, uint32_t *subscript);

/* The linear index, in the volume permuted in place, of element `subscript` of the permuted one. */
uint64_t ndpa_place(const struct ndpa_shape *shape, const uint32_t *axes, const uint32_t *subscript);

/* Inside a cell: place e of the permuted one holds what stood at the returned place; linear indices. */
uint32_t ndpa_source_in_cell(const struct ndpa_shape *shape, const uint32_t *axes, uint32_t e);

/* Where element e of the first cell lies in the volume. */
uint32_t ndpa_place_in_cell(const struct ndpa_shape *shape, uint32_t e);

/* Permutes a volume of the host in place, one cell after the other, on one thread. STATUS_USAGE as
 * ndpa_check(); STATUS_FAILED when memory for one cell and its tables runs out. */
STATUS_CHECKED enum status ndpa_permute_host(const struct ndpa_shape *shape, const uint32_t *axes,
                                             uint32_t *volume);

#endif
