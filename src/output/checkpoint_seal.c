/* Checkpoint seal: digests of a file, read from its begin to its end. */
#include "output/checkpoint_seal.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
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

/* Reads up to `bytes`, fewer only at the end of the file. Returns their number, or -1 with errno. */
static ssize_t read_fully(int descriptor, void *target, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        const ssize_t count = read(descriptor, (char *)target + done, bytes - done);
        if (count == 0)
            break;
        if (count > 0)
            done += (size_t)count;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)done;
}

/* Adds all bytes from where `descriptor` stands to the digest. Returns their number, or -1 with errno. */
static int64_t digest_pieces(int descriptor, XXH3_state_t *digest, void *piece)
{
    int64_t total = 0;
    for (;;) {
        const ssize_t count = read_fully(descriptor, piece, PIECE);
        if (count < 0)
            return -1;
        XXH3_128bits_update(digest, piece, (size_t)count);
        total += count;
        if (count < PIECE)
            return total;
    }
}

/* The digest of all bytes after the block. Returns their number, or -1 with errno. */
static int64_t digest_rest(int descriptor, XXH128_canonical_t *digest)
{
    int64_t total = -1;
    XXH3_state_t *state = XXH3_createState();
    void *piece = malloc(PIECE);
    if (!state || !piece) {
        errno = ENOMEM;
    } else if (lseek(descriptor, CHECKPOINT_BLOCK, SEEK_SET) >= 0) {
        XXH3_128bits_reset(state);
        total = digest_pieces(descriptor, state, piece);
        XXH128_canonicalFromHash(digest, XXH3_128bits_digest(state));
    }
    const int error = errno;
    free(piece);
    XXH3_freeState(state);
    errno = error;
    return total;
}

/* ---- writing ---- */

static int write_block(int descriptor)
{
    struct block block = {.version = htole32(CHECKPOINT_VERSION), .block_bytes = htole32(CHECKPOINT_BLOCK)};
    memcpy(block.magic, magic, sizeof magic);
    const int64_t rest = digest_rest(descriptor, &block.digest);
    if (rest < 0)
        return -1;
    block.file_bytes = htole64((uint64_t)rest + CHECKPOINT_BLOCK);
    block.own_digest = own_digest(&block);
    const ssize_t written = pwrite(descriptor, &block, sizeof block, 0);
    if (written >= 0 && written != (ssize_t)sizeof block)
        errno = EIO;
    return written == (ssize_t)sizeof block ? 0 : -1;
}

int checkpoint_seal(const char *path)
{
    const int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        return -1;
    const int result = write_block(descriptor);
    const int error = errno;
    if (close(descriptor) != 0)
        return -1;
    errno = error;
    return result;
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

static enum status check_open_file(const char *path, int descriptor, bool all)
{
    struct stat found;
    struct block block;
    if (fstat(descriptor, &found) != 0)
        return status_fail(STATUS_FAILED, "%s: cannot read it: %s", path, strerror(errno));
    if (!S_ISREG(found.st_mode))
        return status_fail(STATUS_FAILED, "%s is no checkpoint: it is not a file", path);
    const ssize_t count = read_fully(descriptor, &block, sizeof block);
    if (count < 0)
        return status_fail(STATUS_FAILED, "%s: cannot read it: %s", path, strerror(errno));
    if (count < (ssize_t)sizeof block)
        return status_fail(STATUS_FAILED, "%s is no checkpoint, or is cut short: it has only %zd bytes", path,
                           count);
    TRY(check_block(path, &block, (uint64_t)found.st_size));
    if (!all)
        return STATUS_OK;
    XXH128_canonical_t digest = {{0}};
    const int64_t rest = digest_rest(descriptor, &digest);
    if (rest < 0)
        return status_fail(STATUS_FAILED, "%s: cannot read it: %s", path, strerror(errno));
    if (rest + CHECKPOINT_BLOCK != found.st_size || memcmp(&digest, &block.digest, sizeof digest) != 0)
        return status_fail(STATUS_FAILED, "%s is damaged: its bytes do not match their digest", path);
    return STATUS_OK;
}

static enum status check(const char *path, bool all)
{
    /* Not to wait for the other end where somebody put a pipe. */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return status_fail(STATUS_FAILED, "%s: cannot open it: %s", path, strerror(errno));
    const enum status status = check_open_file(path, descriptor, all);
    close(descriptor);
    return status;
}

enum status checkpoint_seal_check(const char *path)
{
    return check(path, true);
}

enum status checkpoint_seal_glance(const char *path)
{
    return check(path, false);
}
