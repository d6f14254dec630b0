#[inline(never)] fn s(a: i32) -> &'static str { if a > 0 { "hello" } else { "x" } }
#[inline(never)] fn t(a: i32) -> (i32, i32) { (a, a + 1) }
#[inline(never)] fn f(a: f64) -> f64 { a * 2.0 }
#[inline(never)] fn st(a: i32) -> String { format!("{}", a) }
#[inline(never)] fn o(a: u32) -> Option<u32> { Some(a) }
#[inline(never)] fn m(a: u8) -> (u8, f64) { (a, 2.5) }
fn main() { let x = s(1); let y = t(2); let z = f(1.5); let w = st(5); let q = o(4); let r = m(7); println!("{}{:?}{}{}{:?}{:?}", x, y, z, w, q, r); }
