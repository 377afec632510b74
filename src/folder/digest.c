/* Digest: those of the pieces of a file, and the digest of these. */
#include "folder/digest.h"

#include "base/pool.h"
#include "base/regular.h"
#include "hdf5/hdf5_read.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { PIECE = 1 << 22 };

/* A range of a file. */
struct digest {
    const char *path;
    int descriptor;
    uint64_t begin, end;
    XXH3_state_t *state;
};

struct piece {
    XXH128_canonical_t digest;
    char bytes[PIECE];
};

static enum status digest_piece(void *context, size_t n, void *scratch)
{
    const struct digest *digest = context;
    struct piece *piece = scratch;
    const uint64_t begin = digest->begin + n * (uint64_t)PIECE, left = digest->end - begin;
    const size_t count = left < PIECE ? (size_t)left : PIECE;
    TRY(hdf5_read_bytes(digest->path, digest->descriptor, begin, count, piece->bytes));
    XXH128_canonicalFromHash(&piece->digest, XXH3_128bits(piece->bytes, count));
    return STATUS_OK;
}

static enum status add_digest(void *context, size_t n, void *scratch)
{
    const struct digest *digest = context;
    const struct piece *piece = scratch;
    (void)n;
    XXH3_128bits_update(digest->state, &piece->digest, sizeof piece->digest);
    return STATUS_OK;
}

enum status digest_range(const char *path, int descriptor, uint64_t begin, uint64_t end,
                         XXH128_canonical_t *result)
{
    struct digest digest = {path, descriptor, begin, end, XXH3_createState()};
    const struct pool_work work = {digest_piece, add_digest, &digest, sizeof(struct piece)};
    if (!digest.state)
        return status_fail(STATUS_FAILED, "%s: no memory for its digest", path);
    XXH3_128bits_reset(digest.state);
    const enum status status = pool_run(&work, (size_t)((end - begin + PIECE - 1) / PIECE));
    XXH128_canonicalFromHash(result, XXH3_128bits_digest(digest.state));
    XXH3_freeState(digest.state);
    return status;
}

enum status digest_file(const char *path, int descriptor, uint64_t bytes, uint64_t *result)
{
    struct stat found;
    XXH128_canonical_t digest;
    if (fstat(descriptor, &found) != 0)
        return status_fail(STATUS_FAILED, "%s: cannot read it: %s", path, strerror(errno));
    const uint64_t all = (uint64_t)found.st_size;
    TRY(digest_range(path, descriptor, 0, bytes < all ? bytes : all, &digest));
    *result = XXH128_hashFromCanonical(&digest).low64;
    return STATUS_OK;
}

/* ---- over ranks ---- */

/* What tells a file from others, alike on all hosts, where it is not read, and then its digest. */
typedef uint64_t mark[5];

/* The digest of the file that has the `other` mark is known. */
static enum status mark_file(const char *path, uint64_t bytes, const mark other, mark own)
{
    struct stat found;
    FILE *file;
    TRY(regular_require(path, STATUS_USAGE, &file, &found));
    memcpy(own,
           (mark){(uint64_t)found.st_ino, (uint64_t)found.st_size, (uint64_t)found.st_mtim.tv_sec,
                  (uint64_t)found.st_mtim.tv_nsec, other[4]},
           sizeof(mark));
    const enum status status =
        memcmp(own, other, sizeof(mark)) == 0 ? STATUS_OK : digest_file(path, fileno(file), bytes, &own[4]);
    fclose(file);
    return status;
}

enum status digest_require_same(const struct communicator *communicator, const char *path, uint64_t bytes,
                                uint64_t *digest)
{
    mark none = {0}, first = {0}, own;
    char text[32];
    const bool is_first = communicator->rank == 0;
    TRY(communicator_agree(communicator, is_first ? mark_file(path, bytes, none, first) : STATUS_OK));
    communicator_broadcast(communicator, sizeof first, first);
    TRY(communicator_agree(communicator, mark_file(path, bytes, first, own)));
    snprintf(text, sizeof text, "digest %016" PRIx64, own[4]);
    *digest = own[4];
    return communicator_require_same(communicator, path, text);
}
