//! Crashes in a chain of known functions, while two other threads wait in known functions. A second
//! process writes a minidump of it to the path in the first argument.

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

/// Starts this program again to write the dump, since a process can't trace itself. The context goes
/// through a file beside the dump.
fn dump(context: &crash_handler::CrashContext, path: &str) {
    std::fs::write(format!("{path}.context"), context.as_bytes()).unwrap();
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
    let program = std::env::current_exe().unwrap();
    let _ = std::process::Command::new(program).arg(path).arg("write").status();
}

/// Writes the dump of the process that has left its context.
fn write_dump(path: &str) {
    let bytes = std::fs::read(format!("{path}.context")).unwrap();
    let context = crash_handler::CrashContext::from_bytes(&bytes).unwrap();
    let config = minidump_writer::minidump_writer::MinidumpWriterConfig::new(context.pid, context.tid);
    let mut file = std::fs::File::create(path).unwrap();
    std::process::exit(write(config, context, &mut file) as i32);
}

fn write(mut config: minidump_writer::minidump_writer::MinidumpWriterConfig, inner: crash_handler::CrashContext, file: &mut std::fs::File) -> bool {
    config.set_crash_context(minidump_writer::crash_context::CrashContext { inner });
    match config.write(file) {
        Ok(_) => false,
        Err(error) => {
            eprintln!("{error:?}");
            true
        }
    }
}

fn main() {
    let path = std::env::args().nth(1).expect("the path of the dump");
    if std::env::args().nth(2).is_some() {
        write_dump(&path);
    }
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
