>> ptype/o Empty
/* offset      |    size */  type = struct Empty {
                               <no data fields>

                               /* total size (bytes):    1 */
                             }
>> ptype/o One
/* offset      |    size */  type = struct One {
/*      0      |       1 */    char c;

                               /* total size (bytes):    1 */
                             }
>> ptype/o Hole
/* offset      |    size */  type = struct Hole {
/*      0      |       1 */    char a;
/* XXX  3-byte hole      */
/*      4      |       4 */    int b;

                               /* total size (bytes):    8 */
                             }
>> ptype/o Holes
/* offset      |    size */  type = struct Holes {
/*      0      |       1 */    char a;
/* XXX  7-byte hole      */
/*      8      |       8 */    long b;
/*     16      |       2 */    short c;
/* XXX  6-byte hole      */
/*     24      |       8 */    long d;

                               /* total size (bytes):   32 */
                             }
>> ptype/o Tail
/* offset      |    size */  type = struct Tail {
/*      0      |       8 */    long a;
/*      8      |       1 */    char b;
/* XXX  7-byte padding   */

                               /* total size (bytes):   16 */
                             }
>> ptype/o Bits
/* offset      |    size */  type = struct Bits {
/*      0: 0   |       4 */    unsigned int a : 3;
/*      0: 3   |       4 */    unsigned int b : 5;
/*      1: 0   |       4 */    unsigned int c : 8;
/* XXX  2-byte hole      */
/*      4      |       4 */    int d;

                               /* total size (bytes):    8 */
                             }
>> ptype/o BitHole
/* offset      |    size */  type = struct BitHole {
/*      0: 0   |       4 */    unsigned int a : 3;
/* XXX  4-bit hole       */
/*      0: 7   |       4 */    unsigned int b : 5;
/* XXX  4-bit padding    */
/* XXX  2-byte padding   */

                               /* total size (bytes):    4 */
                             }
>> ptype/o BitEnd
/* offset      |    size */  type = struct BitEnd {
/*      0      |       4 */    int a;
/*      4: 0   |       4 */    unsigned int b : 3;
/* XXX  5-bit padding    */
/* XXX  3-byte padding   */

                               /* total size (bytes):    8 */
                             }
>> ptype/o BitZero
/* offset      |    size */  type = struct BitZero {
/*      0: 0   |       1 */    char a : 2;
/* XXX  6-bit hole       */
/* XXX  3-byte hole      */
/*      4: 0   |       1 */    char b : 3;
/* XXX  5-bit hole       */
/*      5      |       1 */    char c;

                               /* total size (bytes):    6 */
                             }
>> ptype/o BitLong
/* offset      |    size */  type = struct BitLong {
/*      0: 0   |       8 */    int64_t a : 40;
/*      5: 0   |       8 */    int64_t b : 20;
/* XXX  4-bit hole       */
/*      8: 0   |       8 */    int64_t c : 10;
/* XXX  6-bit padding    */
/* XXX  6-byte padding   */

                               /* total size (bytes):   16 */
                             }
>> ptype/o BitByte
/* offset      |    size */  type = struct BitByte {
/*      0: 0   |       1 */    unsigned char a : 4;
/*      0: 4   |       1 */    unsigned char b : 4;
/*      1      |       1 */    char c;
/*      2: 0   |       2 */    unsigned short d : 9;
/* XXX  7-bit padding    */

                               /* total size (bytes):    4 */
                             }
>> ptype/o BitAfterHole
/* offset      |    size */  type = struct BitAfterHole {
/*      0      |       1 */    char a;
/*      1: 0   |       4 */    unsigned int b : 7;
/* XXX  1-bit hole       */
/* XXX  6-byte hole      */
/*      8      |       8 */    long c;

                               /* total size (bytes):   16 */
                             }
>> ptype/o Inner
/* offset      |    size */  type = struct Inner {
/*      0      |       4 */    int x;
/*      4      |       1 */    char y;
/* XXX  3-byte padding   */

                               /* total size (bytes):    8 */
                             }
