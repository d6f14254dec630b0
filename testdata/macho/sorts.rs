//! Rust without std and without an allocator: sorting, hashing, matching, trait objects, closures, iterators, recursion,
//! text by core::fmt. `run` does the same work in every build and returns a sum that is the same in all of them.
#![no_std]
#![crate_type = "staticlib"]
#![allow(unused_unsafe)]

use core::fmt::{self, Write};
use core::hash::{Hash, Hasher};
use core::hint::black_box;

extern "C" {
    fn qsort(p: *mut u64, n: usize, size: usize, f: extern "C" fn(*const u64, *const u64) -> i32);
    fn exit(status: i32) -> !;
    fn abort() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { abort() }
}

// core was built for unwinding and names it.
#[no_mangle]
pub extern "C" fn rust_eh_personality() {
    unsafe { abort() }
}

/// FNV-1a.
struct Sum(u64);
impl Hasher for Sum {
    #[inline(never)]
    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.0 = (self.0 ^ *b as u64).wrapping_mul(0x100000001b3);
        }
    }
    fn finish(&self) -> u64 {
        self.0
    }
}
impl Write for Sum {
    #[inline(never)]
    fn write_str(&mut self, s: &str) -> fmt::Result {
        self.write(s.as_bytes());
        if s.len() > 60 { Err(fmt::Error) } else { Ok(()) }
    }
}

#[derive(Clone, Copy, Hash, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Shape {
    Point,
    Circle { radius: u32 },
    Square(u64),
    Box { a: u32, b: u32, c: u8 },
    Text(&'static str),
    Both(u16, Option<i64>),
}

#[inline(never)]
fn shape(n: u64) -> Shape {
    match n % 7 {
        0 => Shape::Point,
        1 => Shape::Circle { radius: n as u32 * 3 },
        2 => Shape::Square(n * n),
        3 => Shape::Box { a: n as u32, b: 7, c: (n % 5) as u8 },
        4 => Shape::Text(if n % 2 == 0 { "even" } else { "odd" }),
        5 => Shape::Both(n as u16, None),
        _ => Shape::Both(1, Some(-(n as i64))),
    }
}

#[inline(never)]
fn weigh(s: &Shape) -> Result<u64, &'static str> {
    Ok(match *s {
        Shape::Point => return Err("no area"),
        Shape::Circle { radius: r @ 0..=20 } => r as u64 * 3,
        Shape::Circle { radius } => radius as u64 * 22 / 7,
        Shape::Square(a) if a > 100 => a / 3,
        Shape::Square(a) => a,
        Shape::Box { a, b, c } => (a as u64).wrapping_mul(b as u64).wrapping_add(c as u64),
        Shape::Text(t) => t.bytes().map(u64::from).sum(),
        Shape::Both(x, Some(y)) => (x as i64 - y) as u64,
        Shape::Both(x, None) => x as u64,
    })
}

#[inline(never)]
fn weigh_two(a: &Shape, b: &Shape) -> Result<u64, &'static str> {
    Ok(weigh(a)? * 3 + weigh(b)?)
}

trait Visit {
    fn visit(&mut self, n: u64) -> u64;
    fn twice(&mut self, n: u64) -> u64 {
        self.visit(n) ^ self.visit(n + 1)
    }
}
struct Adds(u64);
struct Counts {
    seen: [u8; 64],
    count: u32,
}
impl Visit for Adds {
    #[inline(never)]
    fn visit(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(n);
        self.0
    }
}
impl Visit for Counts {
    #[inline(never)]
    fn visit(&mut self, n: u64) -> u64 {
        self.seen[n as usize % 64] += 1;
        self.count += (self.seen[n as usize % 64] == 2) as u32;
        self.count as u64
    }
}
impl Drop for Adds {
    #[inline(never)]
    fn drop(&mut self) {
        black_box(self.0);
    }
}

#[inline(never)]
fn dynamic(list: &mut [&mut dyn Visit], n: u64) -> u64 {
    list.iter_mut().fold(n, |sum, v| sum.wrapping_mul(31).wrapping_add(v.twice(sum % 100)))
}

#[inline(never)]
fn apply(f: &dyn Fn(u64) -> u64, n: u64) -> u64 {
    if n == 0 { 1 } else { f(n).wrapping_add(apply(f, n - 1)) }
}

#[inline(never)]
fn merge_sort<T: Copy + Ord>(v: &mut [T], room: &mut [T]) {
    let n = v.len();
    if n < 2 {
        return;
    }
    let (a, b) = v.split_at_mut(n / 2);
    merge_sort(a, room);
    merge_sort(b, room);
    let (mut i, mut k) = (0, 0);
    for slot in room[..n].iter_mut() {
        *slot = if k == b.len() || i < a.len() && a[i] <= b[k] {
            i += 1;
            a[i - 1]
        } else {
            k += 1;
            b[k - 1]
        };
    }
    v.copy_from_slice(&room[..n]);
}

#[inline(never)]
fn hanoi(n: u32, from: usize, to: usize, pegs: &mut [u64; 3]) -> u64 {
    if n == 0 {
        return 0;
    }
    let other = 3 - from - to;
    let a = hanoi(n - 1, from, other, pegs);
    pegs[from] ^= 1 << n;
    pegs[to] ^= 1 << n;
    a + 1 + hanoi(n - 1, other, to, pegs)
}

