/* SHA-256 through OpenSSL's EVP, XXH3 inlined from its header. */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/log.h"

static struct ifm_sha256 to_hex(const unsigned char digest[32])
{
    static const char digits[] = "0123456789abcdef";
    struct ifm_sha256 out;
    for (int i = 0; i < 32; i++) {
        out.hex[2 * i] = digits[digest[i] >> 4];
        out.hex[2 * i + 1] = digits[digest[i] & 15];
    }
    out.hex[64] = '\0';
    return out;
}

/* OpenSSL takes memory for each hash; only a build of it without SHA-256 fails for another reason. */
static _Noreturn void die(void)
{
    ifm_die("no SHA-256: out of memory, or this OpenSSL has none");
}

struct ifm_sha256 ifm_sha256_bytes(const void *data, size_t size)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    if (EVP_Digest(data, size, digest, NULL, EVP_sha256(), NULL) != 1)
        die();
    return to_hex(digest);
}

static enum ifm_status hash_stream(FILE *file, const char *path, struct ifm_sha256 *out, struct ifm_error *error)
{
    unsigned char buffer[1 << 16]; /* on the stack: a run has thousands of small files */
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (context == NULL || EVP_DigestInit_ex(context, EVP_sha256(), NULL) != 1)
        die();
    size_t got;
    errno = 0;
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0)
        EVP_DigestUpdate(context, buffer, got);
    int code = errno;
    unsigned char digest[EVP_MAX_MD_SIZE];
    EVP_DigestFinal_ex(context, digest, NULL);
    EVP_MD_CTX_free(context);
    if (ferror(file))
        return ifm_file_fail(path, "cannot read", code, error);
    *out = to_hex(digest);
    return IFM_OK;
}

enum ifm_status ifm_sha256_file(const char *path, struct ifm_sha256 *out, struct ifm_error *error)
{
    int fd;
    IFM_TRY(ifm_file_open(path, &fd, NULL, error));
    FILE *file = fdopen(fd, "rb");
    if (file == NULL) {
        close(fd);
        return ifm_fail(error, IFM_INTERNAL, path, "", "out of memory for a file");
    }
    setvbuf(file, NULL, _IONBF, 0); /* the pieces are large already */
    enum ifm_status status = hash_stream(file, path, out, error);
    fclose(file);
    return status;
}

uint64_t ifm_xxh3(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}
