>> ptype rusty::P
type = struct rusty::P {
  a: u32,
  b: u64,
  c: rusty::Q,
}
>> whatis rusty::P
type = rusty::P
>> ptype/o rusty::P
/* offset      |    size */  type = struct rusty::P {
/*      0      |      16 */    c: rusty::Q,
/*     16      |       8 */    b: u64,
/*     24      |       4 */    a: u32,
/* XXX  4-byte padding   */

                               /* total size (bytes):   32 */
                             }
>> ptype rusty::E
type = enum rusty::E {
  A,
  B(u32),
  C{x: u8, y: u64},
}
>> whatis rusty::E
type = rusty::E
>> ptype/o rusty::E
/* offset      |    size */  type = enum rusty::E {
/*      0      |      16 */    A,
/*      0      |      16 */    B (
/*      4      |       4 */        u32,
/* XXX  8-byte padding   */

                                   /* total size (bytes):   16 */
                               ),
/*      0      |      16 */    C {
/*      1      |       1 */        x: u8,
/* XXX  6-byte hole      */
/*      8      |       8 */        y: u64,

                                   /* total size (bytes):   16 */
                               },

                               /* total size (bytes):   16 */
                             }
>> ptype rusty::F
type = enum rusty::F {
  One,
  Two,
}
>> whatis rusty::F
type = rusty::F
>> ptype/o rusty::F
type = enum rusty::F {
  One,
  Two,
}
>> ptype rusty::Q
type = struct rusty::Q (
  u8,
  i64,
)
>> whatis rusty::Q
type = rusty::Q
>> ptype/o rusty::Q
/* offset      |    size */  type = struct rusty::Q (
/*      0      |       8 */    i64,
/*      8      |       1 */    u8,
/* XXX  7-byte padding   */

                               /* total size (bytes):   16 */
                             )
>> ptype rusty::U
type = union rusty::U {
  a: u32,
  b: f32,
}
>> whatis rusty::U
type = rusty::U
>> ptype/o rusty::U
/* offset      |    size */  type = union rusty::U {
/*                     4 */    a: u32,
/*                     4 */    b: f32,

                               /* total size (bytes):    4 */
                             }
>> ptype rusty::Unit
type = struct rusty::Unit
>> whatis rusty::Unit
type = rusty::Unit
>> ptype/o rusty::Unit
/* offset      |    size */  type = struct rusty::Unit