>> ptype/o Outer
/* offset      |    size */  type = struct Outer {
/*      0      |       1 */    char a;
/* XXX  3-byte hole      */
/*      4      |       8 */    struct Inner {
/*      4      |       4 */        int x;
/*      8      |       1 */        char y;
/* XXX  3-byte padding   */

                                   /* total size (bytes):    8 */
                               } in;
/*     12      |       1 */    char b;
/* XXX  3-byte padding   */

                               /* total size (bytes):   16 */
                             }
>> ptype/o Deep
/* offset      |    size */  type = struct Deep {
/*      0      |      16 */    struct Outer {
/*      0      |       1 */        char a;
/* XXX  3-byte hole      */
/*      4      |       8 */        struct Inner {
/*      4      |       4 */            int x;
/*      8      |       1 */            char y;
/* XXX  3-byte padding   */

                                       /* total size (bytes):    8 */
                                   } in;
/*     12      |       1 */        char b;
/* XXX  3-byte padding   */

                                   /* total size (bytes):   16 */
                               } o;
/*     16      |      24 */    struct {
/*     16      |       4 */        int p;
/* XXX  4-byte hole      */
/*     24      |      16 */        struct {
/*     24      |       1 */            char q;
/* XXX  7-byte hole      */
/*     32      |       8 */            double r;

                                       /* total size (bytes):   16 */
                                   } s;

                                   /* total size (bytes):   24 */
                               } anonymous;
/*     40      |       8 */    struct Inner {
/*     40      |       4 */        int x;
/*     44      |       1 */        char y;
/* XXX  3-byte padding   */

                                   /* total size (bytes):    8 */
                               } last;

                               /* total size (bytes):   48 */
                             }
>> ptype/o Union
/* offset      |    size */  type = union Union {
/*                     4 */    int i;
/*                     8 */    double d;
/*                    12 */    char text[12];

                               /* total size (bytes):   16 */
                             }
>> ptype/o UnionOfStructs
/* offset      |    size */  type = union UnionOfStructs {
/*                     8 */    struct Inner {
/*      0      |       4 */        int x;
/*      4      |       1 */        char y;
/* XXX  3-byte padding   */

                                   /* total size (bytes):    8 */
                               } in;
/*                    16 */    struct {
/*      0      |       2 */        short s;
/* XXX  6-byte hole      */
/*      8      |       8 */        long l;

                                   /* total size (bytes):   16 */
                               } raw;
/*                     1 */    char c;

                               /* total size (bytes):   16 */
                             }
>> ptype/o WithUnion
/* offset      |    size */  type = struct WithUnion {
/*      0      |       4 */    int kind;
/* XXX  4-byte hole      */
/*      8      |       8 */    union {
/*                     4 */        int i;
/*                     8 */        double d;

                                   /* total size (bytes):    8 */
                               };
/*     16      |       1 */    char end;
/* XXX  7-byte padding   */

                               /* total size (bytes):   24 */
                             }
>> ptype/o WithNamedUnion
/* offset      |    size */  type = struct WithNamedUnion {
/*      0      |       1 */    char kind;
/* XXX  7-byte hole      */
/*      8      |      16 */    union Union {
/*                     4 */        int i;
/*                     8 */        double d;
/*                    12 */        char text[12];
/* XXX  8-byte padding   */

                                   /* total size (bytes):   16 */
                               } u;
/*     24      |       4 */    int after;
/* XXX  4-byte padding   */

                               /* total size (bytes):   32 */
                             }
>> ptype/o Static
/* offset      |    size */  type = struct Static {
/*      0      |       4 */    int a;
                               static int count;
                               static Inner shared;
/*      4      |       1 */    char b;
/* XXX  3-byte padding   */

                               /* total size (bytes):    8 */
                             }
