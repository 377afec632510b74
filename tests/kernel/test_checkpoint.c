/* Checkpoint on one rank: which one is taken, and no refusal costs an older one.
 * tests/mpi/test_checkpoint_ranks.c shows that what is written is read back, test_run_folder.c which ones
 * stay, tests/faults/ what a full disk does. */
#include "support/output_scene.h"

/* ---- which one is taken ---- */

static void check_newest(const char *name, const char *warning)
{
    struct checkpoint *checkpoint;
    assert_ok(checkpoint_find(&alone, folder.path, &checkpoint));
    assert_string_equal(checkpoint->path, folder_file(&folder, name));
    assert_non_null(strstr(checkpoint->warnings, warning));
    checkpoint_close(&checkpoint);
}

TEST_IN_FOLDER(newest_whole_one_is_opened)
{
    struct checkpoint *checkpoint;
    assert_refuses(checkpoint_find(&alone, folder.path, &checkpoint), folder.path, "no checkpoint");
    assert_refuses(checkpoint_find(&alone, "/dev/null", &checkpoint), "/dev/null is no checkpoint");
    /* 9 and 100: not by the alphabet. */
    const unsigned steps[] = {9, 100, 101};
    for (unsigned n = 0; n < 3; n++)
        assert_ok(scene_write(&plain_scene, folder.path, steps[n]));
    assert_int_equal(truncate(folder_file(&folder, "checkpoint_101.h5"), 600), 0);
    check_newest("checkpoint_100.h5", "checkpoint_101.h5");
    assert_int_equal(truncate(folder_file(&folder, "checkpoint_100.h5"), 5000), 0);
    check_newest("checkpoint_9.h5", "checkpoint_100.h5");
    check_newest("checkpoint_9.h5", "\nwarning: ");
    assert_int_equal(truncate(folder_file(&folder, "checkpoint_9.h5"), 0), 0);
    assert_fails(checkpoint_find(&alone, folder.path, &checkpoint), "no whole checkpoint", "checkpoint_9.h5");
}

/* ---- other configs ---- */

/* A line for each of the words, and one more. */
static void check_lines(const struct checkpoint *checkpoint, const struct config *config,
                        const char *const *words)
{
    unsigned expected = 0, lines = 0;
    assert_message(checkpoint_require_same(checkpoint->path, &checkpoint->config, config), STATUS_USAGE,
                   words);
    while (words[expected])
        expected++;
    for (const char *c = status_message(); *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, expected);
}
#define assert_lines(...) check_lines(checkpoint, &config, (const char *const[]){__VA_ARGS__, NULL})

TEST_IN_FOLDER(other_configs_are_refused)
{
    struct checkpoint *checkpoint;
    assert_ok(scene_write(&plain_scene, folder.path, 1));
    assert_ok(checkpoint_find(&alone, folder.path, &checkpoint));
    struct species_config species[SCENE_SPECIES];
    struct config config = plain_scene.config;
    config.grid.cells[0] = 32;
    config.time.step = 0.2;
    config.precision = PRECISION_SINGLE;
    assert_lines("grid.cells: the checkpoint has [13, 5], the config [32, 5]\n",
                 "time.step: the checkpoint has 0.1, the config 0.2\n",
                 "precision: the checkpoint has double, the config single\n");
    config = plain_scene.config;
    config.step.rounding = ROUNDING_NEAREST;
    assert_lines("step.rounding: the checkpoint has dithered, the config nearest\n");

    config = plain_scene.config;
    memcpy(species, config.species, sizeof species);
    config.species = species;
    config.species[1].mass = 1;
    assert_lines("species.ions.mass: the checkpoint has 1836, the config 1\n");
    config.species[1].ids = false;
    config.species[1].perturb.density.count = 1;
    config.species[1].perturb.density.items[0] = (struct perturbation){AXIS_Y, 2, 0.5};
    assert_lines("species.ions.mass: ", "species.ions.ids: ",
                 "species.ions.perturb.density: the checkpoint has 0 of them, the config 1\n");
    strcpy(config.species[1].name, "protons");
    assert_lines("species.1.name: the checkpoint has ions, the config protons\n",
                 "species.1.mass: ", "species.1.ids: ", "species.1.perturb.density: ");

    config = plain_scene.config;
    config.species_count = 1;
    assert_lines("species: the checkpoint has 2 of them, the config 1\n");

    /* What may differ. */
    config = plain_scene.config;
    assert_ok(checkpoint_require_same(checkpoint->path, &checkpoint->config, &config));
    strcpy(config.title, "another");
    config.time.steps = 5000;
    config.time.check_every = 3;
    strcpy(config.device, "cpu");
    config.sort = (struct sort_config){.method = SORT_METHOD_PAPER, .passes = 1, .transpose = TRANSPOSE_ON};
    config.step.method = STEP_RADIX;
    config.parallel = (struct parallel_config){5, 2, 7};
    config.fields.transforms = TRANSFORMS_FFTW;
    config.fields.decomposition = DECOMPOSITION_SLABS;
    config.output = (struct output_config){.directory = "elsewhere",
                                           .history = {.every = 2, .mode_count = 1, .modes = {{1, 0}}},
                                           .snapshots = {.every = 1, .mesh_stride = {1, 1}, .compression = 9},
                                           .checkpoints = {.every = 3, .minutes = 0.5, .keep = 7}};
    assert_ok(checkpoint_require_same(checkpoint->path, &checkpoint->config, &config));
    checkpoint_close(&checkpoint);
}

