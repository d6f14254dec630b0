// Values of Rust's own types, for eval's tests: nothing runs, only the data is read.
#[derive(Clone, Copy)]
pub enum Color { Red, Green = 5 }
pub struct Point { pub x: i32, pub y: i32 }
pub struct Wrap(i32, u8);

#[no_mangle] pub static TEXT: &str = "hello";
#[no_mangle] pub static ARRAY: [i32; 3] = [4, 5, 6];
#[no_mangle] pub static SLICE: &[i32] = &[7, 8];
#[no_mangle] pub static ORIGIN: Point = Point { x: 1, y: 2 };
#[no_mangle] pub static TUPLE: (i32, u8) = (3, 4);
#[no_mangle] pub static WRAP: Wrap = Wrap(5, 6);
#[no_mangle] pub static COLOR: Color = Color::Green;
#[no_mangle] pub static LETTER: char = 'x';
#[no_mangle] pub static FLAG: bool = true;
#[no_mangle] pub static BYTE: u8 = 97;

fn main() {
    println!("{} {} {} {} {} {} {} {} {} {} {}", TEXT, ARRAY[0], SLICE[1], ORIGIN.x, ORIGIN.y, TUPLE.0, WRAP.0 + WRAP.1 as i32,
        COLOR as i32, LETTER, FLAG, BYTE);
}
