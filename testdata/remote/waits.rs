// Threads with deep stacks of closures and trait objects; then "ready", and they wait, or the program aborts.
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread;

trait Step {
    fn run(&self, n: u32, last: &dyn Fn()) -> u32;
}

struct Plain;
struct Boxed(Box<dyn Step + Send + Sync>);

impl Step for Plain {
    fn run(&self, n: u32, last: &dyn Fn()) -> u32 {
        if n == 0 {
            last();
            return 0;
        }
        Boxed(Box::new(Plain)).run(n - 1, last) + 1
    }
}

impl Step for Boxed {
    fn run(&self, n: u32, last: &dyn Fn()) -> u32 {
        let list: Vec<u32> = (0..2).map(|i| if i == 0 { self.0.run(n, last) } else { i }).collect();
        list[0]
    }
}

fn main() {
    let here = Arc::new(Barrier::new(4));
    for _ in 0..3 {
        let here = here.clone();
        thread::spawn(move || {
            Plain.run(12, &|| {
                here.wait();
                let pair = (Mutex::new(()), Condvar::new());
                let mut guard = pair.0.lock().unwrap();
                loop {
                    guard = pair.1.wait(guard).unwrap();
                }
            })
        });
    }
    here.wait();
    println!("ready");
    if std::env::args().count() > 1 {
        std::process::abort();
    }
    loop {
        thread::park();
    }
}
