/* Manifest: lines of YAML in a fixed order, the last of which is a digest of those before. */
#include "output/manifest.h"

#include "base/regular.h"
#include "base/replace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

enum { OLDEST_VERSION = 1 /* without probes */, VERSION = 2, MOST_BYTES = 1 << 22 };

static const char *const state_names[] = {"none", "starting", "running", "complete"};

/* The same for writing and reading. */
#define HEAD_FORM "# What in this folder belongs to the run; do not edit.\nversion: %d\n"
static const char digest_form[] = "digest: %016" PRIx64 "\n";

/* ---- writing ---- */

static void print(const struct manifest *manifest, FILE *stream)
{
    fprintf(stream, HEAD_FORM, VERSION);
    fprintf(stream, "run: %016" PRIx64 "\n", manifest->run);
    fprintf(stream, "from: {run: %016" PRIx64 ", step: %" PRIu64 "}\n", manifest->from_run,
            manifest->from_step);
    fprintf(stream, "state: %s %" PRIu64 "\n", state_names[manifest->state], manifest->complete_step);
    fprintf(stream, "outputs: # up to which step\n");
    for (uint32_t n = 0; n < manifest->output_count; n++)
        fprintf(stream, "  %s: %" PRIu64 "\n", manifest->outputs[n].name, manifest->outputs[n].last);
    fprintf(stream, "checkpoints: # with what history.csv was, and probes\n");
    for (uint32_t n = 0; n < manifest->checkpoint_count; n++) {
        const struct manifest_checkpoint *checkpoint = &manifest->checkpoints[n];
        fprintf(
            stream, "  - {step: %" PRIu64 ", run: %016" PRIx64 ", bytes: %" PRIu64 ", digest: %016" PRIx64,
            checkpoint->step, checkpoint->run, checkpoint->growing[0].bytes, checkpoint->growing[0].digest);
        for (uint32_t file = 1; file < MANIFEST_GROWING; file++)
            if (checkpoint->growing[file].bytes > 0)
                fprintf(stream, ", %s: [%" PRIu64 ", %016" PRIx64 "]", manifest->growing[file],
                        checkpoint->growing[file].bytes, checkpoint->growing[file].digest);
        fprintf(stream, "}\n");
    }
}

enum status manifest_write(const char *folder, const struct manifest *manifest)
{
    struct replacement replacement;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (stream)
        print(manifest, stream);
    if (!stream || fclose(stream) != 0)
        return status_fail(STATUS_FAILED, "no memory to write %s/%s", folder, MANIFEST_NAME);
    enum status status = replace_begin(folder, MANIFEST_NAME, &replacement);
    if (status == STATUS_OK) {
        fwrite(text, 1, length, replacement.file);
        fprintf(replacement.file, digest_form, XXH3_64bits(text, length));
        status = replace_end(&replacement, STATUS_OK);
    }
    free(text);
    return status;
}

/* ---- reading ---- */

/* Whether the last line is the digest of the text before it. */
static bool is_whole(const char *text, size_t length)
{
    char line[64];
    const int digest_length = snprintf(line, sizeof line, digest_form, UINT64_C(0));
    if (length < (size_t)digest_length)
        return false;
    const size_t rest = length - (size_t)digest_length;
    snprintf(line, sizeof line, digest_form, XXH3_64bits(text, rest));
    return memcmp(text + rest, line, (size_t)digest_length) == 0;
}

static bool read_state(const char *word, struct manifest *manifest)
{
    for (size_t n = MANIFEST_STARTING; n <= MANIFEST_COMPLETE; n++)
        if (strcmp(word, state_names[n]) == 0)
            manifest->state = (enum manifest_state)n;
    return manifest->state != MANIFEST_NONE;
}