>> ptype/o Private
/* offset      |    size */  type = class Private {
                             private:
/*      0      |       4 */    int a;
/*      4      |       1 */    char b;
                             public:
/* XXX  3-byte hole      */
/*      8      |       4 */    int c;
                             protected:
/* XXX  4-byte hole      */
/*     16      |       8 */    long d;

                               /* total size (bytes):   24 */
                             }
>> ptype/o Methods
/* offset      |    size */  type = struct Methods {
                             public:
/*      8      |       4 */    int a;
/* XXX  4-byte padding   */

                               /* total size (bytes):   16 */
                             }
>> ptype/o Base
/* offset      |    size */  type = struct Base {
/*      0      |       4 */    int b;
/*      4      |       1 */    char c;
/* XXX  3-byte padding   */

                               /* total size (bytes):    8 */
                             }
>> ptype/o Derived
/* offset      |    size */  type = struct Derived : public Base {
/*      8      |       1 */    char d;
/* XXX  7-byte hole      */
/*     16      |       8 */    long e;

                               /* total size (bytes):   24 */
                             }
>> ptype/o Multi
/* offset      |    size */  type = class Multi : public Base, private Second {
/*     16      |       4 */    int m;
/* XXX  4-byte padding   */

                               /* total size (bytes):   24 */
                             }
>> ptype/o VBase
/* offset      |    size */  type = struct VBase {
                             public:
/*      8      |       4 */    int v;
/* XXX  4-byte padding   */

                               /* total size (bytes):   16 */
                             }
>> ptype/o Virtual
/* offset      |    size */  type = struct Virtual : public virtual VBase {
                             public:
/*      8      |       4 */    int w;
/* XXX 20-byte padding   */

                               /* total size (bytes):   32 */
                             }
>> ptype/o Pointers
/* offset      |    size */  type = struct Pointers {
/*      0      |       8 */    int *p;
/*      8      |       8 */    char **q;
/*     16      |       8 */    int (*f)(int, const char *);
/*     24      |       8 */    int Inner::*m;
/*     32      |      16 */    int (Methods::*mf)(const Methods * const, int, char *);
/*     48      |       8 */    int &r;
/*     56      |       8 */    int &&rr;

                               /* total size (bytes):   64 */
                             }
>> ptype/o Arrays
/* offset      |    size */  type = struct Arrays {
/*      0      |      12 */    int a[3];
/*     12      |      10 */    char b[2][5];
/* XXX  2-byte hole      */
/*     24      |      16 */    Inner in[2];
/*     40      |      32 */    Inner *ptrs[4];
/*     72      |       3 */    char tail[3];
/* XXX  5-byte padding   */

                               /* total size (bytes):   80 */
                             }
>> ptype/o Flexible
/* offset      |    size */  type = struct Flexible {
/*      0      |       4 */    int n;
/*      4      |       0 */    char data[];

                               /* total size (bytes):    4 */
                             }
>> ptype/o Qualified
/* offset      |    size */  type = struct Qualified {
/*      0      |       4 */    const int a;
/*      4      |       1 */    volatile char b;
/* XXX  3-byte hole      */
/*      8      |       8 */    const char * const c;
/*     16      |       8 */    int * __restrict__ d;

                               /* total size (bytes):   24 */
                             }
>> ptype/o Color
type = enum Color : unsigned int {RED, GREEN = 5, BLUE}
>> ptype/o Enums
/* offset      |    size */  type = struct Enums {
/*      0      |       4 */    Color c;
/*      4      |       1 */    Mode m;
/* XXX  3-byte hole      */
/*      8      |       4 */    Enums::Local l;

                               /* total size (bytes):   12 */
                             }
>> ptype/o Typedefs
/* offset      |    size */  type = struct Typedefs {
/*      0      |       4 */    number n;
/* XXX  4-byte hole      */
/*      8      |       8 */    pointer p;
/*     16      |       4 */    hidden h;
/* XXX  4-byte padding   */

                               /* total size (bytes):   24 */
                             }
