// Panics that leave the calls which a step is over.
use std::panic;

fn thrower(n: i32) -> i32 {
    if n > 0 {
        panic!("x");
    }
    n
}

fn middle(n: i32) -> i32 {
    let r = thrower(n);
    r + 1
}

fn caught() -> bool {
    let r = panic::catch_unwind(|| {
        middle(1);
    });
    r.is_err()
}

struct Cleanup(i32);

impl Drop for Cleanup {
    fn drop(&mut self) {
        self.0 += 1;
    }
}

fn cleans() -> i32 {
    let c = Cleanup(1);
    let r = middle(1);
    r + c.0
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let a = caught();
    let b = panic::catch_unwind(cleans).is_err();
    std::process::exit((a && b) as i32);
}
