/* Fuzz target of the config reader: whatever the bytes, it returns; and what it accepts survives echo and
 * reading back.
 *
 * The input is the text of a file, then --set words, each behind a byte 0xFF (which no UTF-8 text holds). */
#include "config/config_reader.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SETTINGS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A config that was read must echo, read back without the settings, and be the same bytes. */
static void check_round_trip(const struct config *config)
{
    static struct config again;
    size_t length = 0;
    char *text = config_as_text(config, &length);
    if (!text)
        return;
    if (config_read_text("echo.yaml", text, length, NULL, 0, &again) != STATUS_OK ||
        memcmp(config, &again, sizeof again) != 0) {
        fprintf(stderr, "%s\n%s\n", text, status_message());
        abort();
    }
    free(text);
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
    if (config_read_text("fuzz.yaml", text, length, settings, setting_count, &config) == STATUS_OK)
        check_round_trip(&config);
    else if (status_message()[0] == '\0')
        abort(); /* refused without saying why */
    free(text);
    return 0;
}
