/* Tuning: what is written is read back, an entry that is not right is left out and the others are used, and
 * only what was timed for the same device, driver and key is found, at the nearest length. */
#include "support/cache_folder.h"

#include "base/cache.h"

#include <errno.h>
#include <limits.h>
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

static void assert_same(const struct tuning_entry *found, const struct tuning_entry *expected)
{
    assert_string_equal(found->device, expected->device);
    assert_string_equal(found->driver, expected->driver);
    assert_string_equal(found->date, expected->date);
    assert_int_equal(found->compute_units, expected->compute_units);
    assert_int_equal(found->length, expected->length);
    assert_memory_equal(&found->sort, &expected->sort, sizeof found->sort);
}

IN_CACHE(what_is_written_is_read_back)
{
    struct tuning_entry entries[2] = {cache_entry(SORT_METHOD_PAPER, 2), cache_entry(SORT_METHOD_TILED, 1)};
    entries[0].sort.items_per_group = 128;
    entries[0].sort.groups = 65536;
    entries[0].sort.histogram_splits = 7;
    entries[0].sort.transpose = TRANSPOSE_OFF;
    entries[0].sort.table = TABLE_ROWS;
    write_entries(entries, 2);
    expect(2, "");
    for (size_t n = 0; n < 2; n++)
        assert_same(&tuning.entries[n], &entries[n]);
}

IN_CACHE(without_a_file_there_is_nothing)
{
    expect(0, "");
    setenv("RADIXPIC_CACHE", "/dev/null", 1); /* no folder either */
    expect(0, "");
}

IN_CACHE(entries_of_the_same_length_are_replaced_and_others_kept)
{
    struct tuning_entry first[2] = {cache_entry(SORT_METHOD_TILED, 1), cache_entry(SORT_METHOD_PAPER, 2)};
    struct tuning_entry longer = cache_entry(SORT_METHOD_CHUNKED, 3),
                        other = cache_entry(SORT_METHOD_TILED, 2);
    longer.length = 1u << 23;
    other.sort.key_bits = 11;
    write_entries(first, 2);
    write_entries(&longer, 1);
    write_entries(&other, 1);
    expect(4, "");
    struct tuning_entry again = cache_entry(SORT_METHOD_CHUNKED, 2);
    write_entries(&again, 1);
    expect(3, "");
    assert_same(&tuning.entries[0], &longer);
    assert_same(&tuning.entries[1], &other);
    assert_same(&tuning.entries[2], &again);
}

static const struct tuning_entry *find(enum sort_method method, uint32_t passes, uint32_t length)
{
    struct tuning_entry wanted = cache_entry(method, passes);
    wanted.length = length;
    return tuning_find(&tuning, &wanted);
}

TEST(only_the_same_device_driver_and_key_are_found)
{
    struct tuning_entry entry = cache_entry(SORT_METHOD_TILED, 2);
    struct tuning_entry others[] = {entry, entry, entry, entry};
    tuning = (struct tuning){.entries = &entry, .count = 1};
    assert_ptr_equal(tuning_find(&tuning, &entry), &entry);
    strcpy(others[0].device, "Another");
    strcpy(others[1].driver, "1.2.4");
    others[2].compute_units++;
    others[3].sort.key_bits++;
    for (size_t n = 0; n < sizeof others / sizeof others[0]; n++)
        assert_null(tuning_find(&tuning, &others[n]));
    tuning = (struct tuning){0};
}

