/* Checkpoint folder: a folder for checkpoints of a scene, and what is expected of a file. */
#ifndef RADIXPIC_TEST_CHECKPOINT_FOLDER_H
#define RADIXPIC_TEST_CHECKPOINT_FOLDER_H

#include "support/checkpoint_scene.h"
#include "support/test_folder.h"

static const struct communicator alone = {.size = 1, .local_size = 1};
static const struct scene_kind plain = {.precision = PRECISION_DOUBLE, .ids = true, .cluster = 1};

/* A folder, and the plain scene for checkpoints in it. */
static inline struct folder folder_begin(struct scene *scene)
{
    scene_create(&alone, &plain, NULL, scene);
    return folder_make();
}

static inline void folder_end(struct scene *scene, const struct folder *folder)
{
    scene_destroy(scene);
    folder_remove(folder);
}

/* The file at `path`, or the newest of that folder, holds a scene of one rank. */
static inline void check_all(const struct scene *scene, const char *path, uint64_t step)
{
    struct checkpoint *checkpoint;
    assert_ok(checkpoint_open(&alone, path, &checkpoint));
    assert_null(checkpoint->warnings);
    scene_check_frame(scene, checkpoint, step);
    scene_check_rows(&scene->kind, checkpoint, 0, SCENE_NX);
    checkpoint_close(&checkpoint);
    assert_null(checkpoint);
}

#endif
