// A call whose result is stored by code of line 0: rustc does that where a panic in the call would
// have to drop a value.
#[inline(never)]
fn pick(n: i32) -> i32 {
    n + 1
}

#[inline(never)]
fn caller(held: String, n: i32) -> i32 {
    let found = pick(n);
    let more = pick(found);
    more + held.len() as i32
}

fn main() {
    let n = std::env::args().count() as i32;
    std::process::exit(caller(String::new(), n) - 3);
}