>> ptype/o Template<int, 3>
/* offset      |    size */  type = struct Template<int, 3> [with T = int] {
/*      0      |       4 */    T value;
/*      4      |      12 */    T items[3];
/*     16      |       4 */    T count;

                               /* total size (bytes):   20 */
                             }
>> ptype/o Template<Inner*, 1>
/* offset      |    size */  type = struct Template<Inner*, 1> [with T = Inner *] {
/*      0      |       8 */    T value;
/*      8      |       8 */    Inner *items[1];
/*     16      |       4 */    int count;
/* XXX  4-byte padding   */

                               /* total size (bytes):   24 */
                             }
>> ptype/o Pack<int, char>
/* offset      |    size */  type = struct Pack<int, char> {
/*      0      |       1 */    char c;

                               /* total size (bytes):    1 */
                             }
>> ptype/o Packed
/* offset      |    size */  type = struct Packed {
/*      0      |       1 */    char a;
/*      1      |       8 */    long b;
/*      9      |       2 */    short c;

                               /* total size (bytes):   11 */
                             }
>> ptype/o Aligned
/* offset      |    size */  type = struct Aligned {
/*      0      |       4 */    int a;
/* XXX 28-byte padding   */

                               /* total size (bytes):   32 */
                             }
>> ptype/o AlignedMember
/* offset      |    size */  type = struct AlignedMember {
/*      0      |       1 */    char a;
/* XXX 15-byte hole      */
/*     16      |       4 */    int b;
/*     20      |       1 */    char c;
/* XXX 11-byte padding   */

                               /* total size (bytes):   32 */
                             }
>> ptype/o HasEmpty
/* offset      |    size */  type = struct HasEmpty {
/*      0      |       1 */    struct Empty {
                                   <no data fields>

                                   /* total size (bytes):    1 */
                               } e;
/* XXX  3-byte hole      */
/*      4      |       4 */    int a;
/*      8      |       1 */    struct Empty {
                                   <no data fields>

                                   /* total size (bytes):    1 */
                               } f;
/* XXX  3-byte padding   */

                               /* total size (bytes):   12 */
                             }
>> ptype/o DerivedEmpty
/* offset      |    size */  type = struct DerivedEmpty : public Empty {
/*      0      |       4 */    int a;

                               /* total size (bytes):    4 */
                             }
>> ptype/o Nested
/* offset      |    size */  type = struct Nested {
/*      0      |       8 */    struct Nested::In {
/*      0      |       4 */        int a;
/*      4      |       1 */        struct Nested::In::Deeper {
/*      4      |       1 */            char b;

                                       /* total size (bytes):    1 */
                                   } d;
/* XXX  3-byte padding   */

                                   /* total size (bytes):    8 */
                               } in;
/*      8      |       4 */    union Nested::Un {
/*                     4 */        int x;

                                   /* total size (bytes):    4 */
                               } un;
/*     12      |       4 */    Nested::En en;
/*     16      |       4 */    int z;

                               /* total size (bytes):   20 */
                             }
>> ptype/o Recursive
/* offset      |    size */  type = struct Recursive {
/*      0      |       8 */    Recursive *next;
/*      8      |       8 */    Undefined *unknown;

                               /* total size (bytes):   16 */
                             }
>> ptype/o Floats
/* offset      |    size */  type = struct Floats {
/*      0      |       4 */    float f;
/* XXX  4-byte hole      */
/*      8      |       8 */    double d;
/*     16      |      16 */    long double l;
/*     32      |       1 */    bool b;
/* XXX  3-byte hole      */
/*     36      |       4 */    wchar_t w;
/*     40      |       2 */    char16_t u;
/* XXX  6-byte padding   */

                               /* total size (bytes):   48 */
                             }
>> ptype/o Wide
/* offset      |    size */  type = struct Wide {
/*      0      |      16 */    __int128 i;
/*     16      |      16 */    complex double c;

                               /* total size (bytes):   32 */
                             }
