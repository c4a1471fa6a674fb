/* A signature over the manifest: who vouches for a run folder, where hashes alone show that it is whole.
 *
 * Ed25519 (RFC 8032) over the bytes of manifest.sha256, in manifest.sig: 64 bytes, as OpenSSL has them. Keys are PEM
 * files: `openssl genpkey -algorithm ed25519 -out KEY`, and `openssl pkey -in KEY -pubout` for the public one. */
#ifndef IFM_SAMPLE_SIGNATURE_H
#define IFM_SAMPLE_SIGNATURE_H

#include "base/error.h"
#include "base/hash.h"
#include <stdbool.h>

/* Whether this file is a private key to sign with: asked before anything is measured. */
IFM_CHECKED enum ifm_status ifm_signature_can(const char *key, struct ifm_error *error);
/* Sign the manifest of `dir` with the private key in the file `key`. */
IFM_CHECKED enum ifm_status ifm_signature_write(const char *dir, const char *key, struct ifm_error *error);
bool ifm_signature_exists(const char *dir);
/* The manifest of `dir` is signed by the key whose public part (or which itself) the file `signer` holds; else
 * IFM_INVALID. `out`: SHA-256 of the public key in DER. */
IFM_CHECKED enum ifm_status ifm_signature_check(const char *dir, const char *signer, struct ifm_sha256 *out,
                                                struct ifm_error *error);

#endif
