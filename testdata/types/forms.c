// C types for "ptype", "whatis" and "ptype/o", each in several forms.
struct node { int v; struct node *next; enum { X, Y = 4 } e; union { int a; float b; } u; struct { char c; long d; }; unsigned f : 3; };
typedef struct node node_t; typedef int (*cmp)(const void *, const void *);
struct flex { int n; struct node items[]; };
struct opaque; struct opaque *op;
node_t n; struct node *np = &n; node_t *tp; const node_t cn; node_t arr[2]; node_t *parr[3]; cmp c; struct flex fl; int (*fa[2])(node_t *); node_t (*pa)[2];
node_t fn(node_t x, struct flex *p) { return x; }
union un { struct node n; char c[80]; } u; enum en { A, B } en; volatile int vi; const char *const s = 0; __int128 big; _Bool b; float _Complex cf;
int main(void) { return 0; }
