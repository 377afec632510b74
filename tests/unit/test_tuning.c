/* Tuning: what is written is read back, an entry that is not right is left out and the others are used, and
 * only what was timed for the same device, driver, key and size is found. */
#include "support/cache_folder.h"

#include "base/cache.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define IN_CACHE(name) TEST_WITH(name, open_cache, end_cache)

static struct tuning tuning;
static char problem[TUNING_PROBLEM_LENGTH];

/* Reads the file, which holds `count` entries, or cannot be used where that is said. */
static void expect(size_t count, const char *said)
{
    tuning_free(&tuning);
    assert_ok(tuning_read(&tuning, problem));
    if (tuning.count != count || (said[0] ? !strstr(problem, said) : problem[0] != '\0'))
        fail_msg("%zu entries, \"%s\"; expected %zu, \"%s\"", tuning.count, problem, count, said);
}

static int end_cache(void **state)
{
    tuning_free(&tuning);
    return close_cache(state);
}

IN_CACHE(what_is_written_is_read_back)
{
    struct tuning_entry entries[2] = {cache_entry(SORT_METHOD_PAPER, 2, 0.1),
                                      cache_entry(SORT_METHOD_TILED, 1, 1.0 / 3)};
    entries[0].choice.config.items_per_group = 128;
    entries[0].choice.config.groups = 65536;
    entries[0].choice.config.histogram_splits = 7;
    entries[0].choice.config.transpose = TRANSPOSE_OFF;
    entries[0].choice.config.table = TABLE_ROWS;
    entries[1].choice.chunks = 528;
    entries[1].choice.tile_items = 64;
    write_entries(entries, 2);
    expect(2, "");
    for (size_t n = 0; n < 2; n++) {
        const struct tuning_entry *found = &tuning.entries[n], *expected = &entries[n];
        assert_memory_equal(&found->key, &expected->key, sizeof found->key);
        assert_memory_equal(&found->choice, &expected->choice, sizeof found->choice);
        assert_memory_equal(&found->milliseconds, &expected->milliseconds, sizeof found->milliseconds);
        assert_string_equal(found->date, expected->date);
    }
}

IN_CACHE(without_a_file_there_is_nothing)
{
    expect(0, "");
    setenv("RADIXPIC_CACHE", "/dev/null", 1); /* no folder either */
    expect(0, "");
}

IN_CACHE(entries_of_the_same_key_are_replaced_and_others_kept)
{
    struct tuning_entry first[2] = {cache_entry(SORT_METHOD_TILED, 1, 1),
                                    cache_entry(SORT_METHOD_PAPER, 2, 2)};
    struct tuning_entry second = cache_entry(SORT_METHOD_CHUNKED, 3, 3);
    second.key.size_class = 23;
    write_entries(first, 2);
    write_entries(&second, 1);
    expect(3, "");
    struct tuning_entry again = cache_entry(SORT_METHOD_CHUNKED, 2, 4);
    write_entries(&again, 1);
    expect(2, "");
    const struct tuning_entry *kept = tuning_find(&tuning, &second.key, SORT_METHOD_AUTO, SORT_AUTO);
    const struct tuning_entry *found = tuning_find(&tuning, &again.key, SORT_METHOD_AUTO, SORT_AUTO);
    assert_near(kept->milliseconds, 3, 0);
    assert_near(found->milliseconds, 4, 0);
}

TEST(the_size_class_is_a_power_of_two)
{
    static const uint32_t cases[][2] = {{0, 0},         {1, 0},          {2, 1},
                                        {3, 1},         {1u << 20, 20},  {(1u << 21) - 1, 20},
                                        {1u << 21, 21}, {UINT32_MAX, 31}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++)
        assert_int_equal(tuning_key_of(&cache_device, 10, cases[n][0]).size_class, cases[n][1]);
}

TEST(only_the_same_device_driver_key_and_size_are_found)
{
    struct tuning_entry entry = cache_entry(SORT_METHOD_TILED, 2, 1);
    tuning = (struct tuning){.entries = &entry, .count = 1};
    assert_ptr_equal(tuning_find(&tuning, &entry.key, SORT_METHOD_AUTO, 2), &entry);
    struct tuning_key others[] = {entry.key, entry.key, entry.key, entry.key, entry.key};
    strcpy(others[0].device, "Another");
    strcpy(others[1].driver, "1.2.4");
    others[2].compute_units++;
    others[3].key_bits++;
    others[4].size_class++;
    for (size_t n = 0; n < sizeof others / sizeof others[0]; n++)
        assert_null(tuning_find(&tuning, &others[n], SORT_METHOD_AUTO, 2));
    tuning = (struct tuning){0};
}

