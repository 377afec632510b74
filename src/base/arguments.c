/* Arguments: the wrapper around argp. */
#include "base/arguments.h"

#include "base/suggest.h"
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 64 };

static bool prints_help = true;

void arguments_show_help(bool shown)
{
    prints_help = shown;
}

void arguments_help(struct argp_state *state)
{
    if (prints_help)
        argp_help(state->root_argp, stdout, ARGP_HELP_LONG | ARGP_HELP_USAGE | ARGP_HELP_DOC, state->name);
    state->next = state->argc; /* nothing else is looked at */
}

enum status arguments_unknown(const char *what, const char *word, const char *const *known, size_t count)
{
    char *list = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&list, &length);
    if (!stream)
        return status_fail(STATUS_USAGE, "%s \"%s\" is not known", what, word);
    const char *nearest = suggest_nearest(word, known, count);
    if (nearest)
        fprintf(stream, "; did you mean %s?", nearest);
    fprintf(stream, "%s", nearest ? " Known are " : "; known are ");
    for (size_t n = 0; n < count; n++)
        fprintf(stream, "%s%s", n ? ", " : "", known[n]);
    fclose(stream);
    const enum status status = status_fail(STATUS_USAGE, "%s \"%s\" is not known%s", what, word, list);
    free(list);
    return status;
}

/* The options of an argp, and their names with the dashes. */
struct known_options {
    const struct argp_option *options[MAX_OPTIONS];
    const char *words[MAX_OPTIONS];
    char text[MAX_OPTIONS][64];
    size_t count;
};

/* The option of the name "--NAME", or whose name begins so, or of the letter "-L"; NULL where there is none.
 */
static const struct argp_option *find_option(const struct known_options *known, const char *word)
{
    const struct argp_option *beginning = NULL;
    const bool is_long = word[1] == '-';
    for (size_t n = 0; n < known->count; n++) {
        if (is_long ? strcmp(known->words[n], word) == 0 : known->options[n]->key == word[1])
            return known->options[n];
        if (is_long && strncmp(known->words[n], word, strlen(word)) == 0)
            beginning = known->options[n];
    }
    return beginning;
}

/* Checks the options in argv, of which argp itself would only report that something is wrong. */
static enum status check_options(const struct argp *argp, int argc, char **argv)
{
    struct known_options known = {.count = 0};
    char word[TEXT_SHOWN_LENGTH], what[128];
    snprintf(what, sizeof what, "%s: option", argv[0]);
    for (const struct argp_option *option = argp->options; option->name && known.count < MAX_OPTIONS;
         option++) {
        char *text = known.text[known.count];
        snprintf(text, sizeof known.text[0], "--%s", option->name);
        known.words[known.count] = text;
        known.options[known.count++] = option;
    }
    for (int n = 1; n < argc && strcmp(argv[n], "--") != 0; n++) {
        if (argv[n][0] != '-' || argv[n][1] == '\0')
            continue;
        text_shown(argv[n], argv[n][1] == '-' ? strcspn(argv[n], "=") : 2, word);
        const struct argp_option *option = find_option(&known, word);
        if (!option)
            return arguments_unknown(what, word, known.words, known.count);
        const bool value_follows = option->arg && argv[n][strlen(word)] == '\0';
        if (value_follows && n + 1 == argc)
            return status_fail(STATUS_USAGE, "%s \"%s\" needs a value, %s", what, word, option->arg);
        n += value_follows; /* a value in a word of its own */
    }
    return STATUS_OK;
}

enum status arguments_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    TRY(check_options(argp, argc, argv));
    (void)status_fail(STATUS_OK, "%s", "");
    int next = argc;
    const error_t error =
        argp_parse(argp, argc, argv, ARGP_NO_HELP | ARGP_NO_EXIT | ARGP_NO_ERRS, &next, input);
    if (error == 0 && next < argc)
        return status_fail(STATUS_USAGE, "%s: unexpected argument \"%s\"", argv[0], argv[next]);
    if (error == 0)
        return STATUS_OK;
    if (status_message()[0] == '\0') /* argp itself refused a word: a short option or its value */
        return status_fail(STATUS_USAGE, "%s: an option is not known or lacks its value; see %s --help",
                           argv[0], argv[0]);
    return STATUS_USAGE;
}

error_t arguments_refuse(const struct argp_state *state, const char *format, ...)
{
    char *message = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&message, format, arguments) < 0)
        message = NULL;
    va_end(arguments);
    (void)status_fail(STATUS_USAGE, "%s: %s", state->name, message ? message : "out of memory");
    free(message);
    return EINVAL;
}