TEST(the_nearest_length_and_there_the_first_that_is_wanted_is_found)
{
    struct tuning_entry entries[] = {cache_entry(SORT_METHOD_TILED, 1), cache_entry(SORT_METHOD_TILED, 2),
                                     cache_entry(SORT_METHOD_PAPER, 2), cache_entry(SORT_METHOD_PAPER, 2)};
    entries[3].length = 1u << 24;
    tuning = (struct tuning){.entries = entries, .count = 4};
    assert_ptr_equal(find(SORT_METHOD_AUTO, SORT_AUTO, 1u << 20), &entries[0]);
    assert_ptr_equal(find(SORT_METHOD_AUTO, 2, 1u << 20), &entries[1]);
    assert_ptr_equal(find(SORT_METHOD_PAPER, SORT_AUTO, 1), &entries[2]);
    assert_ptr_equal(find(SORT_METHOD_AUTO, 2, (1u << 22) - 1), &entries[1]);
    assert_ptr_equal(find(SORT_METHOD_AUTO, 2, (1u << 22) + 1), &entries[3]);
    assert_null(find(SORT_METHOD_PAPER, 1, 1u << 20));
    assert_null(find(SORT_METHOD_CHUNKED, SORT_AUTO, 1u << 20));
    tuning = (struct tuning){0};
}

static const char entry_line[] =
    "  - {device: d, driver: v, compute_units: 1, length: 1048576, date: \"2026-11-21\",\n"
    "     sort: {method: tiled, passes: 2, key_bits: 10, table: rows}}\n";

/* The file with `from` replaced by `to`. */
static void write_changed(const char *from, const char *to)
{
    char text[2048], changed[2048];
    snprintf(text, sizeof text, "format: 2\nsorts:\n%s%s", entry_line, entry_line);
    char *at = strstr(text, from);
    assert_non_null(at);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    write_text(cache.file, changed);
}

IN_CACHE(what_is_not_ours_is_refused)
{
    static const char *const cases[][3] = {
        {"format: 2", "format: 1", "line 1: format"},
        {"format: 2\n", "", "format"},
        {"sorts:", "entries:", "sorts"},
        {"method: tiled", "method: fast",
         "line 4: method: expected auto, paper, tiled or chunked, found \"fast\""},
        {"method: tiled", "method: auto", "line 3: sort: needs a method"},
        {"key_bits: 10, ", "", "line 3: sort: needs a method"},
        {"table: rows", "table: on", "line 4: table: expected auto, columns or rows, found \"on\""},
        {"table: rows", "table: [rows]", "line 4: table: is not a single value"},
        {"passes: 2", "passes: 33", "line 4: passes"},
        {"passes: 2", "passes: 2.5", "line 4: passes"},
        {"length: 1048576", "length: 0", "line 3: length"},
        {"2026-11-21", "2026-11-2", "line 3: date"},
        {", length: 1048576", "", "line 3: length: is missing"},
        {"driver: v, ", "driver: v, driver: ", "YAML"},
        {"  - {device: d", "  - [device: d", "YAML"},
        {"}\n  - {device: d", "}\n  - {device: [d]", "line 5: device"}, /* the first is right */
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        write_changed(cases[n][0], cases[n][1]);
        const bool is_of_entry = strncmp(cases[n][2], "line ", 5) == 0 && cases[n][2][5] != '1';
        expect(is_of_entry, cases[n][2]);
        assert_non_null(strstr(problem, cache.file));
    }
    write_changed("passes: 2", "passes: 1"); /* the text that the cases change is itself right */
    expect(2, "");
}

IN_CACHE(a_newer_file_is_read_and_left)
{
    struct tuning_entry entry = cache_entry(SORT_METHOD_TILED, 2);
    char text[2048];
    snprintf(text, sizeof text, "format: 3\nmore: 1\nsorts:\n%s  - {device: new}\n%s", entry_line,
             entry_line);
    write_text(cache.file, text);
    expect(2, "line 6: driver: is missing");
    assert_fails(tuning_write(&(struct tuning){.entries = &entry, .count = 1}, problem), "newer radixpic");
    assert_fails(tuning_write(NULL, problem), cache.file);
    expect(2, "line 6");
    write_text(cache.file, "format: 3\nlists: []\n");
    expect(0, "the list sorts");
    assert_fails(tuning_write(&(struct tuning){.entries = &entry, .count = 1}, problem), "newer radixpic");
}