TEST(the_fastest_of_what_is_wanted_is_found)
{
    struct tuning_entry entries[] = {
        cache_entry(SORT_METHOD_PAPER, 2, 5), cache_entry(SORT_METHOD_TILED, 2, 3),
        cache_entry(SORT_METHOD_CHUNKED, 2, 4), cache_entry(SORT_METHOD_PAPER, 1, 2)};
    const struct tuning_key *key = &entries[0].key;
    tuning = (struct tuning){.entries = entries, .count = 4};
    assert_ptr_equal(tuning_find(&tuning, key, SORT_METHOD_AUTO, 2), &entries[1]);
    assert_ptr_equal(tuning_find(&tuning, key, SORT_METHOD_AUTO, SORT_AUTO), &entries[3]);
    assert_ptr_equal(tuning_find(&tuning, key, SORT_METHOD_PAPER, 2), &entries[0]);
    assert_ptr_equal(tuning_find(&tuning, key, SORT_METHOD_CHUNKED, SORT_AUTO), &entries[2]);
    assert_null(tuning_find(&tuning, key, SORT_METHOD_CHUNKED, 1));
    assert_null(tuning_find(&tuning, key, SORT_METHOD_AUTO, 3));
    tuning = (struct tuning){0};
}

static const char entry_line[] =
    "  - {device: d, driver: v, compute_units: 1, key_bits: 10, size_class: 20, method: tiled, passes: 2, "
    "items_per_group: auto, groups: auto, histogram_splits: auto, transpose: auto, table: rows, chunks: 8, "
    "tile_items: auto, milliseconds: 1.5, date: \"2026-11-21\"}\n";

/* The file with `from` replaced by `to`. */
static void write_changed(const char *from, const char *to)
{
    char text[2048], changed[2048];
    snprintf(text, sizeof text, "format: 1\nsorts:\n%s%s", entry_line, entry_line);
    char *at = strstr(text, from);
    assert_non_null(at);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    write_cache_file(changed);
}

IN_CACHE(what_is_not_ours_is_refused)
{
    static const char *const cases[][3] = {
        {"format: 1", "format: 0", "line 1: format"},
        {"format: 1\n", "", "format"},
        {"sorts:", "entries:", "sorts"},
        {"sorts:", "also: 1\nsorts:", "line 1: has 3 keys, of which 2 are known"},
        {"method: tiled", "method: fast", "line 3: method: expected paper, tiled or chunked, found \"fast\""},
        {"method: tiled", "method: auto", "line 3: method"},
        {"table: rows", "table: on", "line 3: table: expected auto, columns or rows, found \"on\""},
        {"table: rows", "tables: rows", "line 3"},
        {"table: rows", "table: [rows]", "line 3: table: is not a single value"},
        {"passes: 2", "passes: 33", "line 3: passes"},
        {"passes: 2", "passes: 2.5", "line 3: passes"},
        {"passes: 2", "passes: [2]", "line 3: passes: is not a single value"},
        {"milliseconds: 1.5", "milliseconds: nan", "line 3: milliseconds"},
        {"milliseconds: 1.5", "milliseconds: -1", "line 3: milliseconds"},
        {"2026-11-21", "2026-11-2", "line 3: date"},
        {", chunks: 8", "", "line 3"},
        {", chunks: 8", ", chunk: 8", "line 3: chunks: is missing"},
        {"chunks: 8", "chunks: 8, more: 1", "line 3"},
        {"driver: v, ", "driver: v, driver: ", "YAML"},
        {"  - {device: d", "  - [device: d", "YAML"},
        {"}\n  - {device: d", "}\n  - {device: [d]", "line 4: device"}, /* the first is right */
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        write_changed(cases[n][0], cases[n][1]);
        const bool is_of_entry = strncmp(cases[n][2], "line ", 5) == 0 && cases[n][2][5] != '1';
        expect(is_of_entry, cases[n][2]);
        assert_non_null(strstr(problem, cache_file));
    }
    write_changed("chunks: 8", "chunks: 9"); /* the text that the cases change is itself right */
    expect(2, "");
}

IN_CACHE(a_newer_file_is_read_and_left)
{
    struct tuning_entry entry = cache_entry(SORT_METHOD_TILED, 2, 1);
    char text[2048];
    snprintf(text, sizeof text, "format: 2\nmore: 1\nsorts:\n%s  - {device: new}\n%s", entry_line,
             entry_line);
    write_cache_file(text);
    expect(2, "line 5: driver: is missing");
    assert_fails(tuning_write(&(struct tuning){.entries = &entry, .count = 1}), "newer radixpic");
    assert_fails(tuning_check_writable(), cache_file);
    expect(2, "line 5");
    write_cache_file("format: 2\nlists: []\n");
    expect(0, "the list sorts");
    assert_fails(tuning_write(&(struct tuning){.entries = &entry, .count = 1}), "newer radixpic");
}

