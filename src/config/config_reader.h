/* Config reader: a YAML file and `--set` words become a struct config, or all errors are reported at once. */
#ifndef RADIXPIC_CONFIG_CONFIG_READER_H
#define RADIXPIC_CONFIG_CONFIG_READER_H

#include "config/config.h"

#include <stdio.h>

/* Reads `path`, then applies `settings` ("dotted.path=value", e.g. "species.electrons.particles=4096"),
 * through the same schema: defaults, parse, validate. On errors returns STATUS_USAGE; the status message has
 * one line per error, "FILE:LINE:COL: key: expected ..., found ..." or "--set TEXT: ...", of the first 20. An
 * unreadable file is STATUS_USAGE too. `config` is written only on success, and
 * config_free() is due then. */
STATUS_CHECKED enum status config_read(const char *path, const char *const *settings, size_t setting_count,
                                       struct config *config);

/* Reads the config from a text in memory; `name` stands for the file in messages. Used by tests and the
 * fuzzer. */
STATUS_CHECKED enum status config_read_text(const char *name, const char *text, size_t length,
                                            const char *const *settings, size_t setting_count,
                                            struct config *config);

/* Every key, resolved, as YAML that config_read() reads back to the same struct, bit for bit. The caller
 * frees it; NULL when out of memory, with the status message set. */
char *config_as_text(const struct config *config, size_t *length);

/* Writes that. STATUS_FAILED when the stream reports an error, too. */
STATUS_CHECKED enum status config_echo(const struct config *config, FILE *stream);

/* STATUS_USAGE where two configs of these names differ: a line "KEY: NAME has VALUE, NAME VALUE" for each
 * such key, and behind them `rule` and "this key" or "these keys". Keys, and groups of keys, in `but` (NULL
 * ends it) are passed over. Species are compared in their order; a key of one kind of positions or velocities
 * only where both sides are of that kind, for else the kinds differ. */
STATUS_CHECKED enum status config_require_same(const struct config *const configs[2],
                                               const char *const names[2], const char *const *but,
                                               const char *rule);

enum describe_form { DESCRIBE_TEXT, DESCRIBE_MARKDOWN };

/* Prints the schema as a table: key, type, default, range, unit, help. Of all keys, or of the one that is
 * wanted and those below it; STATUS_USAGE where there is none. */
STATUS_CHECKED enum status config_describe(enum describe_form form, const char *wanted, FILE *stream);

#endif