static bool read_outputs(const char **text, struct manifest *manifest)
{
    struct manifest_output output;
    int used = 0;
    while (sscanf(*text, "  %31[a-z_]: %" SCNu64 "\n%n", output.name, &output.last, &used) == 2 &&
           strcmp(output.name, "checkpoints") != 0) {
        if (manifest->output_count == MANIFEST_OUTPUTS)
            return false;
        manifest->outputs[manifest->output_count++] = output;
        *text += used;
    }
    return true;
}

/* The marks of files but history.csv, up to the end of the line. */
static bool read_marks(const char *line, struct manifest *manifest, struct manifest_checkpoint *checkpoint)
{
    char name[MANIFEST_NAME_LENGTH];
    struct growing_mark mark;
    int used = 0;
    while (sscanf(line, ", %79[A-Za-z0-9_./]: [%" SCNu64 ", %" SCNx64 "]%n", name, &mark.bytes, &mark.digest,
                  &used) == 3) {
        const uint32_t file = manifest_growing(manifest, name, true);
        if (file == MANIFEST_GROWING)
            return false;
        checkpoint->growing[file] = mark;
        line += used;
    }
    return strcmp(line, "}") == 0;
}

static bool read_checkpoints(const char **text, struct manifest *manifest)
{
    char line[(MANIFEST_GROWING + 1) * (MANIFEST_NAME_LENGTH + 48)];
    while (strncmp(*text, "  - ", 4) == 0) {
        struct manifest_checkpoint found = {0};
        const size_t length = strcspn(*text, "\n");
        const uint32_t count = manifest->checkpoint_count;
        int used = 0;
        snprintf(line, sizeof line, "%.*s", (int)length, *text);
        if (sscanf(line,
                   "  - {step: %" SCNu64 ", run: %" SCNx64 ", bytes: %" SCNu64 ", digest: %" SCNx64 "%n",
                   &found.step, &found.run, &found.growing[0].bytes, &found.growing[0].digest, &used) != 4 ||
            !read_marks(line + used, manifest, &found) || count == MANIFEST_CHECKPOINTS ||
            (count > 0 && manifest->checkpoints[count - 1].step >= found.step))
            return false;
        manifest->checkpoints[manifest->checkpoint_count++] = found;
        *text += length + 1;
    }
    return true;
}

static bool parse(const char *text, struct manifest *manifest)
{
    char state[16];
    int used = 0;
    if (sscanf(text,
               "run: %" SCNx64 "\nfrom: {run: %" SCNx64 ", step: %" SCNu64 "}\nstate: %15s %" SCNu64
               "\noutputs: # up to which step\n%n",
               &manifest->run, &manifest->from_run, &manifest->from_step, state, &manifest->complete_step,
               &used) != 5 ||
        used == 0 || !read_state(state, manifest))
        return false;
    text += used;
    used = 0;
    if (!read_outputs(&text, manifest))
        return false;
    sscanf(text, "checkpoints: # with what history.csv was%n", &used);
    text += (size_t)used + strcspn(text + used, "\n"); /* version 1 has no more in this line */
    text += *text == '\n';
    manifest_growing(manifest, "history.csv", true);
    return used > 0 && read_checkpoints(&text, manifest) && strncmp(text, "digest: ", 8) == 0;
}

static enum status read_text(const char *path, const char *text, size_t length, struct manifest *manifest)
{
    int version = 0, used = 0;
    if (sscanf(text, HEAD_FORM "%n", &version, &used) == 1 && (version < OLDEST_VERSION || version > VERSION))
        return status_fail(STATUS_FAILED, "%s is of version %d; this program reads versions %d to %d", path,
                           version, OLDEST_VERSION, VERSION);
    if (!is_whole(text, length) || used == 0 || !parse(text + used, manifest))
        return status_fail(STATUS_FAILED,
                           "%s is damaged, so it is not known which files belong to the run; go on from one "
                           "of its checkpoints by --restart FILE --output OTHER",
                           path);
    return STATUS_OK;
}