>> ptype/o OuterAlias
type = struct Outer {
/*      0      |       1 */    char a;
/* XXX  3-byte hole      */
/*      4      |       8 */    struct Inner {
/*      4      |       4 */        int x;
/*      8      |       1 */        char y;
/* XXX  3-byte padding   */

                                   /* total size (bytes):    8 */
                               } in;
/*     12      |       1 */    char b;
/* XXX  3-byte padding   */

                               /* total size (bytes):   16 */
                             }
>> ptype/o InnerPointer
type = const struct Inner {
/*      0      |       4 */    int x;
/*      4      |       1 */    char y;
/* XXX  3-byte padding   */

                               /* total size (bytes):    8 */
                             } *
>> ptype Empty
type = struct Empty {
    <no data fields>
}
>> ptype One
type = struct One {
    char c;
}
>> ptype Hole
type = struct Hole {
    char a;
    int b;
}
>> ptype Holes
type = struct Holes {
    char a;
    long b;
    short c;
    long d;
}
>> ptype Tail
type = struct Tail {
    long a;
    char b;
}
>> ptype Bits
type = struct Bits {
    unsigned int a : 3;
    unsigned int b : 5;
    unsigned int c : 8;
    int d;
}
>> ptype BitHole
type = struct BitHole {
    unsigned int a : 3;
    unsigned int b : 5;
}
>> ptype BitEnd
type = struct BitEnd {
    int a;
    unsigned int b : 3;
}
>> ptype BitZero
type = struct BitZero {
    char a : 2;
    char b : 3;
    char c;
}
>> ptype BitLong
type = struct BitLong {
    int64_t a : 40;
    int64_t b : 20;
    int64_t c : 10;
}
>> ptype BitByte
type = struct BitByte {
    unsigned char a : 4;
    unsigned char b : 4;
    char c;
    unsigned short d : 9;
}
>> ptype BitAfterHole
type = struct BitAfterHole {
    char a;
    unsigned int b : 7;
    long c;
}
>> ptype Inner
type = struct Inner {
    int x;
    char y;
}
>> ptype Outer
type = struct Outer {
    char a;
    Inner in;
    char b;
}
>> ptype Deep
type = struct Deep {
    Outer o;
    struct {
        int p;
        struct {...} s;
    } anonymous;
    Inner last;
}
>> ptype Union
type = union Union {
    int i;
    double d;
    char text[12];
}
>> ptype UnionOfStructs
type = union UnionOfStructs {
    Inner in;
    struct {
        short s;
        long l;
    } raw;
    char c;
}
>> ptype WithUnion
type = struct WithUnion {
    int kind;
    union {
        int i;
        double d;
    };
    char end;
}
>> ptype WithNamedUnion
type = struct WithNamedUnion {
    char kind;
    Union u;
    int after;
}
>> ptype Static
type = struct Static {
    int a;
    static int count;
    static Inner shared;
    char b;
}
>> ptype Private
type = class Private {
  private:
    int a;
    char b;
  public:
    int c;
  protected:
    long d;

  public:
    Private(void);
    int get(void) const;
}
>> ptype Methods
type = struct Methods {
  public:
    int a;

    Methods(void);
    Methods(int);
    ~Methods(void);
    int f(int, char *) const;
    static int g(void);
    virtual void v(void);
    void w(void) volatile;
    Methods & operator=(const Methods &);
    operator int(void) const;
    void h(...);
    int t<int>(int);
}
>> ptype Base
type = struct Base {
    int b;
    char c;
}
>> ptype Derived
type = struct Derived : public Base {
    char d;
    long e;
}
>> ptype Multi
type = class Multi : public Base, private Second {
    int m;
}
>> ptype VBase
type = struct VBase {
  public:
    int v;

    ~VBase(void);
}
>> ptype Virtual
type = struct Virtual : public virtual VBase {
  public:
    int w;
}
>> ptype Pointers
type = struct Pointers {
    int *p;
    char **q;
    int (*f)(int, const char *);
    int Inner::*m;
    int (Methods::*mf)(const Methods * const, int, char *);
    int &r;
    int &&rr;
}
>> ptype Arrays
type = struct Arrays {
    int a[3];
    char b[2][5];
    Inner in[2];
    Inner *ptrs[4];
    char tail[3];
}
>> ptype Flexible
type = struct Flexible {
    int n;
    char data[];
}
>> ptype Qualified
type = struct Qualified {
    const int a;
    volatile char b;
    const char * const c;
    int * __restrict__ d;
}
>> ptype Color
type = enum Color : unsigned int {RED, GREEN = 5, BLUE}
>> ptype Enums
type = struct Enums {
    Color c;
    Mode m;
    Enums::Local l;
}
>> ptype Typedefs
type = struct Typedefs {
    number n;
    pointer p;
    hidden h;

    typedef int number;
    typedef Inner *pointer;
    typedef Typedefs::hidden hidden;
}
>> ptype Template<int, 3>
type = struct Template<int, 3> [with T = int] {
    T value;
    T items[3];
    T count;
}
>> ptype Template<Inner*, 1>
type = struct Template<Inner*, 1> [with T = Inner *] {
    T value;
    Inner *items[1];
    int count;
}
>> ptype Pack<int, char>
type = struct Pack<int, char> {
    char c;
}
>> ptype Packed
type = struct Packed {
    char a;
    long b;
    short c;
}
>> ptype Aligned
type = struct Aligned {
    int a;
}
>> ptype AlignedMember
type = struct AlignedMember {
    char a;
    int b;
    char c;
}
>> ptype HasEmpty
type = struct HasEmpty {
    Empty e;
    int a;
    Empty f;
}
>> ptype DerivedEmpty
type = struct DerivedEmpty : public Empty {
    int a;
}
>> ptype Nested
type = struct Nested {
    Nested::In in;
    Nested::Un un;
    Nested::En en;
    int z;
}
>> ptype Recursive
type = struct Recursive {
    Recursive *next;
    Undefined *unknown;
}
>> ptype Floats
type = struct Floats {
    float f;
    double d;
    long double l;
    bool b;
    wchar_t w;
    char16_t u;
}
>> ptype Wide
type = struct Wide {
    __int128 i;
    complex double c;
}
>> ptype OuterAlias
type = struct Outer {
    char a;
    Inner in;
    char b;
}
>> ptype InnerPointer
type = const struct Inner {
    int x;
    char y;
} *
>> ptype/mt Methods
type = struct Methods {
  public:
    int a;
}
>> ptype/t Typedefs
type = struct Typedefs {
    number n;
    pointer p;
    hidden h;
}
>> ptype/m Typedefs
type = struct Typedefs {
    number n;
    pointer p;
    hidden h;

    typedef int number;
    typedef Inner *pointer;
    typedef Typedefs::hidden hidden;
}
>> ptype/r Typedefs
type = struct Typedefs {
    Typedefs::number n;
    Typedefs::pointer p;
    Typedefs::hidden h;

    typedef int number;
    typedef Inner *pointer;
    typedef Typedefs::hidden hidden;
}
>> ptype/r Template<int, 3>
type = struct Template<int, 3> {
    int value;
    int items[3];
    int count;
}
>> ptype/ox Holes
/* offset      |    size */  type = struct Holes {
/* 0x0000      |  0x0001 */    char a;
/* XXX  7-byte hole      */
/* 0x0008      |  0x0008 */    long b;
/* 0x0010      |  0x0002 */    short c;
/* XXX  6-byte hole      */
/* 0x0018      |  0x0008 */    long d;

                               /* total size (bytes):   32 */
                             }
