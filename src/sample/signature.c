/* The signature of a run folder, by OpenSSL's EVP. */
#include "sample/signature.h"

#include "base/arena.h"
#include "base/file.h"
#include "sample/manifest.h"
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIGNATURE_SIZE = 64, KEY_LIMIT = 1 << 16, MANIFEST_LIMIT = 1 << 30 };

/* Nobody is asked for a passphrase in the middle of a run. */
static int no_passphrase(char *room, int size, int writes, void *asked)
{
    (void)room, (void)size, (void)writes;
    *(bool *)asked = true;
    return -1;
}

static enum ifm_status no_key(const char *path, bool private, bool asked, struct ifm_error *error)
{
    if (asked)
        return ifm_fail(error, IFM_USAGE, path,
                        "run without --sign, then: openssl pkeyutl -sign -rawin -inkey KEY -in DIR/" IFM_MANIFEST_NAME
                        " -out DIR/" IFM_SIGNATURE_NAME,
                        "the key is locked by a passphrase");
    return ifm_fail(error, IFM_USAGE, path,
                    private ? "make one: openssl genpkey -algorithm ed25519 -out key.pem"
                            : "take it from the signer: openssl pkey -in key.pem -pubout -out key.pub",
                    "it is no %s ed25519 key in PEM", private ? "private" : "public");
}

/* `*out` is freed by the caller. A private key is a public one too. */
static enum ifm_status read_key(const char *path, bool private, EVP_PKEY **out, struct ifm_error *error)
{
    char *text = NULL;
    size_t size = 0;
    bool asked = false;
    IFM_TRY(ifm_file_read(path, KEY_LIMIT, &text, &size, error));
    BIO *bio = BIO_new_mem_buf(text, (int)size);
    EVP_PKEY *key = bio == NULL || private ? NULL : PEM_read_bio_PUBKEY(bio, NULL, no_passphrase, &asked);
    if (key == NULL && bio != NULL && BIO_reset(bio) == 1)
        key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, &asked);
    BIO_free(bio);
    OPENSSL_cleanse(text, size);
    free(text);
    if (key != NULL && EVP_PKEY_id(key) == EVP_PKEY_ED25519) {
        *out = key;
        return IFM_OK;
    }
    EVP_PKEY_free(key);
    return no_key(path, private, asked, error);
}

enum ifm_status ifm_signature_can(const char *path, struct ifm_error *error)
{
    EVP_PKEY *key;
    IFM_TRY(read_key(path, true, &key, error));
    EVP_PKEY_free(key);
    return IFM_OK;
}

static enum ifm_status sign(const char *dir, EVP_PKEY *key, struct ifm_arena *arena, struct ifm_error *error)
{
    char *manifest = NULL;
    size_t size = 0, made = SIGNATURE_SIZE;
    unsigned char signature[SIGNATURE_SIZE];
    IFM_TRY(
        ifm_file_read(ifm_path_join(arena, dir, IFM_MANIFEST_NAME), MANIFEST_LIMIT, &manifest, &size, error));
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const bool made_it = context != NULL && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
                         EVP_DigestSign(context, signature, &made, (const unsigned char *)manifest, size) == 1;
    EVP_MD_CTX_free(context);
    free(manifest);
    if (!made_it)
        return ifm_fail(error, IFM_INTERNAL, dir, NULL, "OpenSSL could not sign the manifest");
    return ifm_file_write_atomic(ifm_path_join(arena, dir, IFM_SIGNATURE_NAME), signature, made, error);
}

enum ifm_status ifm_signature_write(const char *dir, const char *path, struct ifm_error *error)
{
    EVP_PKEY *key;
    IFM_TRY(read_key(path, true, &key, error));
    struct ifm_arena *arena = ifm_arena_create();
    const enum ifm_status status = sign(dir, key, arena, error);
    ifm_arena_destroy(arena);
    EVP_PKEY_free(key);
    return status;
}

bool ifm_signature_exists(const char *dir)
{
    struct ifm_arena *arena = ifm_arena_create();
    const bool exists = ifm_file_exists(ifm_path_join(arena, dir, IFM_SIGNATURE_NAME));
    ifm_arena_destroy(arena);
    return exists;
}

static enum ifm_status check(const char *dir, EVP_PKEY *key, struct ifm_arena *arena, struct ifm_error *error)
{
    const char *path = ifm_path_join(arena, dir, IFM_SIGNATURE_NAME);
    char *manifest = NULL, *signature = NULL;
    size_t size = 0, length = 0;
    if (!ifm_file_exists(path))
        return ifm_fail(error, IFM_INVALID, path, "its maker signs it: inferometer derive DIR --sign KEY",
                        "the folder is not signed");
    enum ifm_status status = ifm_file_read(path, SIGNATURE_SIZE, &signature, &length, error);
    if (status == IFM_OK)
        status = ifm_file_read(ifm_path_join(arena, dir, IFM_MANIFEST_NAME), MANIFEST_LIMIT, &manifest, &size, error);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const bool fits =
        status == IFM_OK && context != NULL && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
        EVP_DigestVerify(context, (unsigned char *)signature, length, (const unsigned char *)manifest, size) == 1;
    EVP_MD_CTX_free(context);
    free(manifest);
    free(signature);
    if (status != IFM_OK || fits)
        return status;
    return ifm_fail(error, IFM_INVALID, path, "ask its maker for the folder as it was signed, or for another key",
                    "this key did not sign this manifest: another one did, or files were written since");
}

static enum ifm_status fingerprint(EVP_PKEY *key, struct ifm_sha256 *out, struct ifm_error *error)
{
    unsigned char *der = NULL;
    const int size = i2d_PUBKEY(key, &der);
    if (size <= 0)
        return ifm_fail(error, IFM_INTERNAL, "", NULL, "OpenSSL could not write the public key");
    *out = ifm_sha256_bytes(der, (size_t)size);
    OPENSSL_free(der);
    return IFM_OK;
}

enum ifm_status ifm_signature_check(const char *dir, const char *signer, struct ifm_sha256 *out,
                                    struct ifm_error *error)
{
    EVP_PKEY *key;
    IFM_TRY(read_key(signer, false, &key, error));
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = check(dir, key, arena, error);
    if (status == IFM_OK)
        status = fingerprint(key, out, error);
    ifm_arena_destroy(arena);
    EVP_PKEY_free(key);
    return status;
}
