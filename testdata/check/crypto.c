/* libcrypto's assembly, without the hours that `openssl speed` takes to get there when it is stepped: the argument says which
 * algorithm. Declarations are written out, so that no headers are needed; link with -l:libcrypto.so.3. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *BN_CTX_new(void), *BN_new(void), *BN_bin2bn(const void *, int, void *);
int BN_mod_exp(void *, const void *, const void *, const void *, void *), BN_mod_inverse(void *, const void *, const void *, void *);
void BN_set_flags(void *, int);
void *EC_GROUP_new_by_curve_name(int), *EC_POINT_new(void *);
int EC_POINT_mul(void *, void *, const void *, const void *, const void *, void *);
void *SHA1(const void *, size_t, void *), *SHA256(const void *, size_t, void *), *SHA512(const void *, size_t, void *), *MD5(const void *, size_t, void *);
void *EVP_CIPHER_CTX_new(void), *EVP_aes_128_gcm(void), *EVP_aes_128_ctr(void), *EVP_aes_128_cbc(void), *EVP_chacha20_poly1305(void);
int EVP_EncryptInit_ex(void *, const void *, void *, const void *, const void *), EVP_EncryptUpdate(void *, void *, int *, const void *, int),
	EVP_EncryptFinal_ex(void *, void *, int *);
void *EVP_PKEY_new_raw_private_key(int, void *, const void *, size_t), *EVP_PKEY_CTX_new(void *, void *);
int EVP_PKEY_derive_init(void *), EVP_PKEY_derive_set_peer(void *, void *), EVP_PKEY_derive(void *, void *, size_t *);

static unsigned char in[4096], out[5000], key[64];

static void hashes(void) {
	for (int n = 1; n < (int)sizeof in; n = 3 * n + 1) {
		SHA1(in, n, out);
		SHA256(in, n, out);
		SHA512(in, n, out);
		MD5(in, n, out);
	}
}

static void bignum(void) {
	void *ctx = BN_CTX_new();
	for (int bits = 512; bits <= 2048; bits *= 2) {
		in[0] = 0xc3;
		in[bits / 8 - 1] |= 1;
		void *m = BN_bin2bn(in, bits / 8, 0), *b = BN_bin2bn(key, 60, 0), *r = BN_new();
		BN_mod_exp(r, b, BN_bin2bn(key, bits == 2048 ? 4 : 16, 0), m, ctx);
		BN_mod_inverse(r, b, m, ctx);
	}
}

static void curve(int nid) {
	void *ctx = BN_CTX_new(), *g = EC_GROUP_new_by_curve_name(nid), *p = EC_POINT_new(g), *e = BN_bin2bn(key, 31, 0);
	EC_POINT_mul(g, p, e, 0, 0, ctx);
	EC_POINT_mul(g, p, 0, p, e, ctx);
}

static void exchange(int nid) {
	void *mine = EVP_PKEY_new_raw_private_key(nid, 0, key, 32), *theirs = EVP_PKEY_new_raw_private_key(nid, 0, in, 32);
	void *ctx = EVP_PKEY_CTX_new(mine, 0);
	size_t n = sizeof out;
	EVP_PKEY_derive_init(ctx);
	EVP_PKEY_derive_set_peer(ctx, theirs);
	if (EVP_PKEY_derive(ctx, out, &n) != 1)
		exit(1);
}

static void cipher(void *c) {
	void *ctx = EVP_CIPHER_CTX_new();
	int len;
	for (int n = 13; n < (int)sizeof in; n = 2 * n + 5) {
		EVP_EncryptInit_ex(ctx, c, 0, key, key + 16);
		EVP_EncryptUpdate(ctx, out, &len, in, n);
		EVP_EncryptFinal_ex(ctx, out + len, &len);
	}
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "hash";
	memset(in, 7, sizeof in);
	memset(key, 0x5a, sizeof key);
	if (!strcmp(what, "hash"))
		hashes();
	else if (!strcmp(what, "bn"))
		bignum();
	else if (!strcmp(what, "p256"))
		curve(415);
	else if (!strcmp(what, "x25519"))
		exchange(1034);
	else if (!strcmp(what, "gcm"))
		cipher(EVP_aes_128_gcm());
	else if (!strcmp(what, "ctr"))
		cipher(EVP_aes_128_ctr());
	else if (!strcmp(what, "cbc"))
		cipher(EVP_aes_128_cbc());
	else if (!strcmp(what, "chacha"))
		cipher(EVP_chacha20_poly1305());
	else
		return 2;
	return 0;
}
