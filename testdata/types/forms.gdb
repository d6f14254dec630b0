>> ptype struct node
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
}
>> whatis struct node
type = struct node
>> ptype/o struct node
/* offset      |    size */  type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             }
>> ptype node_t
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
}
>> whatis node_t
type = struct node
>> ptype/o node_t
type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             }
>> ptype n
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
}
>> whatis n
type = node_t
>> ptype/o n
type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             }
>> ptype np
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
} *
>> whatis np
type = struct node *
>> ptype/o np
type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             } *
>> ptype tp
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
} *
>> whatis tp
type = node_t *
>> ptype/o tp
type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             } *
>> ptype cn
type = const struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
}
>> whatis cn
type = const node_t
>> ptype/o cn
type = const struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             }
>> ptype arr
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
} [2]
>> whatis arr
type = node_t [2]
>> ptype/o arr
type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             } [2]
>> ptype parr
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
} *[3]
>> whatis parr
type = node_t *[3]
>> ptype/o parr
type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             } *[3]
>> ptype c
type = int (*)(const void *, const void *)
>> whatis c
type = cmp
>> ptype/o c
type = int (*)(const void *, const void *)
>> ptype fl
type = struct flex {
    int n;
    struct node items[];
}
>> whatis fl
type = struct flex
>> ptype/o fl
/* offset      |    size */  type = struct flex {
/*      0      |       4 */    int n;
/* XXX  4-byte hole      */
/*      8      |       0 */    struct node items[];

                               /* total size (bytes):    8 */
                             }
>> ptype fa
type = int (*[2])(node_t *)
>> whatis fa
type = int (*[2])(node_t *)
>> ptype/o fa
type = int (*[2])(node_t *)
>> ptype pa
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
} (*)[2]
>> whatis pa
type = node_t (*)[2]
>> ptype/o pa
type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             } (*)[2]
>> ptype fn
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
} (node_t, struct flex *)
>> whatis fn
type = node_t (node_t, struct flex *)
>> ptype/o fn
type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             } (node_t, struct flex *)
>> ptype fn(n,0)
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
}
>> whatis fn(n,0)
type = node_t
>> ptype/o fn(n,0)
type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             }
>> ptype u
type = union un {
    struct node n;
    char c[80];
}
>> whatis u
type = union un
>> ptype/o u
/* offset      |    size */  type = union un {
/*                    48 */    struct node {
/*      0      |       4 */        int v;
/* XXX  4-byte hole      */
/*      8      |       8 */        struct node *next;
/*     16      |       4 */        enum {X, Y = 4} e;
/*     20      |       4 */        union {
/*                     4 */            int a;
/*                     4 */            float b;

                                       /* total size (bytes):    4 */
                                   } u;
/*     24      |      16 */        struct {
/*     24      |       1 */            char c;
/* XXX  7-byte hole      */
/*     32      |       8 */            long d;

                                       /* total size (bytes):   16 */
                                   };
/*     40: 0   |       4 */        unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                                   /* total size (bytes):   48 */
                               } n;
/*                    80 */    char c[80];

                               /* total size (bytes):   80 */
                             }
>> ptype en
type = enum en {A, B}
>> whatis en
type = enum en
>> ptype/o en
type = enum en {A, B}
>> ptype enum en
type = enum en {A, B}
>> whatis enum en
type = enum en
>> ptype/o enum en
type = enum en {A, B}
>> ptype vi
type = volatile int
>> whatis vi
type = volatile int
>> ptype/o vi
type = volatile int
>> ptype s
type = const char * const
>> whatis s
type = const char * const
>> ptype/o s
type = const char * const
>> ptype big
type = __int128
>> whatis big
type = __int128
>> ptype/o big
type = __int128
>> ptype b
type = _Bool
>> whatis b
type = _Bool
>> ptype/o b
type = _Bool
>> ptype cf
type = complex float
>> whatis cf
type = complex float
>> ptype/o cf
type = complex float
>> ptype op
type = struct opaque {
    <incomplete type>
} *
>> whatis op
type = struct opaque *
>> ptype *op
type = struct opaque {
    <incomplete type>
}
>> whatis *op
type = struct opaque
>> ptype n.u
type = union {
    int a;
    float b;
}
>> whatis n.u
type = union {...}
>> ptype/o n.u
/* offset      |    size */  type = union {
/*                     4 */    int a;
/*                     4 */    float b;

                               /* total size (bytes):    4 */
                             }