>> ptype/xo Bits
/* offset      |    size */  type = struct Bits {
/* 0x0000: 0x0 |  0x0004 */    unsigned int a : 3;
/* 0x0000: 0x3 |  0x0004 */    unsigned int b : 5;
/* 0x0001: 0x0 |  0x0004 */    unsigned int c : 8;
/* XXX  2-byte hole      */
/* 0x0004      |  0x0004 */    int d;

                               /* total size (bytes):    8 */
                             }
>> ptype/od Holes
/* offset      |    size */  type = struct Holes {
/*      0      |       1 */    char a;
/* XXX  7-byte hole      */
/*      8      |       8 */    long b;
/*     16      |       2 */    short c;
/* XXX  6-byte hole      */
/*     24      |       8 */    long d;

                               /* total size (bytes):   32 */
                             }
>> ptype/oM Methods
/* offset      |    size */  type = struct Methods {
                             public:
/*      8      |       4 */    int a;

                               Methods(void);
                               Methods(int);
                               ~Methods(void);
                               int f(int, char *) const;
                               static int g(void);
                               virtual void v(void);
                               void w(void) volatile;
                               Methods & operator=(const Methods &);
                               operator int(void) const;
                               void h(...);
                               int t<int>(int);
/* XXX  4-byte padding   */

                               /* total size (bytes):   16 */
                             }
