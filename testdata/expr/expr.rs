// The fixture of session/testdata/expr/rs.txt.
#![allow(dead_code, unused_variables, non_upper_case_globals)]
use std::hint::black_box;

#[derive(Clone, Copy)]
struct Point {
    x: i32,
    y: i32,
}
struct Pair(i32, u8);
enum Shape {
    Circle(f64),
    Rect { w: u32, h: u32 },
    Empty,
}
#[derive(Clone, Copy)]
enum Level {
    Low = 1,
    High = 200,
}
static COUNT: i32 = 12;
static NAMES: [&str; 2] = ["one", "two"];

fn main() {
    let (a8, b8): (i8, i8) = black_box((100, -128));
    let (au8, bu8): (u8, u8) = black_box((200, 55));
    let (a16, au16): (i16, u16) = black_box((-300, 65535));
    let (a, b, zero): (i32, i32, i32) = black_box((7, -7, 0));
    let (min, max): (i32, i32) = black_box((i32::MIN, i32::MAX));
    let (au, umax): (u32, u32) = black_box((3000000000, u32::MAX));
    let (a64, min64): (i64, i64) = black_box((-5000000000, i64::MIN));
    let (au64, umax64): (u64, u64) = black_box((10000000000000000000, u64::MAX));
    let (w, uw): (i128, u128) = black_box((-(1i128 << 100), (1u128 << 127) + 5));
    let (size, isize_): (usize, isize) = black_box((10, -10));
    let (f, g): (f32, f32) = black_box((1.1, 16777216.0));
    let (d, e): (f64, f64) = black_box((1.1, -2.5));
    let (yes, no) = black_box((true, false));
    let (ch, smile) = black_box(('a', '😀'));
    let arr: [i32; 5] = black_box([10, 20, 30, 40, 50]);
    let grid: [[u8; 2]; 2] = black_box([[1, 2], [3, 4]]);
    let pt = black_box(Point { x: 3, y: 4 });
    let ptr = &pt;
    let raw = &pt as *const Point;
    let pair = black_box(Pair(5, 6));
    let tuple: (i32, u8, f64) = black_box((1, 2, 3.5));
    let nested = black_box(((1, 2), [pt, pt]));
    let circle = black_box(Shape::Circle(2.5));
    let rect = black_box(Shape::Rect { w: 3, h: 4 });
    let empty = black_box(Shape::Empty);
    let some: Option<i32> = black_box(Some(9));
    let none: Option<i32> = black_box(None);
    let ok: Result<i32, u8> = black_box(Ok(1));
    let level = black_box(Level::High);
    let low = black_box(Level::Low);
    let text = black_box("hello");
    let owned = black_box(String::from("world"));
    let v = black_box(vec![1, 2, 3, 4]);
    let bytes = black_box(vec![1u8, 2, 255]);
    let boxed = black_box(Box::new(pt));
    let count = &COUNT;
    let names = NAMES;
    black_box((&arr, &grid, ptr, raw, &tuple, &v, count, names)); // stop
    match circle {
        Shape::Circle(r) => drop(r),
        Shape::Rect { w, h } => drop(w + h),
        Shape::Empty => {}
    }
    drop((rect, empty, pair.0, pair.1, nested, some, none, ok, level, low, owned, bytes, boxed, smile, ch));
}
