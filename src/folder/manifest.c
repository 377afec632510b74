/* Manifest: YAML, read as a tree of nodes, whose last line is a digest of those before, so that what is read
 * was written here. */
#include "folder/manifest.h"

#include "base/below.h"
#include "base/regular.h"
#include "base/replace.h"
#include "config/yaml_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 3, MOST_BYTES = 1 << 22 };

static const char *const state_names[] = {"none", "starting", "restarting", "running", "complete"};
static const char digest_form[] = "digest: %016" PRIx64 "\n";

/* ---- writing ---- */

static void print(const struct manifest *manifest, FILE *stream)
{
    fprintf(stream, "# What the run in this folder is; do not edit.\nversion: %d\nrun: %016" PRIx64 "\n",
            VERSION, manifest->run);
    fprintf(stream, "from: {run: %016" PRIx64 ", step: %" PRIu64 "}\n", manifest->from_run,
            manifest->from_step);
    fprintf(stream, "state: %s\nstep: %" PRIu64 "\n", state_names[manifest->state], manifest->complete_step);
    fprintf(stream, "checkpoints: # with the bytes and digests of CSV files then\n");
    for (uint32_t n = 0; n < manifest->checkpoint_count; n++) {
        const struct manifest_checkpoint *checkpoint = &manifest->checkpoints[n];
        fprintf(stream, "  - {step: %" PRIu64 ", run: %016" PRIx64, checkpoint->step, checkpoint->run);
        for (uint32_t file = 0; file < MANIFEST_APPENDED; file++)
            if (checkpoint->appended[file].bytes > 0)
                fprintf(stream, ", %s: [%" PRIu64 ", %016" PRIx64 "]", manifest->appended[file],
                        checkpoint->appended[file].bytes, checkpoint->appended[file].digest);
        fprintf(stream, "}\n");
    }
}

enum status manifest_write(int folder, const char *path, const struct manifest *manifest)
{
    struct replacement replacement;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (stream)
        print(manifest, stream);
    if (!stream || fclose(stream) != 0)
        return status_fail(STATUS_FAILED, "no memory to write %s/%s", path, MANIFEST_NAME);
    enum status status = replace_begin(folder, path, MANIFEST_NAME, &replacement);
    if (status == STATUS_OK) {
        fwrite(text, 1, length, replacement.file);
        fprintf(replacement.file, digest_form, XXH3_64bits(text, length));
        status = replace_end(&replacement, STATUS_OK);
    }
    free(text);
    return status;
}

/* ---- reading ---- */

/* The number in a node; 0 without one. */
static uint64_t number(const struct tree_node *node, int base)
{
    return node && node->kind == TREE_SCALAR ? strtoull(node->text, NULL, base) : 0;
}

static bool read_checkpoint(const struct tree_node *node, struct manifest *manifest)
{
    if (manifest->checkpoint_count == MANIFEST_CHECKPOINTS)
        return false;
    struct manifest_checkpoint *checkpoint = &manifest->checkpoints[manifest->checkpoint_count++];
    checkpoint->step = number(tree_value(node, "step"), 10);
    checkpoint->run = number(tree_value(node, "run"), 16);
    for (const struct tree_node *child = node->first_child; child; child = child->next)
        if (child->kind == TREE_SEQUENCE) {
            const uint32_t file = manifest_appended(manifest, child->key->text, true);
            if (file == MANIFEST_APPENDED)
                return false;
            const struct tree_node *bytes = child->first_child, *digest = bytes ? bytes->next : NULL;
            checkpoint->appended[file] = (struct append_mark){number(bytes, 10), number(digest, 16)};
        }
    return true;
}

static bool read_tree(const struct tree_node *root, struct manifest *manifest)
{
    const struct tree_node *from = tree_value(root, "from"), *list = tree_value(root, "checkpoints");
    for (size_t n = MANIFEST_STARTING; n <= MANIFEST_COMPLETE; n++)
        if (tree_is_text(tree_value(root, "state"), state_names[n]))
            manifest->state = (enum manifest_state)n;
    manifest->run = number(tree_value(root, "run"), 16);
    manifest->from_run = number(tree_value(from, "run"), 16);
    manifest->from_step = number(tree_value(from, "step"), 10);
    manifest->complete_step = number(tree_value(root, "step"), 10);
    manifest_appended(manifest, "history.csv", true);
    bool fits = number(tree_value(root, "version"), 10) == VERSION && manifest->state != MANIFEST_NONE;
    for (const struct tree_node *item = list ? list->first_child : NULL; item && fits; item = item->next)
        fits = read_checkpoint(item, manifest);
    return fits;
}