/* ---- failures ---- */

TEST_IN_FOLDER(lists_that_are_not_whole_or_not_sorted_are_refused)
{
    plain_scene.config.species[0].particles++;
    assert_fails(scene_write(&plain_scene, folder.path, 7), "species electrons, step 7",
                 "particles are there");
    plain_scene.config.species[0].particles--;
    const uint32_t too_many = plain_scene.lists[0].count + 1;
    assert_ok(
        buffer_write(plain_scene.lists[0].cell_offsets, 8 * sizeof too_many, sizeof too_many, &too_many));
    assert_fails(scene_write(&plain_scene, folder.path, 1), "species electrons, step 1", "cells do not hold");
    assert_holds(&folder, "");
}

/* Puts a number into the middle particle of the ions. */
static void spoil(const struct scene *scene, bool offset, double value, char cell[32])
{
    const struct particles *particles = &scene->lists[1];
    const uint32_t middle = particles->count / 2;
    list_write_one(particles, offset ? ATTRIBUTE_OFFSET : ATTRIBUTE_VELOCITY, middle, 1, value);
    uint32_t before = 0, number = 0;
    while (before + scene_count(&scene->kind, 1, number) <= middle)
        before += scene_count(&scene->kind, 1, number++);
    snprintf(cell, 32, "cell (%u, %u)", number / SCENE_NY, number % SCENE_NY);
}

TEST_IN_FOLDER(what_is_no_number_is_refused)
{
    for (unsigned n = 0; n < 16; n++) {
        static const double values[] = {NAN, INFINITY, -INFINITY, 1};
        const bool offset = n & 4, is_good = n % 4 == 3 && !offset; /* a velocity of 1 is as good as any */
        const struct scene_kind kind = {n & 8 ? PRECISION_DOUBLE : PRECISION_SINGLE, true, n & 1, 1, {0}};
        struct scene scene;
        char cell[32];
        scene_create(&alone, &kind, NULL, &scene);
        assert_ok(scene_write(&scene, folder.path, 10));
        spoil(&scene, offset, values[n % 4], cell);
        if (is_good)
            assert_ok(scene_write(&scene, folder.path, 20));
        else
            assert_fails(scene_write(&scene, folder.path, 20), "species ions", "step 20", cell,
                         offset ? "offset[1]" : "velocity[1]");
        assert_holds(&folder, is_good ? "checkpoint_10.h5 checkpoint_20.h5" : "checkpoint_10.h5");
        scene_destroy(&scene);
        scene_create(&alone, &kind, NULL, &scene);
        check_all(&scene, folder_file(&folder, "checkpoint_10.h5"), 10);
        unlink(folder_file(&folder, "checkpoint_20.h5"));
        scene_destroy(&scene);
    }
}

TEST_MAIN(open_device, close_device)