/* A link to itself fails to open (ELOOP), and the first page of the memory to be read (EIO). */
IN_CACHE(a_file_that_cannot_be_read_is_left)
{
    struct tuning_entry entry = cache_entry(SORT_METHOD_TILED, 2);
    const char *const targets[] = {cache.file, "/proc/self/mem"};
    for (size_t n = 0; n < sizeof targets / sizeof targets[0]; n++) {
        assert_int_equal(symlink(targets[n], cache.file), 0);
        expect(0, strerror(n == 0 ? ELOOP : EIO));
        assert_fails(tuning_write(NULL, problem), "it is left as it is");
        assert_fails(tuning_write(&(struct tuning){.entries = &entry, .count = 1}, problem),
                     "it is left as it is");
        expect(0, strerror(n == 0 ? ELOOP : EIO));
        assert_int_equal(unlink(cache.file), 0);
    }
}

/* Two programs that write at the same time, each for sizes of its own. */
IN_CACHE(no_entry_of_two_writers_is_lost)
{
    enum { EACH = 12 };
    const pid_t other = fork();
    for (uint32_t n = 0; n < EACH; n++) {
        struct tuning_entry entry = cache_entry(SORT_METHOD_TILED, 2);
        entry.length = 1 + n + (other == 0 ? EACH : 0);
        write_entries(&entry, 1);
    }
    if (other == 0)
        _exit(0);
    int status = 0;
    assert_int_equal(waitpid(other, &status, 0), other);
    expect(2 * EACH, "");
}

IN_CACHE(other_files_are_refused)
{
    static const char *const texts[] = {"", "\x01\x02", "[1, 2]", "format: 2\n", "{", "\xff\xfe\n"};
    for (size_t n = 0; n < sizeof texts / sizeof texts[0]; n++) {
        write_text(cache.file, texts[n]);
        expect(0, "cannot be used");
    }
    /* What cannot be used is replaced by what can. */
    struct tuning_entry entry = cache_entry(SORT_METHOD_TILED, 2);
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
    assert_path(cache.file);
    setenv("RADIXPIC_CACHE", "", 1);
    assert_path("/xdg/radixpic/tuning.yaml");
    unsetenv("XDG_CACHE_HOME");
    assert_path("/home/me/.cache/radixpic/tuning.yaml");
    unsetenv("HOME");
    assert_path("");
    expect(0, "");
    struct tuning_entry entry = cache_entry(SORT_METHOD_TILED, 2);
    assert_fails(tuning_write(&(struct tuning){.entries = &entry, .count = 1}, problem), "RADIXPIC_CACHE");
    assert_int_equal(tuning_write(NULL, problem), STATUS_FAILED);
}

IN_CACHE(folders_are_made_and_a_failure_names_the_path)
{
    struct folder deeper;
    struct tuning_entry entry = cache_entry(SORT_METHOD_TILED, 2);
    snprintf(deeper.path, sizeof deeper.path, "%.50s/a", cache.path);
    setenv("RADIXPIC_CACHE", deeper.path, 1);
    write_entries(&entry, 1);
    assert_holds(&deeper, "tuning.yaml");
    folder_file(&deeper, "tuning.yaml");
    assert_int_equal(folder_remove_with_file(&deeper), 0);
    setenv("RADIXPIC_CACHE", "/dev/null", 1);
    assert_fails(tuning_write(&(struct tuning){.entries = &entry, .count = 1}, problem),
                 "/dev/null/tuning.yaml: ");
}

IN_CACHE(whether_it_can_be_written_is_known_before)
{
    assert_ok(tuning_write(NULL, problem));
    assert_int_equal(access(cache.file, F_OK), -1); /* and close_cache() finds nothing else there */
    write_text(cache.file, "not ours\n");
    assert_ok(tuning_write(NULL, problem));
    expect(0, "cannot be used"); /* it was left as it was */
    assert_int_equal(unlink(cache.file), 0);
    assert_int_equal(mkdir(cache.file, 0700), 0);
    assert_fails(tuning_write(NULL, problem), cache.file);
    assert_int_equal(rmdir(cache.file), 0);
    setenv("RADIXPIC_CACHE", "/dev/null", 1);
    assert_fails(tuning_write(NULL, problem), "/dev/null/tuning.yaml: ");
}

TEST_MAIN(NULL, NULL)
