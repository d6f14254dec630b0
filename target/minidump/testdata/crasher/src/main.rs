//! Crashes in a chain of known functions, while two other threads wait in known functions. A copy of
//! the process writes a minidump of it to the path in the first argument.

use std::hint::black_box;
use std::sync::mpsc;

#[inline(never)]
fn crash_leaf(address: usize) -> usize {
    let value = unsafe { std::ptr::read_volatile(address as *const usize) };
    black_box(value) + 1
}

#[inline(never)]
fn crash_middle(address: usize) -> usize {
    let buffer = black_box([address; 16]);
    black_box(crash_leaf(buffer[3])) + buffer[4]
}

#[inline(never)]
fn crash_outer(address: usize) -> usize {
    black_box(crash_middle(address)) + 3
}

#[inline(never)]
fn wait_inner(ready: &mpsc::Sender<()>) {
    ready.send(()).unwrap();
    loop {
        unsafe { libc::pause() };
        black_box(());
    }
}

#[inline(never)]
fn wait_outer(ready: mpsc::Sender<()>) {
    wait_inner(&ready);
    black_box(&ready);
}

/// Writes the dump from a child, since a process can't trace itself.
fn dump(context: &crash_handler::CrashContext, path: &str) {
    let parent = unsafe { libc::getpid() };
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
    let child = unsafe { libc::fork() };
    if child == 0 {
        let copy = crash_handler::CrashContext {
            context: context.context.clone(),
            float_state: context.float_state.clone(),
            siginfo: context.siginfo,
            pid: context.pid,
            tid: context.tid,
        };
        let config = minidump_writer::minidump_writer::MinidumpWriterConfig::new(parent, context.tid);
        let mut file = std::fs::File::create(path).unwrap();
        let failed = write(config, copy, &mut file);
        unsafe { libc::_exit(failed as i32) };
    }
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
}

fn write(mut config: minidump_writer::minidump_writer::MinidumpWriterConfig, inner: crash_handler::CrashContext, file: &mut std::fs::File) -> bool {
    config.set_crash_context(minidump_writer::crash_context::CrashContext { inner });
    config.write(file).is_err()
}

fn main() {
    let path = std::env::args().nth(1).expect("the path of the dump");
    let _handler = crash_handler::CrashHandler::attach(unsafe {
        crash_handler::make_crash_event(move |context: &crash_handler::CrashContext| {
            dump(context, &path);
            crash_handler::CrashEventResult::Handled(false)
        })
    })
    .unwrap();
    let (ready, waiting) = mpsc::channel();
    for name in ["waiter-one", "waiter-two"] {
        let ready = ready.clone();
        std::thread::Builder::new().name(name.into()).spawn(move || wait_outer(ready)).unwrap();
    }
    waiting.recv().unwrap();
    waiting.recv().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    black_box(crash_outer(black_box(0x18)));
}
