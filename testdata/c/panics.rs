fn main() {
    let r = std::panic::catch_unwind(|| {
        let list: Vec<i32> = vec![];
        let i = std::env::args().count();
        println!("{}", list[i]);
    });
    assert!(r.is_err());
    std::process::exit(match std::panic::catch_unwind(|| std::panic::panic_any(5i32)) {
        Err(_) => 0,
        Ok(_) => 1,
    });
}
