/* Local memory, part stencil: 2D kernels that stage once (the binomial filter of the charge density) and in a
 * loop (a matrix product), beside those without local memory. */
#include "experiments/local_memory_parts.h"
#include "field/filter.h"

#include <stdlib.h>

/* ---- the binomial filter ---- */

static const struct {
    const char *name;
    struct filter_tile tile;
} filters[] = {
    {"2D filter without local memory", {0}},
    {"2D filter, a tile, an item per node", {8, 32, 1}},
    {"2D filter, a tile, 4 nodes per item", {16, 32, 4}},
};
enum { FILTERS = sizeof filters / sizeof filters[0] };

struct plane {
    struct grid grid;
    size_t nodes;
    struct filter *filter;
    float *numbers, *result; /* of the host */
    struct buffer *rho;
};

static enum status time_pass(struct ladder *ladder, struct plane *plane, struct rung *rung)
{
    for (uint32_t n = 0; n < ladder->options.repeats + 1; n++) {
        TRY(buffer_write(plane->rho, 0, plane->nodes * sizeof(float), plane->numbers));
        device_reset_timers(ladder->device);
        TRY(filter_apply(plane->filter, 1, plane->rho));
        TRY(device_finish(ladder->device));
        if (n > 0)
            samples_add(&rung->times, device_timers(ladder->device)->stages[STAGE_FIELD].seconds);
    }
    return buffer_read(plane->rho, 0, plane->nodes * sizeof(float), plane->result);
}

static float smoothed_along_y(const struct plane *plane, uint32_t i, uint32_t j)
{
    const uint32_t ny = plane->grid.ny;
    const float *row = plane->numbers + (size_t)i * ny;
    return row[(j + ny - 1) % ny] + 2 * row[j] + row[(j + 1) % ny];
}

static bool is_smoothed(const struct plane *plane)
{
    const uint32_t nx = plane->grid.nx, ny = plane->grid.ny;
    for (uint32_t i = 0; i < nx; i++)
        for (uint32_t j = 0; j < ny; j++) {
            const float left = smoothed_along_y(plane, (i + nx - 1) % nx, j);
            const float right = smoothed_along_y(plane, (i + 1) % nx, j);
            const float sum = left + 2 * smoothed_along_y(plane, i, j) + right;
            if (plane->result[(size_t)i * ny + j] != sum / 16)
                return false;
        }
    return true;
}

static enum status climb_filter(struct ladder *ladder, struct plane *plane, int which)
{
    struct rung rung = {.part = "stencil", .version = filters[which].name, .scope = "", .unit = "GB/s"};
    const struct filter_tile *tile = &filters[which].tile;
    if (tile->rows > 0 &&
        tile->rows / tile->item_rows * tile->columns > device_info(ladder->device)->group_limit) {
        printf("  %-40s not on this device: its groups are too small\n", rung.version);
        return STATUS_OK;
    }
    snprintf(rung.size, sizeof rung.size, "%ux%u", plane->grid.nx, plane->grid.ny);
    rung.work = 2.0 * (double)(plane->nodes * sizeof(float));
    struct device *owner;
    TRY(device_branch(ladder->device, &owner));
    TRY(filter_create_tiled(owner, &plane->grid, PRECISION_SINGLE, *tile, &plane->filter));
    const enum status status = time_pass(ladder, plane, &rung);
    device_close(&owner);
    TRY(status);
    rung.verified = is_smoothed(plane);
    ladder_print(ladder, &rung);
    ladder_note(ladder, &rung);
    return STATUS_OK;
}

static enum status filter_planes(struct ladder *ladder)
{
    const uint32_t *cells = ladder->options.cells;
    const struct grid_config config = {.cells = {cells[0], cells[1]}, .length = {1, 1}};
    struct plane plane = {.grid = grid_make(&config), .nodes = (size_t)cells[0] * cells[1]};
    enum status status = STATUS_OK;
    plane.numbers = malloc(plane.nodes * sizeof *plane.numbers);
    plane.result = malloc(plane.nodes * sizeof *plane.result);
    if (!plane.numbers || !plane.result)
        TRY_CLEANUP(
            status_fail(STATUS_FAILED, "--cells: no memory for two grids of %u x %u", cells[0], cells[1]));
    for (size_t n = 0; n < plane.nodes; n++)
        plane.numbers[n] = 1e-3F * (float)(atomic_operand((uint32_t)n) >> 8);
    TRY_CLEANUP(ladder_array(ladder, plane.nodes, NULL, &plane.rho));
    for (int which = 0; which < FILTERS; which++)
        TRY_CLEANUP(climb_filter(ladder, &plane, which));
cleanup:
    buffer_destroy(&plane.rho);
    free(plane.result);
    free(plane.numbers);
    return status;
}

