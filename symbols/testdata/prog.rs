mod shapes {
    pub enum Shape { Circle(f64), Rect { w: f64, h: f64 } }
    #[derive(Clone, Copy, PartialEq)]
    pub enum Plain { A, B = 5 }
    impl Shape {
        #[inline(never)]
        pub fn area(&self) -> f64 {
            match self { Shape::Circle(r) => r * r * 3.0, Shape::Rect { w, h } => w * h }
        }
    }
}
#[inline(never)]
fn generic<T: std::fmt::Display>(value: T, times: usize) -> String {
    let mut text = String::new();
    for i in 0..times { text.push_str(&format!("{}{}", i, value)); }
    text
}
fn main() {
    let all = vec![shapes::Shape::Circle(2.0), shapes::Shape::Rect { w: 2.0, h: 3.5 }];
    let total: f64 = all.iter().map(|s| s.area()).sum();
    let plain = if total > 3.0 { shapes::Plain::A } else { shapes::Plain::B };
    let tuple = (1u8, 'x', "str");
    println!("{} {} {} {}", total, generic(total, 3), generic("a", 2), plain as i32 + tuple.0 as i32);
}