enum status manifest_refuse(const char *path, const char *why)
{
    return status_fail(STATUS_FAILED,
                       "%s %s, so it is not known which files belong to the run; go on from one of its "
                       "checkpoints by --restart FILE --output OTHER",
                       path, why);
}

static enum status read_text(const char *path, const char *text, size_t length, struct manifest *manifest)
{
    struct tree tree = {0};
    struct tree_problem problem;
    const char *why = "is damaged";
    char line[64];
    /* The last line is the digest of the text before it. */
    const size_t last = (size_t)snprintf(line, sizeof line, digest_form, UINT64_C(0));
    const size_t rest = length < last ? 0 : length - last;
    snprintf(line, sizeof line, digest_form, XXH3_64bits(text, rest));
    bool is_read = length >= last && memcmp(text + rest, line, last) == 0;
    if (is_read) {
        const enum status parsed = tree_parse(&tree, text, length, TREE_FROM_FILE, &tree.root, &problem);
        is_read = parsed == STATUS_OK && read_tree(tree.root, manifest);
        tree_free(&tree);
        why = "is of another version of the program";
    }
    return is_read ? STATUS_OK : manifest_refuse(path, why);
}

enum status manifest_read(const char *folder, struct manifest *manifest)
{
    char path[PATH_MAX + sizeof MANIFEST_NAME];
    *manifest = (struct manifest){0};
    snprintf(path, sizeof path, "%s/%s", folder, MANIFEST_NAME);
    const char *why = "";
    size_t length = 0;
    char *text = regular_read(path, MOST_BYTES, &length, &why);
    if (!text && (errno == ENOENT || errno == ENOTDIR))
        return STATUS_OK;
    const enum status status = text ? read_text(path, text, length, manifest)
                                    : status_fail(STATUS_FAILED, "cannot read %s: %s", path, why);
    free(text);
    return status;
}

/* ---- content ---- */

const struct manifest_checkpoint *manifest_find(const struct manifest *manifest, uint64_t step)
{
    for (uint32_t n = 0; n < manifest->checkpoint_count; n++)
        if (manifest->checkpoints[n].step == step)
            return &manifest->checkpoints[n];
    return NULL;
}

uint32_t manifest_appended(struct manifest *manifest, const char *name, bool add)
{
    uint32_t number = 0, unused = 0;
    while (number < MANIFEST_APPENDED && strcmp(manifest->appended[number], name) != 0)
        number++;
    while (unused < MANIFEST_APPENDED && manifest->appended[unused][0] != '\0')
        unused++;
    if (number < MANIFEST_APPENDED || !add || unused == MANIFEST_APPENDED)
        return number;
    snprintf(manifest->appended[unused], MANIFEST_NAME_LENGTH, "%s", name);
    return unused;
}

void manifest_drop(struct manifest *manifest, uint32_t count)
{
    manifest->checkpoint_count -= count;
    memmove(manifest->checkpoints, manifest->checkpoints + count,
            manifest->checkpoint_count * sizeof *manifest->checkpoints);
}

void manifest_add(struct manifest *manifest, const struct manifest_checkpoint *checkpoint)
{
    while (manifest->checkpoint_count > 0 &&
           manifest->checkpoints[manifest->checkpoint_count - 1].step >= checkpoint->step)
        manifest->checkpoint_count--;
    if (manifest->checkpoint_count == MANIFEST_CHECKPOINTS)
        manifest_drop(manifest, 1);
    manifest->checkpoints[manifest->checkpoint_count++] = *checkpoint;
}

void manifest_cut(struct manifest *manifest, uint64_t step)
{
    while (manifest->checkpoint_count > 0 &&
           manifest->checkpoints[manifest->checkpoint_count - 1].step > step)
        manifest->checkpoint_count--;
    const struct manifest_checkpoint *newest = manifest->checkpoints + manifest->checkpoint_count;
    for (uint32_t n = 1; n < MANIFEST_APPENDED; n++)
        if (manifest->checkpoint_count == 0 || newest[-1].appended[n].bytes == 0)
            manifest->appended[n][0] = '\0';
}
