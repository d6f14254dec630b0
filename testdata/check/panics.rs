// Panics through frames with drops, caught.
use std::panic;

struct Guard(Vec<u32>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.push(1);
    }
}

#[inline(never)]
fn down(k: u32) -> u32 {
    let g = Guard(vec![k; 3]);
    if k == 0 {
        panic!("bottom");
    }
    down(k - 1) + g.0.len() as u32
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    for _ in 0..3 {
        let r = panic::catch_unwind(|| down(15));
        println!("{}", r.is_err());
    }
}
