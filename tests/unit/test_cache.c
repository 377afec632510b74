/* Cache: where the user's folder is, and that it is created for its owner alone. */
#include "support/test_folder.h"

#include "base/cache.h"

#include <sys/stat.h>

static void assert_path(const char *expected)
{
    char path[PATH_MAX];
    cache_path("file", path, sizeof path);
    assert_string_equal(path, expected);
}

TEST(the_folder_comes_from_the_environment)
{
    char path[8];
    setenv("RADIXPIC_CACHE", "/cache", 1);
    setenv("XDG_CACHE_HOME", "/xdg", 1);
    setenv("HOME", "/home/me", 1);
    assert_path("/cache/file");
    cache_path("file", path, sizeof path); /* which has no room for it */
    assert_string_equal(path, "");
    setenv("RADIXPIC_CACHE", "", 1);
    assert_path("/xdg/radixpic/file");
    unsetenv("XDG_CACHE_HOME");
    assert_path("/home/me/.cache/radixpic/file");
    unsetenv("HOME");
    assert_path("");
}

TEST(folders_are_created_for_their_owner)
{
    struct folder folder = folder_make();
    struct stat found;
    char above[128];
    snprintf(above, sizeof above, "%s/a/b", folder.path);
    cache_create_folders(folder_file(&folder, "a/b/file"));
    assert_int_equal(stat(above, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0700);
    assert_int_equal(access(folder.file, F_OK), -1);
    folder_remove(&folder);
}

TEST_MAIN(NULL, NULL)