#[inline(never)]
fn parse(text: &[u8]) -> Option<i64> {
    fn sum(p: &mut &[u8]) -> Option<i64> {
        let mut v = product(p)?;
        while let [op @ (b'+' | b'-'), rest @ ..] = *p {
            *p = rest;
            let w = product(p)?;
            v = if *op == b'+' { v.checked_add(w)? } else { v.checked_sub(w)? };
        }
        Some(v)
    }
    fn product(p: &mut &[u8]) -> Option<i64> {
        let mut v = atom(p)?;
        while let [op @ (b'*' | b'/'), rest @ ..] = *p {
            *p = rest;
            let w = atom(p)?;
            v = if *op == b'*' { v.checked_mul(w)? } else { v.checked_div(w)? };
        }
        Some(v)
    }
    fn atom(p: &mut &[u8]) -> Option<i64> {
        match **p {
            [b'(', ref rest @ ..] => {
                *p = rest;
                let v = sum(p)?;
                *p = p.strip_prefix(b")")?;
                Some(v)
            }
            [b'-', ref rest @ ..] => {
                *p = rest;
                Some(-atom(p)?)
            }
            [b'0'..=b'9', ..] => {
                let mut v = 0i64;
                while let [d @ b'0'..=b'9', rest @ ..] = *p {
                    *p = rest;
                    v = v.checked_mul(10)?.checked_add((d - b'0') as i64)?;
                }
                Some(v)
            }
            _ => None,
        }
    }
    let mut p = text;
    let v = sum(&mut p)?;
    p.is_empty().then_some(v)
}

/// A hash table in an array.
struct Table {
    slots: [Option<(u64, u32)>; 32],
}
impl Table {
    #[inline(never)]
    fn add(&mut self, key: u64) -> u32 {
        let mut h = Sum(14695981039346656037);
        key.hash(&mut h);
        let mut at = h.finish() as usize % 32;
        for _ in 0..32 {
            match &mut self.slots[at] {
                Some((k, n)) if *k == key => {
                    *n += 1;
                    return *n;
                }
                Some(_) => at = (at + 1) % 32,
                slot => {
                    *slot = Some((key, 1));
                    return 1;
                }
            }
        }
        0
    }
}

#[inline(never)]
fn large(n: u64) -> u64 {
    let mut v = [0u64; 400];
    let room = black_box(&mut v);
    for i in 0..8 {
        room[(n as usize + i * 53) % 400] = n + i as u64;
    }
    black_box(room)[(n as usize + 53) % 400] + wide(n as u128)
}

#[inline(never)]
fn wide(n: u128) -> u64 {
    let x = (n + 12345678901234567890) * 987654321;
    (x / (n + 3)) as u64 ^ (x >> 64) as u64
}

extern "C" fn by_last_digit(a: *const u64, b: *const u64) -> i32 {
    let (a, b) = unsafe { (*a, *b) };
    (a % 10, a).cmp(&(b % 10, b)) as i32
}

#[no_mangle]
pub extern "C" fn run(n: i64) -> u64 {
    let n = n as u64;
    let mut h = Sum(14695981039346656037);
    let mut v = [0u64; 48];
    let mut seed = 42u64;
    for x in v.iter_mut() {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *x = seed >> 40;
    }
    let mut shapes = [Shape::Point; 24];
    for (i, s) in shapes.iter_mut().enumerate() {
        *s = shape(v[i] % 97);
    }
    for pair in shapes.windows(2) {
        weigh_two(&pair[0], &pair[1]).hash(&mut h);
    }
    merge_sort(&mut shapes, &mut [Shape::Point; 24]);
    shapes[..n as usize % 24].hash(&mut h);
    for s in shapes.iter().step_by(5) {
        let _ = write!(h, "{s:?} {:>6} {:#x}", n, v[3]);
    }

    let mut w = v;
    merge_sort(&mut w, &mut [0; 48]);
    w.hash(&mut h);
    v.sort_unstable_by_key(|x| (x % 16, *x));
    v.hash(&mut h);
    unsafe { qsort(v.as_mut_ptr(), v.len(), 8, by_last_digit) };
    v.hash(&mut h);
    w.binary_search(&v[7]).hash(&mut h);

    let mut adds = Adds(1);
    let mut counts = Counts { seen: [0; 64], count: 0 };
    let mut table = Table { slots: [None; 32] };
    for i in 0..n {
        dynamic(&mut [&mut adds, &mut counts], i).hash(&mut h);
        apply(&|x| x * i + v[x as usize], i).hash(&mut h);
        table.add(v[i as usize % 48] % 9).hash(&mut h);
        large(i).hash(&mut h);
    }
    hanoi(5, 0, 2, &mut [62, 0, 0]).hash(&mut h);
    for text in ["1+2*3", "(4-7)*-12/5", "((((9))))-1", "9223372036854775807+1", "2*(3", "7/0", "12*12-11*13+x"] {
        parse(text.as_bytes()).hash(&mut h);
    }
    for c in "größe, €, 𝄞".chars().rev() {
        c.to_uppercase().count().hash(&mut h);
        c.hash(&mut h);
    }
    h.finish()
}

/// Ends the process from here: the call is the last instruction.
#[no_mangle]
pub extern "C" fn finish(status: i32) -> ! {
    unsafe { exit(status) }
}
