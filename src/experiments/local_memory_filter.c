/* Local memory, part filter: the filter of a line in the lecture's four versions and without local memory. */
#include "experiments/local_memory_parts.h"

#include <stdlib.h>
#include <string.h>

static const char *const version_names[LINE_VERSIONS] = {
    [LINE_PLAIN] = "without local memory", [LINE_V1] = "v1, juxtaposed blocks",
    [LINE_V2] = "v2, juxtaposed, ragged",  [LINE_V3] = "v3, overlapping blocks",
    [LINE_V4] = "v4, overlapping, ragged",
};

/* What the ends of the result keep: a number that no kernel writes. */
static const uint32_t untouched = 0x4b1d0b5eu;

struct line {
    enum line_version version;
    uint32_t length;
    float *numbers, *result; /* of the host */
    struct buffer *in, *out;
};

static enum status run_line(struct ladder *ladder, void *context)
{
    struct line *line = context;
    return local_line_run(ladder->kernels, line->version, line->length, line->in, line->out);
}

/* Bit by bit, and the two ends as they were. */
static bool is_filtered(const struct line *line)
{
    const float *in = line->numbers, *out = line->result;
    for (uint32_t i = 1; i + 1 < line->length; i++)
        if (out[i] != in[i - 1] * 0.25F + in[i] * 0.5F + in[i + 1] * 0.25F)
            return false;
    return memcmp(&out[0], &untouched, sizeof untouched) == 0 &&
           memcmp(&out[line->length - 1], &untouched, sizeof untouched) == 0;
}

static enum status climb(struct ladder *ladder, struct line *line)
{
    struct rung rung = {
        .part = "filter", .version = version_names[line->version], .scope = "", .unit = "GB/s"};
    line->length = local_line_length(line->version, ladder->shape.block, ladder->options.length);
    if (line->length == 0) {
        printf("  %-40s not for fewer elements than a block of %u\n", rung.version, ladder->shape.block);
        return STATUS_OK;
    }
    snprintf(rung.size, sizeof rung.size, "%u", line->length);
    rung.work = 2.0 * line->length * sizeof(float);
    TRY(buffer_fill(line->out, untouched));
    TRY(ladder_time(ladder, run_line, line, &rung));
    TRY(buffer_read(line->out, 0, line->length * sizeof(float), line->result));
    rung.verified = is_filtered(line);
    ladder_print(ladder, &rung);
    ladder_note(ladder, &rung);
    return STATUS_OK;
}

enum status ladder_filter(struct ladder *ladder)
{
    const uint32_t length = ladder->options.length;
    struct line line = {.numbers = malloc(length * sizeof(float)), .result = malloc(length * sizeof(float))};
    char title[128];
    enum status status = STATUS_OK;
    if (!line.numbers || !line.result)
        TRY_CLEANUP(status_fail(STATUS_FAILED, "--length: no memory for two lines of %u elements", length));
    for (uint32_t i = 0; i < length; i++)
        line.numbers[i] = 1e-3F * (float)(atomic_operand(i) >> 8);
    TRY_CLEANUP(ladder_array(ladder, length, line.numbers, &line.in));
    TRY_CLEANUP(ladder_array(ladder, length, NULL, &line.out));
    snprintf(title, sizeof title, "Filter 1/4, 1/2, 1/4 of a line, blocks of %u", ladder->shape.block);
    ladder_print_head(ladder, title);
    for (int version = 0; version < LINE_VERSIONS; version++) {
        line.version = (enum line_version)version;
        TRY_CLEANUP(climb(ladder, &line));
    }
cleanup:
    buffer_destroy(&line.out);
    buffer_destroy(&line.in);
    free(line.result);
    free(line.numbers);
    return status;
}