>> ptype/oT Typedefs
/* offset      |    size */  type = struct Typedefs {
/*      0      |       4 */    number n;
/* XXX  4-byte hole      */
/*      8      |       8 */    pointer p;
/*     16      |       4 */    hidden h;

                               typedef int number;
                               typedef Inner *pointer;
                               typedef Typedefs::hidden hidden;
/* XXX  4-byte padding   */

                               /* total size (bytes):   24 */
                             }
>> ptype/o outer
/* offset      |    size */  type = struct Outer {
/*      0      |       1 */    char a;
/* XXX  3-byte hole      */
/*      4      |       8 */    struct Inner {
/*      4      |       4 */        int x;
/*      8      |       1 */        char y;
/* XXX  3-byte padding   */

                                   /* total size (bytes):    8 */
                               } in;
/*     12      |       1 */    char b;
/* XXX  3-byte padding   */

                               /* total size (bytes):   16 */
                             }
>> ptype/o &outer
type = struct Outer {
/*      0      |       1 */    char a;
/* XXX  3-byte hole      */
/*      4      |       8 */    struct Inner {
/*      4      |       4 */        int x;
/*      8      |       1 */        char y;
/* XXX  3-byte padding   */

                                   /* total size (bytes):    8 */
                               } in;
/*     12      |       1 */    char b;
/* XXX  3-byte padding   */

                               /* total size (bytes):   16 */
                             } *
>> ptype/o outer.in
/* offset      |    size */  type = struct Inner {
/*      0      |       4 */    int x;
/*      4      |       1 */    char y;
/* XXX  3-byte padding   */

                               /* total size (bytes):    8 */
                             }
>> ptype/o int
type = int
>> ptype/o Color
type = enum Color : unsigned int {RED, GREEN = 5, BLUE}
>> ptype/o arrays.in
type = struct Inner {
/*      0      |       4 */    int x;
/*      4      |       1 */    char y;
/* XXX  3-byte padding   */

                               /* total size (bytes):    8 */
                             } [2]
