// Two threads that each wait for the other one's Mutex. A watcher raises SIGUSR2 when both are
// blocked in the kernel.
use std::fs;
use std::sync::{mpsc, Arc, Barrier, Mutex};
use std::thread;

extern "C" {
    fn raise(signal: i32) -> i32;
}

fn main() {
    let (a, b) = (Arc::new(Mutex::new(1)), Arc::new(Mutex::new(2)));
    let held = Arc::new(Barrier::new(2));
    let (tell, told) = mpsc::channel();
    for (first, second) in [(a.clone(), b.clone()), (b, a)] {
        let (held, tell) = (held.clone(), tell.clone());
        thread::spawn(move || {
            let _one = first.lock().unwrap();
            held.wait();
            tell.send(fs::read_link("/proc/thread-self").unwrap()).unwrap();
            let _two = second.lock().unwrap();
        });
    }
    for _ in 0..2 {
        let path = format!("/proc/{}/syscall", told.recv().unwrap().display());
        while !fs::read_to_string(&path).unwrap().starts_with("202 ") {
            thread::yield_now();
        }
    }
    unsafe { raise(12) };
}
