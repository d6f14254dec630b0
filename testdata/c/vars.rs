// Rust variables of all kinds, for a comparison of two debuggers at random stops.
use std::collections::HashMap;
use std::hint::black_box;
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Plain {
    One,
    Two = 5,
    Three,
}

#[derive(Clone, Debug)]
enum Data {
    Empty,
    Number(i32),
    Pair(u8, u64),
    Named { x: f32, y: f64 },
    Text(String),
}

#[derive(Clone, Debug)]
struct Point {
    x: i32,
    y: i32,
}

struct Tuple(i64, bool);
struct Unit;

union Both {
    i: u32,
    f: f32,
}

trait Speak {
    fn speak(&self, n: i32) -> i32;
}
impl Speak for Point {
    fn speak(&self, n: i32) -> i32 {
        let r = self.x * n;
        black_box(r) + self.y
    }
}
impl Speak for Tuple {
    fn speak(&self, n: i32) -> i32 {
        black_box(self.0 as i32) + n
    }
}

#[inline(never)]
fn options(a: Option<i32>, b: Option<Box<Point>>, c: Option<&Point>, d: Option<char>, e: Option<bool>) -> i32 {
    let first = a.unwrap_or(7);
    let second = match &b {
        Some(p) => p.x,
        None => -1,
    };
    black_box(first);
    let third = c.map(|p| p.y).unwrap_or(3);
    black_box(second + third);
    let fourth = if let Some(ch) = d { ch as i32 } else { 0 };
    first + second + third + fourth + e.is_some() as i32
}

#[inline(never)]
fn enums(p: Plain, d: &Data, r: Result<u16, String>) -> i32 {
    let n = match d {
        Data::Empty => 0,
        Data::Number(n) => *n,
        Data::Pair(a, b) => *a as i32 + *b as i32,
        Data::Named { x, y } => (*x as f64 + *y) as i32,
        Data::Text(s) => s.len() as i32,
    };
    black_box(n);
    let own = d.clone();
    black_box(&own);
    let k = match r {
        Ok(v) => v as i32,
        Err(ref e) => -(e.len() as i32),
    };
    n + k + p as i32
}

#[inline(never)]
fn slices(v: &[i32], s: &str, arr: [u8; 4], m: &mut Vec<Point>) -> i32 {
    let mut total = 0;
    for (i, x) in v.iter().enumerate() {
        total += *x * i as i32;
        black_box(total);
    }
    for ch in s.chars() {
        total += ch as i32;
    }
    m.push(Point { x: total, y: arr[1] as i32 });
    let last = m.last().unwrap();
    black_box(last);
    total + last.y
}

#[inline(never)]
fn scalars(a: i8, b: u16, c: i64, d: u128, e: f32, f: f64, g: char, h: usize, u: ()) -> i64 {
    let t = (a, b, c);
    let big = d * 3;
    let both = Both { f: e };
    black_box(&t);
    black_box(big);
    black_box(u);
    let bits = unsafe { both.i };
    t.2 + bits as i64 + f as i64 + g as i64 + h as i64
}

#[inline(never)]
fn dynamic(s: &dyn Speak, b: Box<dyn Speak>, f: &dyn Fn(i32) -> i32) -> i32 {
    let a = s.speak(2);
    black_box(a);
    let c = b.speak(a);
    black_box(c);
    f(a + c)
}

#[inline(never)]
fn shared(rc: Rc<Point>, map: &HashMap<i32, i32>, unit: Unit, t: Tuple) -> i32 {
    let again = Rc::clone(&rc);
    let _u = unit;
    black_box(&again);
    let got = map.get(&again.x).copied();
    black_box(got);
    got.unwrap_or(0) + t.0 as i32 + t.1 as i32
}

fn main() {
    let mut total = 0i64;
    let mut points = vec![Point { x: 1, y: 2 }];
    let mut map = HashMap::new();
    map.insert(4, 5);
    for round in 0..3 {
        let p = Point { x: round, y: 4 };
        let opt = if round > 0 { Some(round) } else { None };
        total += options(opt, opt.map(|x| Box::new(Point { x, y: x })), if round == 1 { Some(&p) } else { None }, if round == 2 { Some('q') } else { None }, Some(round == 1)) as i64;
        let d = match round {
            0 => Data::Pair(3, 9),
            1 => Data::Named { x: 1.5, y: 2.5 },
            _ => Data::Text("text".to_string()),
        };
        total += enums([Plain::One, Plain::Two, Plain::Three][round as usize], &d, if round == 0 { Err("bad".into()) } else { Ok(8) }) as i64;
        total += enums(Plain::Two, &Data::Empty, Ok(1)) as i64 + enums(Plain::Two, &Data::Number(round), Ok(1)) as i64;
        total += slices(&[1, 2, round], "héllo", [1, 2, 3, 4], &mut points) as i64;
        total += scalars(-3, 60000, -5, 1 << 100, 1.5, 2.25, 'é', 99, ());
        let k = round * 10;
        total += dynamic(&p, Box::new(Tuple(3, true)), &|x| x + k) as i64;
        total += shared(Rc::new(Point { x: 4, y: round }), &map, Unit, Tuple(2, false)) as i64;
    }
    println!("{}", total != 12345);
}
