/* Checkpoint seal: the first block of a file, with the digest of the rest. */
#include "folder/checkpoint_seal.h"

#include "base/below.h"
#include "base/regular.h"
#include "folder/digest.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const char magic[24] = "RadixPIC checkpoint";

/* Numbers are little-endian, digests canonical. */
struct block {
    char magic[sizeof magic];
    uint32_t version;
    uint32_t block_bytes;
    uint64_t file_bytes;
    XXH128_canonical_t digest; /* of those of the pieces after the block, each of PIECE bytes or the rest */
    unsigned char zeros[CHECKPOINT_BLOCK - 72];
    XXH128_canonical_t own_digest; /* of the block before this */
};
_Static_assert(sizeof(struct block) == CHECKPOINT_BLOCK, "the block has no gaps");

static XXH128_canonical_t own_digest(const struct block *block)
{
    XXH128_canonical_t digest;
    XXH128_canonicalFromHash(&digest, XXH3_128bits(block, offsetof(struct block, own_digest)));
    return digest;
}

enum status checkpoint_seal(const char *path)
{
    struct stat found = {0};
    struct block block = {.version = htole32(CHECKPOINT_VERSION), .block_bytes = htole32(CHECKPOINT_BLOCK)};
    const int file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    bool is_well = file >= 0 && fstat(file, &found) == 0;
    const uint64_t bytes = (uint64_t)found.st_size;
    enum status status = is_well ? digest_range(path, file, sizeof block, bytes, &block.digest) : STATUS_OK;
    memcpy(block.magic, magic, sizeof magic);
    block.file_bytes = htole64(bytes);
    block.own_digest = own_digest(&block);
    if (is_well && status == STATUS_OK)
        is_well = pwrite(file, &block, sizeof block, 0) == sizeof block;
    if (!is_well)
        status = status_fail(STATUS_FAILED, "%s: cannot write its digest: %s", path, strerror(errno));
    below_end(file);
    return status;
}

static enum status check_block(const char *path, const struct block *block, uint64_t bytes, bool *is_damaged)
{
    const XXH128_canonical_t own = own_digest(block);
    const uint32_t version = le32toh(block->version);
    const uint64_t file_bytes = le64toh(block->file_bytes);
    *is_damaged = true;
    if (memcmp(block->magic, magic, sizeof magic) != 0)
        return status_fail(STATUS_USAGE,
                           "%s is no checkpoint: it does not begin with the words \"%s\", "
                           "or its first bytes are damaged",
                           path, magic);
    if (memcmp(&own, &block->own_digest, sizeof own) != 0)
        return status_fail(STATUS_FAILED, "%s is damaged: its first %d bytes do not match their digest", path,
                           CHECKPOINT_BLOCK);
    *is_damaged = version == CHECKPOINT_VERSION;
    if (version != CHECKPOINT_VERSION)
        return status_fail(STATUS_FAILED,
                           "%s is a checkpoint of version %" PRIu32 "; this program reads version %d", path,
                           version, CHECKPOINT_VERSION);
    if (le32toh(block->block_bytes) != CHECKPOINT_BLOCK || file_bytes != bytes)
        return status_fail(STATUS_FAILED,
                           "%s is damaged: it has %" PRIu64 " bytes, but was written with %" PRIu64, path,
                           bytes, file_bytes);
    *is_damaged = false;
    return STATUS_OK;
}

static enum status check_open_file(const char *path, FILE *file, uint64_t bytes, bool all, bool *is_damaged)
{
    struct block block;
    XXH128_canonical_t digest = {{0}};
    const size_t count = fread(&block, 1, sizeof block, file);
    *is_damaged = count < sizeof block && !ferror(file);
    if (*is_damaged)
        return status_fail(count < sizeof magic || memcmp(block.magic, magic, sizeof magic) != 0
                               ? STATUS_USAGE
                               : STATUS_FAILED,
                           "%s is no checkpoint, or is cut short: it has only %zu bytes", path, count);
    if (count == sizeof block)
        TRY(check_block(path, &block, bytes, is_damaged));
    if (ferror(file))
        return status_fail(STATUS_FAILED, "%s: cannot read it: %s", path, strerror(errno));
    if (all)
        TRY(digest_range(path, fileno(file), sizeof block, bytes, &digest));
    *is_damaged = all && memcmp(&digest, &block.digest, sizeof digest) != 0;
    if (*is_damaged)
        return status_fail(STATUS_FAILED, "%s is damaged: its bytes do not match their digest", path);
    return STATUS_OK;
}

enum status checkpoint_seal_check(const char *path, bool all, bool *is_damaged)
{
    struct stat found;
    const char *why = "";
    *is_damaged = false;
    FILE *file = regular_open(path, &found, &why);
    if (!file)
        return errno == 0 ? status_fail(STATUS_USAGE, "%s is no checkpoint: %s", path, why)
                          : status_fail(STATUS_FAILED, "%s: cannot open it: %s", path, why);
    const enum status status = check_open_file(path, file, (uint64_t)found.st_size, all, is_damaged);
    fclose(file);
    return status;
}
