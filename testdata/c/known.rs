// A program that knows its own values, at all levels of optimisation: what known.c is for C.
#![allow(non_upper_case_globals, static_mut_refs)]
use std::hint::black_box;

#[repr(C)]
#[derive(Clone, Copy)]
struct Known {
    function: *const u8,
    name: *const u8,
    value: i64,
    is_float: i64,
}

#[no_mangle]
static mut known: [Known; 256] = [Known { function: std::ptr::null(), name: std::ptr::null(), value: 0, is_float: 0 }; 256];
#[no_mangle]
static mut known_count: i64 = 0;

#[inline(never)]
fn know(function: *const u8, name: *const u8, value: i64, is_float: i64) {
    unsafe {
        known[known_count as usize] = Known { function, name, value, is_float };
        known_count += 1;
    }
    black_box(());
}

#[inline(never)]
#[no_mangle]
extern "C" fn stop_here() {
    black_box(());
}

fn mark() -> i64 {
    unsafe { known_count }
}
fn back(to: i64) {
    unsafe { known_count = to }
}

macro_rules! int {
    ($f:literal, $($x:expr),*) => { $( know(concat!($f, "\0").as_ptr(), concat!(stringify!($x), "\0").as_ptr(), $x as i64, 0); )* };
}
macro_rules! float {
    ($f:literal, $($x:expr),*) => { $( know(concat!($f, "\0").as_ptr(), concat!(stringify!($x), "\0").as_ptr(), ($x as f64).to_bits() as i64, 1); )* };
}

struct Point {
    x: i32,
    y: i32,
}

#[inline(never)]
fn scalars(a: i8, b: u16, c: i64, d: bool, e: f32, f: f64, g: usize) -> i64 {
    let m = mark();
    let sum = a as i64 + c;
    let product = e as f64 * f;
    int!("scalars", a, b, c, d, g, sum);
    float!("scalars", e, f, product);
    stop_here();
    back(m);
    black_box(sum);
    int!("scalars", b, g);
    stop_here();
    back(m);
    sum
}

fn swapped(p: Point) -> Point {
    let m = mark();
    let q = Point { x: p.y, y: p.x };
    int!("swapped", p.x, p.y, q.x, q.y);
    stop_here();
    back(m);
    q
}

#[inline(never)]
fn pieces(a: i32, b: i32) -> i32 {
    let m = mark();
    let p = Point { x: a, y: b };
    int!("pieces", a, b, p.x, p.y);
    let q = swapped(p);
    int!("pieces", q.x, q.y);
    stop_here();
    back(m);
    let t = (q.x, q.y as i64 * 3);
    int!("pieces", t.0, t.1);
    stop_here();
    back(m);
    q.x + t.1 as i32
}

#[inline(never)]
fn options(o: Option<i32>, r: Result<u16, u64>) -> i32 {
    let m = mark();
    let mut n = 1;
    if let Some(x) = o {
        n += x;
        int!("options", x, n);
        stop_here();
        back(m);
    }
    match r {
        Ok(v) => {
            int!("options", v, n);
            stop_here();
            back(m);
            n + v as i32
        }
        Err(e) => {
            int!("options", e, n);
            stop_here();
            back(m);
            n - e as i32
        }
    }
}

#[inline(never)]
fn slices(v: &[i32], k: usize) -> i32 {
    let m = mark();
    let mut total = 0;
    let arr = [1u8, 2, k as u8, 4];
    for (i, x) in v.iter().enumerate() {
        total += *x * i as i32;
        int!("slices", i, *x, total, k, arr[2]);
        stop_here();
        back(m);
    }
    total + arr[black_box(2)] as i32
}

#[inline(never)]
fn recursive(depth: i32, acc: i64) -> i64 {
    let m = mark();
    let here = acc * 3 + depth as i64;
    int!("recursive", depth, acc, here);
    if depth == 0 {
        stop_here();
        back(m);
        return here;
    }
    let r = recursive(depth - 1, here);
    int!("recursive", r);
    stop_here();
    back(m);
    r + (here & 7)
}

fn main() {
    let m = mark();
    let mut total = 0i64;
    for round in 0..2 {
        int!("main", round, total);
        total += scalars(-3, 60000, -5 + round, round == 1, 1.5, 2.25 * round as f64, 99);
        back(m);
        total += pieces(round as i32, 7) as i64;
        total += options(if round > 0 { Some(5) } else { None }, if round > 0 { Err(9) } else { Ok(8) }) as i64;
        total += slices(&[3, 4, round as i32], black_box(round as usize + 1)) as i64;
        total += recursive(3, round);
    }
    black_box(total);
}