/* ---- the matrix product ---- */

static const char *const product_names[PRODUCT_VERSIONS] = {
    [PRODUCT_PLAIN] = "product without local memory",
    [PRODUCT_TILED] = "product, loop over tiles",
};

enum { MATRIX_A, MATRIX_B, MATRIX_C, MATRICES };

struct product {
    enum product_version version;
    uint32_t side;
    float *host[MATRICES + 1]; /* the last one is what the device made */
    struct buffer *arrays[MATRICES];
};

/* Whole numbers, small enough that every sum is exact and thus the same in any order. The host goes through b
 * and c along their rows. */
static void multiply_on_host(struct product *product)
{
    const size_t side = product->side;
    float *a = product->host[MATRIX_A], *b = product->host[MATRIX_B], *c = product->host[MATRIX_C];
    for (size_t n = 0; n < side * side; n++) {
        a[n] = (float)(atomic_operand((uint32_t)n) % 17) - 8;
        b[n] = (float)(atomic_operand(~(uint32_t)n) % 17) - 8;
        c[n] = 0;
    }
    for (size_t i = 0; i < side; i++)
        for (size_t k = 0; k < side; k++)
            for (size_t j = 0; j < side; j++)
                c[i * side + j] += a[i * side + k] * b[k * side + j];
}

static bool is_product(const struct product *product)
{
    const size_t count = (size_t)product->side * product->side;
    for (size_t n = 0; n < count; n++)
        if (product->host[MATRICES][n] != product->host[MATRIX_C][n])
            return false;
    return true;
}

static enum status run_product(struct ladder *ladder, void *context)
{
    struct product *product = context;
    const struct product_size size = {product->side, product->side, product->side};
    return local_product_run(ladder->kernels, product->version, size, product->arrays[MATRIX_A],
                             product->arrays[MATRIX_B], product->arrays[MATRIX_C]);
}

static enum status climb_product(struct ladder *ladder, struct product *product)
{
    const double side = product->side;
    struct rung rung = {.part = "stencil", .version = product_names[product->version], .scope = ""};
    snprintf(rung.size, sizeof rung.size, "%ux%u", product->side, product->side);
    rung.work = 2 * side * side * side;
    rung.unit = "Gflop/s";
    TRY(buffer_fill(product->arrays[MATRIX_C], UINT32_MAX));
    TRY(ladder_time(ladder, run_product, product, &rung));
    TRY(buffer_read(product->arrays[MATRIX_C], 0, (size_t)(side * side) * sizeof(float),
                    product->host[MATRICES]));
    rung.verified = is_product(product);
    ladder_print(ladder, &rung);
    ladder_note(ladder, &rung);
    return STATUS_OK;
}

static enum status multiply_matrices(struct ladder *ladder)
{
    struct product product = {.side = ladder->options.product};
    const size_t count = (size_t)product.side * product.side;
    enum status status = STATUS_OK;
    for (int n = 0; n <= MATRICES; n++) {
        product.host[n] = malloc(count * sizeof(float));
        if (!product.host[n])
            TRY_CLEANUP(status_fail(STATUS_FAILED, "--product: no memory for four matrices of %u x %u",
                                    product.side, product.side));
    }
    multiply_on_host(&product);
    for (int n = 0; n < MATRICES; n++)
        TRY_CLEANUP(ladder_array(ladder, count, n == MATRIX_C ? NULL : product.host[n], &product.arrays[n]));
    for (int version = 0; version < PRODUCT_VERSIONS; version++) {
        product.version = (enum product_version)version;
        TRY_CLEANUP(climb_product(ladder, &product));
    }
cleanup:
    for (int n = 0; n < MATRICES; n++)
        buffer_destroy(&product.arrays[n]);
    for (int n = 0; n <= MATRICES; n++)
        free(product.host[n]);
    return status;
}

enum status ladder_stencil(struct ladder *ladder)
{
    char title[128];
    snprintf(title, sizeof title, "2D kernels: the binomial filter, and a product with tiles of %u x %u",
             ladder->shape.square, ladder->shape.square);
    ladder_print_head(ladder, title);
    TRY(filter_planes(ladder));
    return multiply_matrices(ladder);
}