/* A link to itself fails to open (ELOOP), and the first page of the memory to be read (EIO). */
IN_CACHE(a_file_that_cannot_be_read_is_left)
{
    struct tuning_entry entry = cache_entry(SORT_METHOD_TILED, 2, 1);
    const char *const targets[] = {cache_file, "/proc/self/mem"};
    for (size_t n = 0; n < sizeof targets / sizeof targets[0]; n++) {
        assert_int_equal(symlink(targets[n], cache_file), 0);
        expect(0, strerror(n == 0 ? ELOOP : EIO));
        assert_fails(tuning_check_writable(), "it is left as it is");
        assert_fails(tuning_write(&(struct tuning){.entries = &entry, .count = 1}), "it is left as it is");
        expect(0, strerror(n == 0 ? ELOOP : EIO));
        assert_int_equal(unlink(cache_file), 0);
    }
}

/* Two programs that write at the same time, each for sizes of its own. */
IN_CACHE(no_entry_of_two_writers_is_lost)
{
    enum { EACH = 12 };
    const pid_t other = fork();
    for (uint32_t n = 0; n < EACH; n++) {
        struct tuning_entry entry = cache_entry(SORT_METHOD_TILED, 2, 1);
        entry.key.size_class = n + (other == 0 ? EACH : 0);
        write_entries(&entry, 1);
    }
    if (other == 0)
        _exit(0);
    int status = 0;
    assert_int_equal(waitpid(other, &status, 0), other);
    expect(2 * EACH, "");
}

/* Files from before the key `table` was are still good: what they timed was a table of columns. */
IN_CACHE(an_entry_without_a_table_is_one_of_columns)
{
    write_changed("table: rows, ", "");
    expect(2, "");
    assert_int_equal(tuning.entries[0].choice.config.table, TABLE_COLUMNS);
    assert_int_equal(tuning.entries[1].choice.config.table, TABLE_ROWS);
}

IN_CACHE(other_files_are_refused)
{
    static const char *const texts[] = {"", "\x01\x02", "[1, 2]", "format: 1\n", "{", "\xff\xfe\n"};
    for (size_t n = 0; n < sizeof texts / sizeof texts[0]; n++) {
        write_cache_file(texts[n]);
        expect(0, "cannot be used");
    }
    /* What cannot be used is replaced by what can. */
    struct tuning_entry entry = cache_entry(SORT_METHOD_TILED, 2, 1);
    write_entries(&entry, 1);
    expect(1, "");
}

static void assert_path(const char *expected)
{
    char path[PATH_MAX];
    cache_path(TUNING_FILE, path, sizeof path);
    assert_string_equal(path, expected);
}

IN_CACHE(the_folder_comes_from_the_environment)
{
    setenv("XDG_CACHE_HOME", "/xdg", 1);
    setenv("HOME", "/home/me", 1);
    assert_path(cache_file);
    setenv("RADIXPIC_CACHE", "", 1);
    assert_path("/xdg/radixpic/tuning.yaml");
    unsetenv("XDG_CACHE_HOME");
    assert_path("/home/me/.cache/radixpic/tuning.yaml");
    unsetenv("HOME");
    assert_path("");
    expect(0, "");
    struct tuning_entry entry = cache_entry(SORT_METHOD_TILED, 2, 1);
    assert_fails(tuning_write(&(struct tuning){.entries = &entry, .count = 1}), "RADIXPIC_CACHE");
    assert_int_equal(tuning_check_writable(), STATUS_FAILED);
}

IN_CACHE(folders_are_made_and_a_failure_names_the_path)
{
    char deeper[128], file[160];
    struct tuning_entry entry = cache_entry(SORT_METHOD_TILED, 2, 1);
    snprintf(deeper, sizeof deeper, "%s/a", cache_folder);
    snprintf(file, sizeof file, "%s/a/tuning.yaml", cache_folder);
    setenv("RADIXPIC_CACHE", deeper, 1);
    write_entries(&entry, 1);
    assert_int_equal(access(file, R_OK), 0);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(deeper), 0); /* and no other file was left there */
    setenv("RADIXPIC_CACHE", "/dev/null", 1);
    assert_fails(tuning_write(&(struct tuning){.entries = &entry, .count = 1}), "/dev/null/tuning.yaml: ");
}

IN_CACHE(whether_it_can_be_written_is_known_before)
{
    assert_ok(tuning_check_writable());
    assert_int_equal(access(cache_file, F_OK), -1); /* and close_cache() finds nothing else there */
    write_cache_file("not ours\n");
    assert_ok(tuning_check_writable());
    expect(0, "cannot be used"); /* it was left as it was */
    assert_int_equal(unlink(cache_file), 0);
    assert_int_equal(mkdir(cache_file, 0700), 0);
    assert_fails(tuning_check_writable(), cache_file);
    assert_int_equal(rmdir(cache_file), 0);
    setenv("RADIXPIC_CACHE", "/dev/null", 1);
    assert_fails(tuning_check_writable(), "/dev/null/tuning.yaml: ");
}

TEST_MAIN(NULL, NULL)
