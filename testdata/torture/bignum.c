// Multiplies large numbers the way that libcrypto does best, so that its hand-written code runs.
typedef struct bignum_st BIGNUM;
typedef struct bignum_ctx BN_CTX;
BIGNUM *BN_new(void);
BN_CTX *BN_CTX_new(void);
int BN_hex2bn(BIGNUM **, const char *);
int BN_mod_exp(BIGNUM *, const BIGNUM *, const BIGNUM *, const BIGNUM *, BN_CTX *);
int BN_num_bits(const BIGNUM *);

__attribute__((noinline)) int exponentiate(int digits) {
  char text[520];
  BIGNUM *a = 0, *p = 0, *m = 0, *r = BN_new();
  for (int i = 0; i < digits; i++)
    text[i] = "123456789abcdef"[i % 15];
  text[digits - 1] = 'f';
  text[digits] = 0;
  BN_hex2bn(&m, text);
  text[0] = '0';
  BN_hex2bn(&a, text);
  BN_hex2bn(&p, "10001");
  BN_mod_exp(r, a, p, m, BN_CTX_new());
  return BN_num_bits(r);
}

int main(int argc, char **argv) {
  (void)argv;
  return exponentiate(argc > 1 ? 112 : 256) == 0;
}
