/* Local memory options: parsing. */
#include "experiments/local_memory_options.h"

#include "experiments/cells_option.h"
#include "experiments/usual_options.h"

#include <string.h>

enum { KEY_PART = 1000, KEY_LENGTH, KEY_CELLS, KEY_PRODUCT, KEY_OPERATIONS, KEY_COARSE, KEY_BLOCK };

static const struct argp_option local_options[] = {
    {"part", KEY_PART, "NAME", 0,
     "filter, transpose, stencil, atomics or refine; may be repeated; all without it", 0},
    {"length", KEY_LENGTH, "N", 0, "Elements of the line of filter, 4194303 without it", 0},
    {"cells", KEY_CELLS, "C", 0,
     "Of the matrix of transpose and the grid of stencil: N for N x N, or NXxNY; 2050x2000 without it", 0},
    {"product", KEY_PRODUCT, "N", 0,
     "Rows and columns of the matrices that stencil multiplies, 300 without it", 0},
    {"operations", KEY_OPERATIONS, "N", 0,
     "Operations of each function of atomics, rounded up to whole groups; 1048576 without it", 0},
    {"coarse", KEY_COARSE, "N", 0, "Cells along x and y of the grid of refine, 128 without it", 0},
    {"block", KEY_BLOCK, "I", 0,
     "Items of a group (I) in filter and atomics; 256 without it, or as many as the device allows", 0},
    {"repeat", 'r', "K", 0, "Timed runs of each kernel, after a warm-up; 10 without it", 0},
    {"device", 'd', "SPEC", 0, "cpu, gpu, auto, P:D, or part of a name; see radixpic devices", 0},
    {"csv", KEY_CSV, "FILE", 0, "Write every kernel as a row of FILE", 0},
    {0},
};

/* The options that only one part has, or two. */
static const struct {
    int key;
    const char *name;
    enum local_part first, second; /* the same where there is one */
} owned[] = {
    {KEY_LENGTH, "--length", PART_FILTER, PART_FILTER},
    {KEY_CELLS, "--cells", PART_TRANSPOSE, PART_STENCIL},
    {KEY_PRODUCT, "--product", PART_STENCIL, PART_STENCIL},
    {KEY_OPERATIONS, "--operations", PART_ATOMICS, PART_ATOMICS},
    {KEY_COARSE, "--coarse", PART_REFINE, PART_REFINE},
    {KEY_BLOCK, "--block", PART_FILTER, PART_ATOMICS},
};
enum { OWNED = sizeof owned / sizeof owned[0] };

/* What argv says, before it is put together. */
struct parsed {
    struct local_memory_options *options;
    bool given[OWNED];
};

static const char *const part_names[LOCAL_PARTS + 1] = {
    [PART_FILTER] = "filter",   [PART_TRANSPOSE] = "transpose", [PART_STENCIL] = "stencil",
    [PART_ATOMICS] = "atomics", [PART_REFINE] = "refine",
};

static error_t parse_part(struct argp_state *state, const char *text, struct local_memory_options *options)
{
    size_t part = 0;
    if (strcmp(text, "product") == 0)
        return arguments_refuse(state, "--part: 'product' is in the part stencil");
    const error_t error = arguments_choice(state, "--part", text, part_names, &part);
    if (error == 0)
        options->parts[part] = true;
    return error;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct parsed *parsed = state->input;
    struct local_memory_options *options = parsed->options;
    for (size_t n = 0; n < OWNED; n++)
        parsed->given[n] = parsed->given[n] || owned[n].key == key;
    switch (key) {
    case KEY_PART:
        return parse_part(state, argument, options);
    case KEY_LENGTH:
        return arguments_number32(state, "--length", argument, 3, UINT32_C(1) << 30, &options->length);
    case KEY_CELLS:
        return cells_option_parse(state, argument, 1, options->cells);
    case KEY_PRODUCT:
        return arguments_number32(state, "--product", argument, 1, 8192, &options->product);
    case KEY_OPERATIONS:
        return arguments_number32(state, "--operations", argument, 1, UINT32_C(1) << 28,
                                  &options->operations);
    case KEY_COARSE:
        return arguments_number32(state, "--coarse", argument, 1, 2048, &options->coarse);
    case KEY_BLOCK:
        return arguments_number32(state, "--block", argument, 3, 1024, &options->block);
    default:
        return usual_option_parse(key, argument, state, &options->device, &options->csv_path,
                                  &options->repeats);
    }
}

static const struct argp argp = {
    .options = local_options,
    .parser = parse,
    .doc = "Climb the ladder of local memory, kernel by kernel.\v"
           "The kernels of S. Vialle's lecture \"Advanced CUDA programming\", part 1: filter, of a line, "
           "through "
           "juxtaposed and overlapping blocks in local memory (what CUDA calls shared memory); transpose, "
           "through tiles, with padded rows too; stencil, 2D kernels: the binomial filter of the charge "
           "density, which stages once, and a matrix product, which loops over tiles; atomics, on words of "
           "global and of local memory; refine, a coarse grid some of whose cells get a child grid. Without "
           "options it takes about 20 s on two CPU cores.\n\n"
           "Examples:\n"
           "  radixpic bench local-memory\n"
           "  radixpic bench local-memory --part transpose --cells 4096 --device gpu\n"
           "  radixpic bench local-memory --length 268435455 --cells 8192 --device gpu\n"
           "  radixpic bench local-memory --part atomics --operations 16777216\n",
};

/* Refuses what would have no effect. */
static enum status check_parts(const char *name, const struct parsed *parsed)
{
    const bool *parts = parsed->options->parts;
    for (size_t n = 0; n < OWNED; n++) {
        const enum local_part first = owned[n].first, second = owned[n].second;
        if (!parsed->given[n] || parts[first] || parts[second])
            continue;
        if (first == second)
            return status_fail(STATUS_USAGE, "%s: %s is of the part %s, which --part leaves out", name,
                               owned[n].name, part_names[first]);
        return status_fail(STATUS_USAGE, "%s: %s is of the parts %s and %s, which --part leaves out", name,
                           owned[n].name, part_names[first], part_names[second]);
    }
    return STATUS_OK;
}

enum status local_memory_options_parse(int argc, char **argv, struct local_memory_options *options,
                                       bool *done)
{
    *options = (struct local_memory_options){.device = "auto",
                                             .length = (1u << 22) - 1,
                                             .cells = {2050, 2000},
                                             .product = 300,
                                             .operations = 1u << 20,
                                             .coarse = 128,
                                             .repeats = 10};
    struct parsed parsed = {.options = options};
    TRY(arguments_parse(&argp, argc, argv, &parsed, done));
    bool any = false;
    for (int part = 0; part < LOCAL_PARTS; part++)
        any = any || options->parts[part];
    for (int part = 0; part < LOCAL_PARTS && !any; part++)
        options->parts[part] = true;
    return *done ? STATUS_OK : check_parts(argv[0], &parsed);
}
