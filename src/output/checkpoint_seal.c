/* Checkpoint seal: digests of a file, read from its begin to its end. */
#include "output/checkpoint.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

static const char magic[24] = "RadixPIC checkpoint";

/* Numbers are little-endian, digests canonical. */
struct block {
    char magic[sizeof magic];
    uint32_t version;
    uint32_t block_bytes;
    uint64_t file_bytes;
    XXH128_canonical_t digest; /* of the file after the block */
    unsigned char zeros[CHECKPOINT_BLOCK - 72];
    XXH128_canonical_t own_digest; /* of the block before this */
};
_Static_assert(sizeof(struct block) == CHECKPOINT_BLOCK, "the block has no gaps");

enum { PIECE = 1 << 22 };

static XXH128_canonical_t own_digest(const struct block *block)
{
    XXH128_canonical_t digest;
    XXH128_canonicalFromHash(&digest, XXH3_128bits(block, offsetof(struct block, own_digest)));
    return digest;
}

/* The digest of all bytes after the block, and their number; false with errno. */
static bool digest_rest(FILE *file, XXH128_canonical_t *digest, uint64_t *bytes)
{
    XXH3_state_t *state = XXH3_createState();
    void *piece = malloc(PIECE);
    bool done = false;
    *bytes = 0;
    if (state && piece && fseek(file, CHECKPOINT_BLOCK, SEEK_SET) == 0) {
        XXH3_128bits_reset(state);
        for (size_t count; (count = fread(piece, 1, PIECE, file)) > 0; *bytes += count)
            XXH3_128bits_update(state, piece, count);
        XXH128_canonicalFromHash(digest, XXH3_128bits_digest(state));
        done = ferror(file) == 0;
    }
    free(piece);
    XXH3_freeState(state);
    return done;
}

/* ---- writing ---- */

enum status checkpoint_seal(const char *path)
{
    struct block block = {.version = htole32(CHECKPOINT_VERSION), .block_bytes = htole32(CHECKPOINT_BLOCK)};
    uint64_t rest = 0;
    memcpy(block.magic, magic, sizeof magic);
    FILE *file = fopen(path, "r+b");
    bool done = file && digest_rest(file, &block.digest, &rest);
    block.file_bytes = htole64(rest + CHECKPOINT_BLOCK);
    block.own_digest = own_digest(&block);
    done = done && fseek(file, 0, SEEK_SET) == 0 && fwrite(&block, sizeof block, 1, file) == 1;
    done = (!file || fclose(file) == 0) && done;
    return done ? STATUS_OK
                : status_fail(STATUS_FAILED, "%s: cannot write its digest: %s", path, strerror(errno));
}

/* ---- checking ---- */

static enum status check_block(const char *path, const struct block *block, uint64_t bytes)
{
    const XXH128_canonical_t own = own_digest(block);
    const uint32_t version = le32toh(block->version);
    const uint64_t file_bytes = le64toh(block->file_bytes);
    if (memcmp(block->magic, magic, sizeof magic) != 0)
        return status_fail(STATUS_FAILED,
                           "%s is no checkpoint: it does not begin with the words \"%s\", "
                           "or its first bytes are damaged",
                           path, magic);
    if (memcmp(&own, &block->own_digest, sizeof own) != 0)
        return status_fail(STATUS_FAILED, "%s is damaged: its first %d bytes do not match their digest", path,
                           CHECKPOINT_BLOCK);
    if (version != CHECKPOINT_VERSION)
        return status_fail(STATUS_FAILED,
                           "%s is a checkpoint of version %" PRIu32 "; this program reads version %d", path,
                           version, CHECKPOINT_VERSION);
    if (le32toh(block->block_bytes) != CHECKPOINT_BLOCK || file_bytes != bytes)
        return status_fail(STATUS_FAILED,
                           "%s is damaged: it has %" PRIu64 " bytes, but was written with %" PRIu64, path,
                           bytes, file_bytes);
    return STATUS_OK;
}

static enum status check_open_file(const char *path, FILE *file, uint64_t bytes, bool all)
{
    struct block block;
    XXH128_canonical_t digest = {{0}};
    uint64_t rest = 0;
    const size_t count = fread(&block, 1, sizeof block, file);
    if (count < sizeof block && !ferror(file))
        return status_fail(STATUS_FAILED, "%s is no checkpoint, or is cut short: it has only %zu bytes", path,
                           count);
    if (count == sizeof block)
        TRY(check_block(path, &block, bytes));
    if (ferror(file) || (all && !digest_rest(file, &digest, &rest)))
        return status_fail(STATUS_FAILED, "%s: cannot read it: %s", path, strerror(errno));
    if (all && (rest + CHECKPOINT_BLOCK != bytes || memcmp(&digest, &block.digest, sizeof digest) != 0))
        return status_fail(STATUS_FAILED, "%s is damaged: its bytes do not match their digest", path);
    return STATUS_OK;
}

enum status checkpoint_seal_check(const char *path, bool all)
{
    struct stat found = {0};
    if (stat(path, &found) == 0 && !S_ISREG(found.st_mode))
        return status_fail(STATUS_FAILED, "%s is no checkpoint: it is not a file", path);
    FILE *file = fopen(path, "rb");
    if (!file)
        return status_fail(STATUS_FAILED, "%s: cannot open it: %s", path, strerror(errno));
    const enum status status = check_open_file(path, file, (uint64_t)found.st_size, all);
    fclose(file);
    return status;
}
