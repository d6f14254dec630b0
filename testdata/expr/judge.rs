// Prints the values of expressions as dbg does; appended to expr.rs by the test of the table.
extern "C" {
    fn snprintf(buf: *mut u8, n: usize, format: *const u8, ...) -> i32;
}

trait Show {
    fn show(&self) -> String;
}

macro_rules! show_number { ($($t:ty)*) => { $(impl Show for $t { fn show(&self) -> String { self.to_string() } })* } }
show_number!(i8 i16 u16 i32 u32 i64 u64 i128 u128 isize usize u8 bool);

fn real(digits: i32, v: f64) -> String {
    let mut b = [0u8; 64];
    let n = unsafe { snprintf(b.as_mut_ptr(), 64, b"%.*g\0".as_ptr(), digits, v) };
    String::from_utf8_lossy(&b[..n as usize]).into_owned()
}

impl Show for f32 {
    fn show(&self) -> String { real(9, *self as f64) }
}
impl Show for f64 {
    fn show(&self) -> String { real(17, *self) }
}
impl Show for char {
    fn show(&self) -> String {
        let text = match *self {
            '\n' => "\\n".to_string(),
            '\'' => "\\'".to_string(),
            '\\' => "\\\\".to_string(),
            c => c.to_string(),
        };
        format!("{} '{}'", *self as u32, text)
    }
}

fn show<T: Show>(line: u32, f: impl FnOnce() -> T) {
    std::panic::set_hook(Box::new(|_| {}));
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f().show())) {
        Ok(text) => println!("{}\t{}", line, text),
        Err(e) => {
            let text = e.downcast_ref::<String>().cloned().unwrap_or_else(|| e.downcast_ref::<&str>().unwrap().to_string());
            let text = text.replace("attempt to divide by zero", "Division by zero")
                .replace("attempt to calculate the remainder with a divisor of zero", "Division by zero");
            println!("{}\terror: {}", line, text)
        }
    }
}