enum status manifest_read(const char *folder, struct manifest *manifest)
{
    char path[PATH_MAX + sizeof MANIFEST_NAME];
    *manifest = (struct manifest){0};
    snprintf(path, sizeof path, "%s/%s", folder, MANIFEST_NAME);
    const char *why = "";
    FILE *file = regular_open(path, &why);
    if (!file && (errno == ENOENT || errno == ENOTDIR))
        return STATUS_OK;
    char *text = calloc(MOST_BYTES + 1, 1);
    enum status status = STATUS_OK;
    if (!file || !text)
        status = status_fail(STATUS_FAILED, "cannot read %s: %s", path, file ? "no memory" : why);
    const size_t length = status == STATUS_OK ? fread(text, 1, MOST_BYTES, file) : 0;
    if (status == STATUS_OK && ferror(file))
        status = status_fail(STATUS_FAILED, "cannot read %s: %s", path, strerror(errno));
    if (status == STATUS_OK)
        status = read_text(path, text, length, manifest);
    if (file)
        fclose(file);
    free(text);
    return status;
}

/* ---- content ---- */

uint64_t manifest_new_run(void)
{
    uint64_t run = 0;
    if (getrandom(&run, sizeof run, 0) != sizeof run || run == 0)
        run = (uint64_t)time(NULL) << 24 ^ (uint64_t)getpid() ^ 1;
    return run;
}

const struct manifest_checkpoint *manifest_find(const struct manifest *manifest, uint64_t step)
{
    for (uint32_t n = 0; n < manifest->checkpoint_count; n++)
        if (manifest->checkpoints[n].step == step)
            return &manifest->checkpoints[n];
    return NULL;
}

struct manifest_output *manifest_output(struct manifest *manifest, const char *name, bool add)
{
    struct manifest_output *output = manifest->outputs;
    for (uint32_t n = 0; n < manifest->output_count; n++, output++)
        if (strcmp(output->name, name) == 0)
            return output;
    if (!add || manifest->output_count == MANIFEST_OUTPUTS)
        return NULL;
    manifest->output_count++;
    snprintf(output->name, sizeof output->name, "%s", name);
    output->last = 0;
    return output;
}

uint32_t manifest_growing(struct manifest *manifest, const char *name, bool add)
{
    uint32_t number = 0, unused = 0;
    while (number < MANIFEST_GROWING && strcmp(manifest->growing[number], name) != 0)
        number++;
    while (unused < MANIFEST_GROWING && manifest->growing[unused][0] != '\0')
        unused++;
    if (number < MANIFEST_GROWING || !add || unused == MANIFEST_GROWING)
        return number;
    snprintf(manifest->growing[unused], MANIFEST_NAME_LENGTH, "%s", name);
    return unused;
}

void manifest_add(struct manifest *manifest, const struct manifest_checkpoint *checkpoint)
{
    while (manifest->checkpoint_count > 0 &&
           manifest->checkpoints[manifest->checkpoint_count - 1].step >= checkpoint->step)
        manifest->checkpoint_count--;
    if (manifest->checkpoint_count == MANIFEST_CHECKPOINTS) {
        memmove(manifest->checkpoints, manifest->checkpoints + 1,
                (MANIFEST_CHECKPOINTS - 1) * sizeof *manifest->checkpoints);
        manifest->checkpoint_count--;
    }
    manifest->checkpoints[manifest->checkpoint_count++] = *checkpoint;
}

void manifest_cut(struct manifest *manifest, uint64_t step)
{
    while (manifest->checkpoint_count > 0 &&
           manifest->checkpoints[manifest->checkpoint_count - 1].step > step)
        manifest->checkpoint_count--;
    for (uint32_t n = 0; n < manifest->output_count; n++)
        if (manifest->outputs[n].last > step)
            manifest->outputs[n].last = step;
    const struct manifest_checkpoint *newest = manifest->checkpoints + manifest->checkpoint_count;
    for (uint32_t n = 1; n < MANIFEST_GROWING; n++)
        if (manifest->checkpoint_count == 0 || newest[-1].growing[n].bytes == 0)
            manifest->growing[n][0] = '\0';
}
