// A program that knows its own values. It prints, for expressions of main, the text that a debugger must
// show. With an argument it writes that to a file, and aborts where the values are as it says.
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{CStr, CString, OsStr, OsString};
use std::num::{NonZeroI64, NonZeroU32, Wrapping};
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, SystemTime};
#[cfg(not(old))]
use std::{
    cell::{LazyCell, OnceCell},
    sync::{LazyLock, OnceLock},
};

// Show writes a value as dbg shows it.
trait Show {
    fn show(&self) -> String;
}
macro_rules! plain {
    ($($t:ty)*) => { $(impl Show for $t { fn show(&self) -> String { format!("{:?}", self) } })* };
}
plain! { i32 u8 i64 u64 usize bool String &str Duration }

fn list<'a, T: Show + 'a>(items: impl Iterator<Item = &'a T>, n: usize) -> String {
    let shown: Vec<String> = items.take(200).map(|x| x.show()).collect();
    shown.join(", ") + if n > 200 { "..." } else { "" }
}
fn pairs<'a, K: Show + 'a, V: Show + 'a>(items: impl Iterator<Item = (&'a K, &'a V)>, n: usize) -> String {
    let shown: Vec<String> = items.take(200).map(|(k, v)| k.show() + ": " + &v.show()).collect();
    shown.join(", ") + if n > 200 { "..." } else { "" }
}
macro_rules! lists {
    ($($t:ident)*) => { $(impl<T: Show> Show for $t<T> {
        fn show(&self) -> String { format!("{}(size={}) {{{}}}", stringify!($t), self.len(), list(self.iter(), self.len())) }
    })* };
}
lists! { Vec VecDeque LinkedList BTreeSet BinaryHeap HashSet }
impl<K: Show, V: Show> Show for HashMap<K, V> {
    fn show(&self) -> String {
        format!("HashMap(size={}) {{{}}}", self.len(), pairs(self.iter(), self.len()))
    }
}
impl<K: Show, V: Show> Show for BTreeMap<K, V> {
    fn show(&self) -> String {
        format!("BTreeMap(size={}) {{{}}}", self.len(), pairs(self.iter(), self.len()))
    }
}
impl<T: Show> Show for Rc<T> {
    fn show(&self) -> String {
        format!("Rc(strong={}, weak={}) {}", Rc::strong_count(self), Rc::weak_count(self), (**self).show())
    }
}
impl<T: Show> Show for Arc<T> {
    fn show(&self) -> String {
        format!("Arc(strong={}, weak={}) {}", Arc::strong_count(self), Arc::weak_count(self), (**self).show())
    }
}
impl<T: Show + Copy> Show for Cell<T> {
    fn show(&self) -> String {
        format!("Cell {{value: {}}}", self.get().show())
    }
}
impl<T: Show> Show for RefCell<T> {
    fn show(&self) -> String {
        format!("RefCell {{value: {}}}", self.borrow().show())
    }
}
impl<T: Show> Show for Mutex<T> {
    fn show(&self) -> String {
        let locked = self.try_lock().is_err();
        let value = if locked { "?".to_string() } else { self.lock().unwrap().show() };
        format!("Mutex {{data: {}, poisoned: {}, locked: {}}}", value, self.is_poisoned(), locked)
    }
}

struct Point {
    x: i32,
    y: i32,
}
impl Show for Point {
    fn show(&self) -> String {
        format!("rust::Point {{x: {}, y: {}}}", self.x, self.y)
    }
}
trait Shape {
    fn area(&self) -> i32;
}
impl Shape for Point {
    fn area(&self) -> i32 {
        self.x * self.y
    }
}
impl Shape for i32 {
    fn area(&self) -> i32 {
        *self
    }
}
#[allow(dead_code)]
struct Wide(u64, u64, u8);
impl Shape for Wide {
    fn area(&self) -> i32 {
        self.0 as i32
    }
}

fn says(expression: &str, text: String) {
    write(format!("{}\t{}\n", expression, text));
}

// write adds to the output: the file that is the first argument, or standard output.
fn write(text: String) {
    use std::io::Write;
    match std::env::args().nth(1) {
        Some(name) => {
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(name).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }
        None => print!("{}", text),
    }
}

// black_box keeps a value in memory (std::hint has one since 1.66).
#[inline(never)]
fn black_box<T>(x: T) -> T {
    unsafe { std::arch::asm!("/* {} */", in(reg) &x) };
    x
}

#[inline(never)]
fn stop() {
    use std::io::Write;
    write("ready\n".to_string());
    std::io::stdout().flush().unwrap();
    if std::env::args().count() > 1 {
        std::process::abort();
    }
    black_box(());
}