>> ptype n.e
type = enum {X, Y = 4}
>> whatis n.e
type = enum {...}
>> ptype/o n.e
type = enum {X, Y = 4}
>> ptype &n
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
} *
>> whatis &n
type = node_t *
>> ptype/o &n
type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             } *
>> ptype &np
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
} **
>> whatis &np
type = struct node **
>> ptype/o &np
type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             } **
>> ptype struct flex
type = struct flex {
    int n;
    struct node items[];
}
>> whatis struct flex
type = struct flex
>> ptype/o struct flex
/* offset      |    size */  type = struct flex {
/*      0      |       4 */    int n;
/* XXX  4-byte hole      */
/*      8      |       0 */    struct node items[];

                               /* total size (bytes):    8 */
                             }
>> ptype node_t *
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
} *
>> whatis node_t *
type = node_t *
>> ptype/o node_t *
type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             } *
>> ptype struct node **
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
} **
>> whatis struct node **
type = struct node **
>> ptype/o struct node **
type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             } **
>> ptype unsigned int
type = unsigned int
>> whatis unsigned int
type = unsigned int
>> ptype/o unsigned int
type = unsigned int
>> ptype np->next
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
} *
>> whatis np->next
type = struct node *
>> ptype/o np->next
type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             } *
>> ptype np->next->u
type = union {
    int a;
    float b;
}
>> whatis np->next->u
type = union {...}
>> ptype/o np->next->u
/* offset      |    size */  type = union {
/*                     4 */    int a;
/*                     4 */    float b;

                               /* total size (bytes):    4 */
                             }
>> ptype *np
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
}
>> whatis *np
type = struct node
>> ptype/o *np
/* offset      |    size */  type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             }
>> ptype cmp
type = int (*)(const void *, const void *)
>> whatis cmp
type = int (*)(const void *, const void *)
>> ptype/o cmp
type = int (*)(const void *, const void *)
>> ptype arr[0]
type = struct node {
    int v;
    struct node *next;
    enum {X, Y = 4} e;
    union {
        int a;
        float b;
    } u;
    struct {
        char c;
        long d;
    };
    unsigned int f : 3;
}
>> whatis arr[0]
type = node_t
>> ptype/o arr[0]
type = struct node {
/*      0      |       4 */    int v;
/* XXX  4-byte hole      */
/*      8      |       8 */    struct node *next;
/*     16      |       4 */    enum {X, Y = 4} e;
/*     20      |       4 */    union {
/*                     4 */        int a;
/*                     4 */        float b;

                                   /* total size (bytes):    4 */
                               } u;
/*     24      |      16 */    struct {
/*     24      |       1 */        char c;
/* XXX  7-byte hole      */
/*     32      |       8 */        long d;

                                   /* total size (bytes):   16 */
                               };
/*     40: 0   |       4 */    unsigned int f : 3;
/* XXX  5-bit padding    */
/* XXX  7-byte padding   */

                               /* total size (bytes):   48 */
                             }
>> ptype (char)1
type = char
>> whatis (char)1
type = char
>> ptype/o (char)1
type = char
>> ptype 1 ? 2 : 3
type = int
>> whatis 1 ? 2 : 3
type = int
>> ptype/o 1 ? 2 : 3
type = int
>> ptype 1.0f
type = float
>> whatis 1.0f
type = float
>> ptype/o 1.0f
type = float
>> ptype 'a'
type = char
>> whatis 'a'
type = char
>> ptype/o 'a'
type = char
>> ptype "abc"
type = char [4]
>> whatis "abc"
type = char [4]
>> ptype/o "abc"
type = char [4]