>> ptype function
type = int (*)(int, const char *, ...)
>> ptype method
type = int (Methods::*)(const Methods * const, int, char *)
>> ptype member
type = int Inner::*
>> ptype *function
type = int (int, const char *, ...)
>> ptype matrix
type = int [2][3]
>> ptype matrix[0]
type = int [3]
>> ptype flexible
type = struct Flexible {
    int n;
    char data[];
}
>> ptype main
type = int (void)
>> ptype ref
No symbol "ref" in current context.
>> ptype 1+2
type = int
>> ptype sizeof(int)
type = int
>> ptype outer.in.x + 1.5
type = double
>> ptype &outer
type = struct Outer {
    char a;
    Inner in;
    char b;
} *
>> ptype 'Outer'
type = struct Outer {
    char a;
    Inner in;
    char b;
}
>> ptype struct Outer
type = struct Outer {
    char a;
    Inner in;
    char b;
}
>> ptype union Union
type = union Union {
    int i;
    double d;
    char text[12];
}
>> ptype enum Color
type = enum Color : unsigned int {RED, GREEN = 5, BLUE}
>> ptype unsigned long
type = unsigned long
>> ptype int*
type = int *
>> ptype int(*)[3]
type = int (*)[3]
>> ptype nosuch
No symbol "nosuch" in current context.
>> ptype struct nosuch
No struct type named nosuch.
>> whatis OuterAlias
type = Outer
>> whatis alias
type = OuterAlias
>> whatis InnerPointer
type = const Inner *
>> whatis inner_pointer
type = InnerPointer
>> whatis struct Outer
type = Outer
>> whatis Typedefs::number
type = int
>> whatis typedefs.n
type = Typedefs::number
>> whatis typedefs.p
type = Typedefs::pointer
>> whatis nested.in
type = Nested::In
>> whatis typedefs.h
type = Typedefs::hidden
>> whatis Typedefs::hidden
type = Typedefs::hidden
>> ptype Typedefs::hidden
type = struct Typedefs::hidden {
    int q;
}
>> ptype Nested::In
type = struct Nested::In {
    int a;
    Nested::In::Deeper d;
}
>> ptype nested.in.d
type = struct Nested::In::Deeper {
    char b;
}
>> ptype Nested::En
type = enum Nested::En : unsigned int {Nested::P}
>> ptype/z int
unrecognized flag 'z'
>> ptype/o
expected space after format
>> set print type methods off
>> ptype Methods
type = struct Methods {
  public:
    int a;
}
>> set print type methods on
>> set print type typedefs off
>> ptype Typedefs
type = struct Typedefs {
    number n;
    pointer p;
    hidden h;
}
>> set print type typedefs on
>> set print type nested-type-limit 1
>> ptype Nested
type = struct Nested {
    Nested::In in;
    Nested::Un un;
    Nested::En en;
    int z;

    struct Nested::In {
        int a;
        Nested::In::Deeper d;
    };
    union Nested::Un {
        int x;
    };
    enum Nested::En : unsigned int {Nested::P};
}
>> set print type nested-type-limit 2
>> ptype Nested
type = struct Nested {
    Nested::In in;
    Nested::Un un;
    Nested::En en;
    int z;

    struct Nested::In {
        int a;
        Nested::In::Deeper d;

        struct Nested::In::Deeper {
            char b;
        };
    };
    union Nested::Un {
        int x;
    };
    enum Nested::En : unsigned int {Nested::P};
}
>> set print type nested-type-limit unlimited
>> ptype Nested
type = struct Nested {
    Nested::In in;
    Nested::Un un;
    Nested::En en;
    int z;

    struct Nested::In {
        int a;
        Nested::In::Deeper d;

        struct Nested::In::Deeper {
            char b;
        };
    };
    union Nested::Un {
        int x;
    };
    enum Nested::En : unsigned int {Nested::P};
}
>> set print type hex on
>> ptype/o Holes
/* offset      |    size */  type = struct Holes {
/* 0x0000      |  0x0001 */    char a;
/* XXX  7-byte hole      */
/* 0x0008      |  0x0008 */    long b;
/* 0x0010      |  0x0002 */    short c;
/* XXX  6-byte hole      */
/* 0x0018      |  0x0008 */    long d;

                               /* total size (bytes):   32 */
                             }
>> show print type hex
Display of struct members offsets and sizes in hexadecimal is on
>> show print type methods
Printing of methods defined in a class in on
>> show print type typedefs
Printing of typedefs defined in a class in on
>> show print type nested-type-limit
Will print unlimited nested types defined in a class