macro_rules! say {
    ($($name:ident)*) => { $(says(stringify!($name), $name.show());)* };
}
macro_rules! keep {
    ($($name:ident)*) => { $(black_box(&$name);)* };
}

#[inline(never)]
fn main() {
    // Collections of 0, 1, 3 and 100,000 elements.
    let v0: Vec<i32> = Vec::new();
    let v3 = vec![1, 2, 3];
    let vbig: Vec<i32> = (0..100_000).collect();
    let units: Vec<()> = vec![(); 3];
    let hm0: HashMap<i32, i32> = HashMap::new();
    let hm1: HashMap<&str, i32> = vec![("one", 1)].into_iter().collect();
    let hm3: HashMap<String, Vec<i32>> = (0..3).map(|i| (i.to_string(), vec![i; 2])).collect();
    let hmbig: HashMap<i32, i32> = (0..100_000).map(|i| (i, i * 2)).collect();
    let mut hmgone: HashMap<u64, u8> = (0..1000).map(|i| (i, i as u8)).collect();
    hmgone.retain(|k, _| k % 100 == 7);
    let hs0: HashSet<u8> = HashSet::new();
    let hs3: HashSet<String> = ["a", "b", "c"].iter().map(|s| s.to_string()).collect();
    let hsbig: HashSet<u64> = (0..100_000).collect();
    let bm0: BTreeMap<i32, i32> = BTreeMap::new();
    let bm1: BTreeMap<String, u8> = vec![("one".to_string(), 1u8)].into_iter().collect();
    let bm30: BTreeMap<i32, String> = (0..30).map(|i| (i, i.to_string())).collect();
    let bmbig: BTreeMap<u64, u8> = (0..100_000).map(|i| (i, i as u8)).collect();
    let mut bmgone: BTreeMap<i32, i32> = (0..1000).map(|i| (i, -i)).collect();
    for i in 0..995 {
        bmgone.remove(&i);
    }
    let mut bmempty: BTreeMap<i32, i32> = (0..3).map(|i| (i, -i)).collect();
    bmempty.clear();
    let bs3: BTreeSet<&str> = ["x", "y", "z"].iter().cloned().collect();
    let bsbig: BTreeSet<i32> = (0..100_000).collect();
    let vd0: VecDeque<i32> = VecDeque::new();
    let mut vd3: VecDeque<i32> = (0..4).collect();
    vd3.pop_front();
    vd3.pop_front();
    vd3.push_back(7); // it goes around the end
    let vdbig: VecDeque<u64> = (0..100_000).collect();
    let ll3: LinkedList<String> = ["p", "q", "r"].iter().map(|s| s.to_string()).collect();
    let ll0: LinkedList<u8> = LinkedList::new();
    let heap: BinaryHeap<i32> = vec![3, 9, 4].into_iter().collect();
    let deep: HashMap<i32, BTreeMap<String, Vec<Rc<i32>>>> =
        vec![(5, vec![("k".to_string(), vec![Rc::new(1), Rc::new(2)])].into_iter().collect())].into_iter().collect();
    let empties: HashSet<()> = vec![()].into_iter().collect();

    // Pointers.
    let rc = Rc::new(Point { x: 1, y: 2 });
    let rc2 = rc.clone();
    let weak = Rc::downgrade(&rc);
    let dangling: Weak<i32> = Weak::new();
    let dropped = Rc::downgrade(&Rc::new(5u64));
    let arc = Arc::new(Mutex::new(vec![1, 2]));
    let arc_str: Arc<str> = Arc::from("hello");
    let rc_slice: Rc<[u8]> = Rc::from(vec![1u8, 2, 3]);
    let dyn_box: Box<dyn Shape> = Box::new(Point { x: 3, y: 4 });
    let dyn_int: Box<dyn Shape> = Box::new(17);
    let wide = Wide(1, 2, 3);
    let dyn_ref: &dyn Shape = &wide;
    let dyn_arc: Arc<dyn Shape> = Arc::new(Wide(4, 5, 6));
    let pinned = Box::pin(5);
    let boxed = Box::new(vec![4, 5]);

    // Cells and locks.
    let cell = Cell::new(5);
    let refcell = RefCell::new("text".to_string());
    let reading = RefCell::new(6);
    black_box(&reading); // from here on, others may look at it
    let read1 = reading.borrow();
    let read2 = reading.borrow();
    let writing = RefCell::new(7);
    black_box(&writing);
    let write1 = writing.borrow_mut();
    let mutex = Mutex::new(8);
    let locked = Mutex::new(9);
    let guard = locked.lock().unwrap();
    let poisoned = Arc::new(Mutex::new(1));
    let other = poisoned.clone();
    std::panic::set_hook(Box::new(|_| {}));
    let _ = std::thread::spawn(move || {
        let _guard = other.lock();
        panic!();
    })
    .join();
    let rwlock = RwLock::new(10);
    let atomic = AtomicI32::new(-5);
    let atomic64 = AtomicU64::new(1 << 60);
    let flag = AtomicBool::new(true);

    // Texts, numbers, times, ranges.
    let string = String::from("a \"quoted\" text");
    let path = PathBuf::from("/tmp/x");
    let path_ref: &Path = Path::new("relative");
    let os = OsString::from("os");
    let os_ref: &OsStr = &os;
    let cstring = CString::new("c text").unwrap();
    let cstr: &CStr = &cstring;
    let nz = NonZeroU32::new(5).unwrap();
    let nz64 = NonZeroI64::new(-5).unwrap();
    let some_nz = NonZeroU32::new(6);
    let none_nz = NonZeroU32::new(0);
    let wrapping = Wrapping(250u8);
    let d0 = Duration::new(0, 0);
    let d1 = Duration::from_millis(1500);
    let d2 = Duration::from_micros(1234);
    let d3 = Duration::from_nanos(7001);
    let d4 = Duration::new(86_400, 1);
    let time = SystemTime::UNIX_EPOCH + Duration::new(1_600_000_000, 5);
    let range = 1..5;
    let range_to = ..=4u8;
    let range_inclusive = 2..=6;
    let iter = v3[1..].iter();
    let chars = string[2..].chars();
    let mut into_iter = vec![1, 2, 3].into_iter();
    into_iter.next();

    say! { v0 v3 vbig hm0 hm1 hm3 hmbig hmgone hs0 hs3 hsbig bm0 bm1 bm30 bmbig bmgone bmempty bs3 bsbig vd0 vd3 vdbig ll3 ll0 heap deep }
    say! { rc rc2 arc cell refcell mutex d0 d1 d2 d3 d4 string }
    for (expression, text) in [
        ("units", "Vec(size=3) {(), (), ()}"),
        ("empties", "HashSet(size=1) {()}"),
        ("weak", "Weak(strong=2, weak=1) rust::Point {x: 1, y: 2}"),
        ("dangling", "Weak(dangling)"),
        ("dropped", "Weak(strong=0, weak=1)"),
        ("arc_str", "Arc(strong=1, weak=0) \"hello\""),
        ("rc_slice", "Rc(strong=1, weak=0) [1, 2, 3]"),
        ("dyn_box", "Box<dyn rust::Shape> rust::Point {x: 3, y: 4}"),
        ("dyn_int", "Box<dyn rust::Shape>(i32) 17"),
        ("dyn_ref", "&dyn rust::Shape rust::Wide (1, 2, 3)"),
        ("dyn_arc", "Arc(strong=1, weak=0) rust::Wide (4, 5, 6)"),
        ("reading", "RefCell {value: 6, borrowed: 2}"),
        ("writing", "RefCell {value: 7, mutably borrowed: 1}"),
        ("read1", "6"),
        ("write1", "7"),
        ("locked", "Mutex {data: 9, poisoned: false, locked: true}"),
        ("guard", "9"),
        ("poisoned", "Arc(strong=1, weak=0) Mutex {data: 1, poisoned: true, locked: false}"),
        ("rwlock", "RwLock {data: 10, poisoned: false}"),
        ("atomic", "-5"),
        ("atomic64", "1152921504606846976"),
        ("flag", "true"),
        ("path", "\"/tmp/x\""),
        ("path_ref", "\"relative\""),
        ("os", "\"os\""),
        ("os_ref", "\"os\""),
        ("cstring", "\"c text\""),
        ("cstr", "\"c text\""),
        ("nz", "5"),
        ("nz64", "-5"),
        ("wrapping", "Wrapping(250)"),
        ("time", "2020-09-13T12:26:40.000000005Z"),
        ("range", "1..5"),
        ("range_to", "..=4"),
        ("range_inclusive", "2..=6"),
        ("iter", "Iter(size=2) {2, 3}"),
        ("chars", "Chars(\"\\\"quoted\\\" text\")"),
        ("into_iter", "IntoIter(size=2) {2, 3}"),
        // Methods and operators, which are not called.
        ("v3.len()", "3"),
        ("v0.is_empty()", "true"),
        ("v3.first()", "1"),
        ("v3.last()", "3"),
        ("v3.get(1)", "2"),
        ("v3.contains(2)", "true"),
        ("v3[1..3]", "[2, 3]"),
        ("&v3[..=1]", "[1, 2]"),
        ("v3[1..]", "[2, 3]"),
        ("v3[1..1]", "[]"),
        ("vbig[99999]", "99999"),
        ("string[2..4]", "\"\\\"q\""),
        ("string.len()", "15"),
        ("string.starts_with(\"a \")", "true"),
        ("hm1[\"one\"]", "1"),
        ("hm1.contains_key(\"two\")", "false"),
        ("hm3[\"2\"]", "Vec(size=2) {2, 2}"),
        ("hm3[\"2\"][1]", "2"),
        ("hmbig[77777]", "155554"),
        ("hmbig.len()", "100000"),
        ("hs3.contains(\"b\")", "true"),
        ("hs3.contains(\"d\")", "false"),
        ("bm30[17]", "\"17\""),
        ("bmbig[99999]", "159"),
        ("bm0.is_empty()", "true"),
        ("bs3.contains(\"y\")", "true"),
        ("vd3[2]", "7"),
        ("vd3.front()", "2"),
        ("vd3.back()", "7"),
        ("vdbig[99999]", "99999"),
        ("ll3.front()", "\"p\""),
        ("deep[5][\"k\"][1]", "Rc(strong=1, weak=0) 2"),
        ("*rc", "rust::Point {x: 1, y: 2}"),
        ("rc.x", "1"),
        ("rc.strong_count()", "2"),
        ("rc.weak_count()", "1"),
        ("weak.upgrade().y", "2"),
        ("*arc", "Mutex {data: Vec(size=2) {1, 2}, poisoned: false, locked: false}"),
        ("arc_str.len()", "5"),
        ("rc_slice[1]", "2"),
        ("*dyn_box", "rust::Point {x: 3, y: 4}"),
        ("dyn_box.y", "4"),
        ("*pinned", "5"),
        ("boxed.len()", "2"),
        ("boxed[1]", "5"),
        ("cell.get()", "5"),
        ("*refcell", "\"text\""),
        ("*guard", "9"),
        ("some_nz.is_some()", "true"),
        ("some_nz.unwrap()", "6"),
        ("none_nz.is_none()", "true"),
        ("d1.as_millis()", "1500"),
        ("path.len()", "6"),
        ("path == \"/tmp/x\"", "true"),
        ("string == \"other\"", "false"),
        ("range.start", "1"),
        ("boxed[0] as f64 / 8", "0.5"),
        ("300 as u8", "44"),
        ("1e10 as i32", "2147483647"),
        ("-1.5 as u8", "0"),
        ("nz.get() as u64 + 1", "6"),
    ] {
        says(expression, text.to_string());
    }

    #[cfg(not(old))]
    {
        let once: OnceCell<i32> = OnceCell::new();
        let once5: OnceCell<i32> = OnceCell::from(5);
        let lock: OnceLock<String> = OnceLock::new();
        let lock6: OnceLock<String> = OnceLock::from("six".to_string());
        let lazy: LazyLock<i32> = LazyLock::new(|| 7);
        let lazy7: LazyLock<i32> = LazyLock::new(|| 7);
        LazyLock::force(&lazy7);
        let cell8: LazyCell<i32> = LazyCell::new(|| 8);
        LazyCell::force(&cell8);
        for (expression, text) in [
            ("once", "OnceCell(<uninit>)"),
            ("once5", "OnceCell(5)"),
            ("lock", "OnceLock(<uninit>)"),
            ("lock6", "OnceLock(\"six\")"),
            ("lazy", "LazyLock(<uninit>)"),
            ("lazy7", "LazyLock(7)"),
            ("cell8", "LazyCell(8)"),
            ("once5.get()", "5"),
        ] {
            says(expression, text.to_string());
        }
        stop();
        keep! { once once5 lock lock6 lazy lazy7 cell8 }
    }
    #[cfg(old)]
    stop();

    keep! { v0 v3 vbig units hm0 hm1 hm3 hmbig hmgone hs0 hs3 hsbig bm0 bm1 bm30 bmbig bmgone bmempty bs3 bsbig vd0 vd3 vdbig ll3 ll0 heap deep empties }
    keep! { rc rc2 weak dangling dropped arc arc_str rc_slice dyn_box dyn_int wide dyn_ref dyn_arc pinned boxed }
    keep! { cell refcell reading read1 read2 writing write1 mutex locked guard poisoned rwlock atomic atomic64 flag }
    keep! { string path path_ref os os_ref cstring cstr nz nz64 some_nz none_nz wrapping d0 d1 d2 d3 d4 time range range_to range_inclusive }
    keep! { iter chars into_iter }
    println!("{}", dyn_box.area() + dyn_int.area() + dyn_ref.area() + dyn_arc.area());
}
