/* Fuzz target of the config reader: whatever the bytes, it returns; and what it accepts survives echo and
 * reading back. With RADIXPIC_FUZZ_LIBRARY in the environment the library too makes a simulation of them,
 * which is slower: it takes two steps and gives its fields and particles.
 *
 * The input is the text of a file, then --set words, each behind a byte 0xFF (which no UTF-8 text holds). */
#include "support/config_support.h"

#include "radixpic.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SETTINGS = 4, MOST_CELLS = 1 << 12, MOST_PARTICLES = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A config that was read must echo, read back without the settings, and have the same bits in every key. */
static void check_round_trip(const struct config *config)
{
    static struct config again;
    size_t length = 0;
    char *text = config_as_text(config, &length);
    if (!text)
        return;
    if (config_read_text("echo.yaml", text, length, NULL, 0, &again) != STATUS_OK ||
        !config_is_same(config, &again)) {
        fprintf(stderr, "%s\n%s\n", text, status_message());
        abort();
    }
    config_free(&again);
    free(text);
}

/* Whether a simulation of it takes little time and memory. */
static bool is_small(const struct config *config)
{
    uint64_t particles = 0;
    for (uint32_t s = 0; s < config->species_count; s++)
        particles += config->species[s].particles;
    return particles <= MOST_PARTICLES && config->grid.cells[0] * config->grid.cells[1] <= MOST_CELLS;
}

/* A failure has a sentence; it may have any reason, as numbers that overflow in a step. */
static void check_status(enum radixpic_status status)
{
    if (status != RADIXPIC_OK && radixpic_error()[0] == '\0')
        abort();
}

static void check_library(const char *text, const char *const *settings, size_t count)
{
    static double field[MOST_CELLS], values[MOST_PARTICLES];
    struct radixpic *run = NULL;
    struct radixpic_species species;
    const enum radixpic_status status = radixpic_create_from_text(text, settings, count, &run);
    check_status(status);
    if (status == RADIXPIC_OK) {
        check_status(radixpic_step(run, 2));
        check_status(radixpic_read_field(run, "phi", field));
        for (uint32_t s = 0; radixpic_species_at(run, s, &species) == RADIXPIC_OK; s++)
            check_status(radixpic_read_particles(run, species.name, "x", values));
    }
    radixpic_destroy(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct config config;
    const char *settings[MOST_SETTINGS];
    size_t setting_count = 0;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    size_t length = size;
    for (char *mark = memchr(text, 0xFF, size); mark && setting_count < MOST_SETTINGS;
         mark = memchr(mark + 1, 0xFF, size - (size_t)(mark + 1 - text))) {
        if (setting_count == 0)
            length = (size_t)(mark - text);
        *mark = '\0';
        settings[setting_count++] = mark + 1;
    }
    const enum status status = config_read_text("fuzz.yaml", text, length, settings, setting_count, &config);
    if (status == STATUS_OK)
        check_round_trip(&config);
    else if (status_message()[0] == '\0')
        abort();                                   /* refused without saying why */
    const bool is_string = strlen(text) == length; /* with a NUL in it the library would read another text */
    if (getenv("RADIXPIC_FUZZ_LIBRARY") && is_string && (status != STATUS_OK || is_small(&config)))
        check_library(text, settings, setting_count);
    if (status == STATUS_OK)
        config_free(&config);
    free(text);
    return 0;
}
