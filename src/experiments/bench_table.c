/* Bench table: cases of a bench on the screen and in its file, by columns that are described once. */
#include "experiments/bench.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { NAME_WIDTH = 18, NUMBER_WIDTH = 9, SPREAD_WIDTH = 30 };
static const char *const verdicts[] = {"NOT VERIFIED", "verified", [NOT_COMPARED] = ""};

/* Spaces become _ but for those before the key of a word. */
static void join_words(char *text)
{
    for (char *space = text; (space = strchr(space, ' ')) != NULL; space++)
        if (space[1 + strcspn(space + 1, " =")] != '=')
            *space = '_';
}

void bench_words(struct bench *bench, bool on_host, int verified, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(bench->words, sizeof bench->words, format, arguments);
    va_end(arguments);
    join_words(bench->words);
    bench->on_host = on_host;
    bench->verified = verified;
}

/* The word of that key, with its spaces; empty where the case has none. */
static void find_word(const struct bench *bench, const char *key, size_t size, char *word)
{
    const size_t length = strlen(key);
    word[0] = '\0';
    for (const char *at = bench->words; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, key, length) == 0 && at[length] == '=')
            snprintf(word, size, "%.*s", (int)strcspn(at + length + 1, " "), at + length + 1);
    }
    for (char *joint = word; (joint = strchr(joint, '_')) != NULL;)
        *joint = ' ';
}

static bool is_column(const struct bench_column *column)
{
    return column->heading || column->quantity;
}

static bool takes_value(const struct bench_column *column)
{
    return column->kind < COLUMN_OF_COPY;
}

/* Negative of a word, which begins at the left. */
static int width_of(const struct bench_column *column)
{
    const int usual = column->kind == COLUMN_SPREAD ? SPREAD_WIDTH : NUMBER_WIDTH;
    const int heading = (int)strlen(column->heading);
    const int least = column->width > 0 ? column->width : usual, width = heading > least ? heading : least;
    return column->kind == COLUMN_WORD ? -width : width;
}

/* Four digits, or all digits of a whole number. */
static void print_number(double number, size_t size, char *text)
{
    snprintf(text, size, fabs(number) < 9999.5 ? "%.4g" : "%.0f", number);
}

static void print_cell(enum column_kind kind, struct spread values, size_t size, char *text)
{
    char median[32], least[32], most[32];
    print_number(values.median, sizeof median, median);
    print_number(values.least, sizeof least, least);
    print_number(values.most, sizeof most, most);
    if (values.count == 0)
        snprintf(text, size, "-");
    else if (kind == COLUMN_SPREAD && values.count > 1)
        snprintf(text, size, "%s [%s, %s]", median, least, most);
    else
        snprintf(text, size, "%s", median);
}

void bench_head(const struct bench_table *table)
{
    if (table->names)
        printf("  %-*s", NAME_WIDTH, table->names);
    for (const struct bench_column *column = table->columns; is_column(column); column++)
        if (column->heading)
            printf("  %*s", width_of(column), column->heading);
    printf("\n");
}

void bench_print(const struct bench *bench, const struct bench_table *table, const char *name,
                 const struct spread *values, const char *note)
{
    struct spread value = {0};
    char text[256];
    if (table->names)
        printf("  %-*s", NAME_WIDTH, name);
    for (const struct bench_column *column = table->columns; is_column(column); column++) {
        if (column->kind == COLUMN_OF_COPY)
            value = spread_scaled(value, 100 * per_second(1, bench_copy_rate(bench)));
        if (takes_value(column))
            value = spread_scaled(*values++, column->scale);
        print_cell(column->kind, value, sizeof text, text);
        if (column->kind == COLUMN_WORD)
            find_word(bench, column->quantity, sizeof text, text);
        if (column->heading)
            printf("  %*s", width_of(column), text);
    }
    if (!table->names)
        printf("  %s", verdicts[bench->verified]);
    printf("%s%s\n", note && !table->names && bench->verified != NOT_COMPARED ? ": " : "", note ? note : "");
    fflush(stdout);
}

void bench_write(const struct bench *bench, const struct bench_table *table, const char *name,
                 const struct spread *values)
{
    static const char *const words[] = {"no", "yes", [NOT_COMPARED] = ""};
    for (const struct bench_column *column = table->columns; is_column(column); column++) {
        char quantity[64];
        if (!takes_value(column))
            continue;
        const struct spread value = spread_scaled(*values++, column->scale);
        if (!bench->csv || !column->quantity || value.count == 0)
            continue;
        snprintf(quantity, sizeof quantity, "%s%s", column->quantity[0] == '_' ? name : "", column->quantity);
        join_words(quantity);
        fprintf(bench->csv, "%s,\"%s\",\"%s\",%s,%.9g,%.9g,%.9g,%u,%s\n", bench->experiment->name,
                bench->on_host ? "host" : bench->info->name, bench->words, quantity, value.median,
                value.least, value.most, value.count, words[bench->verified]);
    }
}

void bench_row(const struct bench *bench, const struct bench_table *table, const char *name,
               const struct spread *values, const char *note)
{
    bench_print(bench, table, name, values, note);
    bench_write(bench, table, name, values);
}

void bench_print_verdict(const struct bench *bench, const char *note)
{
    printf("%s: %s\n", verdicts[bench->verified], note);
    fflush(stdout);
}
