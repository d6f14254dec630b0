// Types of Rust, for "ptype".
struct P { a: u32, b: u64, c: Q }
struct Q(u8, i64);
struct Unit;
union U { a: u32, b: f32 }
enum E { A, B(u32), C { x: u8, y: u64 } }
#[derive(Clone, Copy)] enum F { One = 1, Two = 2 }
#[inline(never)] fn stop(x: u64) -> u64 { std::hint::black_box(x) }
fn main() { let p = P { a: 1, b: 2, c: Q(1, 2) }; let u = U { a: 1 }; let e = E::C { x: 1, y: 2 }; let f = F::Two; let un = Unit; let t = (1u8, 2u32); let arr = [1u16; 3]; let sl = &arr[..]; let r = &p; let bx = Box::new(5); let es = [E::A, E::B(4)];
  stop(p.b + unsafe { u.a } as u64 + f as u64 + t.1 as u64 + sl.len() as u64 + r.b + *bx); let _ = (&e, &un, &es, F::One); println!("{}", p.c.0 as i64 + p.c.1); if let E::C { x, y } = e { stop(x as u64 + y); } }
