// The other types of the C++ standard library. The program prints the name of each variable and what a
// debugger must show for it.
#include "text.h"
#include <any>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <exception>
#include <expected>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <memory_resource>
#include <mutex>
#include <ranges>
#include <regex>
#include <shared_mutex>
#include <source_location>
#include <span>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <typeindex>
#include <unistd.h>

#ifdef _LIBCPP_VERSION
#define LIBCXX 1
#else
#define LIBCXX 0
#endif

#ifdef __clang__
#define SIGNATURE "int (int)"
#else
#define SIGNATURE "int(int)"
#endif

using namespace std::chrono_literals;

struct Big {
  long a, b, c;
};
struct Failure : std::runtime_error {
  using runtime_error::runtime_error;
  int code = 7;
};
int twice(int x) { return 2 * x; }

__attribute__((noinline)) void stop() { asm volatile("" : : : "memory"); }

template <class T> Out atomic(const char *type, T v) { return Out("std::atomic<") + type + "> = { " + text(v) + " }"; }

static void erased() {
  std::any a0, a1 = 5, as = std::string("text"), ab = Big{1, 2, 3}, av = std::vector<int>{1, 2};
  SAYS(a0, "std::any [no contained value]");
  SAYS(a1, "std::any containing int = {[contained value] = 5}");
  SAYS(as, "std::any containing std::string = {[contained value] = \"text\"}");
  SAYS(ab, "std::any containing Big = {[contained value] = {a = 1, b = 2, c = 3}}");
  SAYS(av, "std::any containing std::vector<int> = {[contained value] = " + text(std::any_cast<std::vector<int> &>(av)) + "}");
  int local = 3;
  std::function<int(int)> f0, f1 = twice, f2 = [local](int x) { return x + local; };
  SAYS(f0, "std::function<" SIGNATURE "> (empty)");
  SAYS(f1, format("std::function<" SIGNATURE "> = {target = 0x%lx <twice(int)>}", (unsigned long)&twice));
#if LIBCXX
  SAYS(f2, "std::function<" SIGNATURE "> = {target = erased()::…");
#else
  SAYS(f2, "std::function<" SIGNATURE "> = {target = erased()::…");
#endif
  std::exception_ptr e0, e1 = std::make_exception_ptr(std::out_of_range("no such element"));
  std::exception_ptr e2 = std::make_exception_ptr(5), e3 = std::make_exception_ptr(Failure("broken"));
  SAYS(e0, "std::exception_ptr (empty)");
  SAYS(e1, "std::exception_ptr to std::out_of_range = {[exception] = std::out_of_range: \"no such element\"}");
  SAYS(e2, "std::exception_ptr to int = {[exception] = 5}");
  SAYS(e3, "std::exception_ptr to Failure = {[exception] = {<std::runtime_error> = std::runtime_error: \"broken\", code = 7}}");
  std::type_index ti = typeid(int);
  SAYS(ti, "std::type_index of int");
  stop(); // erased
}

static void times() {
  auto s = 5s;
  auto ms = -1500ms;
  auto ns = 7ns;
  auto h = 2h;
  std::chrono::duration<double> ds(1.5);
  std::chrono::duration<int, std::ratio<1, 3>> third(4);
  std::chrono::sys_time<std::chrono::seconds> t0(1000000000s);
  std::chrono::sys_time<std::chrono::milliseconds> t1(-1ms);
  std::chrono::system_clock::time_point t2(std::chrono::duration_cast<std::chrono::system_clock::duration>(1500ms));
  std::chrono::steady_clock::time_point steady(42ns);
  std::chrono::sys_days day(19000 * 24h / 24h * std::chrono::days(1));
  SAYS(s, "std::chrono::duration = { 5s }");
  SAYS(ms, "std::chrono::duration = { -1500ms }");
  SAYS(ns, "std::chrono::duration = { 7ns }");
  SAYS(h, "std::chrono::duration = { 2h }");
  SAYS(ds, "std::chrono::duration = { 1.5s }");
  SAYS(third, "std::chrono::duration = { 4[1/3]s }");
  SAYS(t0, "std::chrono::sys_time = { 1000000000s [2001-09-09 01:46:40] }");
  SAYS(t1, "std::chrono::sys_time = { -1ms [1969-12-31 23:59:59.999] }");
#if LIBCXX
  SAYS(t2, "std::chrono::sys_time = { 1500000us [1970-01-01 00:00:01.500000] }");
#else
  SAYS(t2, "std::chrono::sys_time = { 1500000000ns [1970-01-01 00:00:01.500000000] }");
#endif
  SAYS(steady, "std::chrono::steady_clock time_point = { 42ns }");
  SAYS(day, "std::chrono::sys_time = { 19000d [2022-01-08 00:00:00] }");
  stop(); // times
}

static void threads() {
  std::mutex m0, m1;
  m1.lock();
  std::recursive_mutex r0, r2;
  r2.lock(), r2.lock();
  std::timed_mutex tm;
  std::shared_mutex s0, s1, s2;
  s1.lock(), s2.lock_shared();
  std::condition_variable cv;
  std::unique_lock<std::mutex> ul(m0, std::defer_lock);
  std::thread none;
  std::atomic<int> ai = 5;
  std::atomic<bool> ab = true;
  std::atomic<int *> ap = nullptr;
  std::atomic<double> ad = 1.5;
  std::promise<int> p0, p1;
  p1.set_value(9);
  std::future<int> f, f0 = p0.get_future(), f1 = p1.get_future();
  std::promise<std::string> ps;
  std::future<std::string> fs = ps.get_future();
  ps.set_value("text");
  std::promise<int> pe;
  std::future<int> fe = pe.get_future();
  pe.set_exception(std::make_exception_ptr(std::runtime_error("lost")));
  std::mutex free;
  std::lock_guard<std::mutex> guard(m0);
  int id = gettid();
  SAYS(m0, format("std::mutex (locked by thread %d)", id));
  SAYS(free, "std::mutex (unlocked)");
  SAYS(m1, format("std::mutex (locked by thread %d)", id));
  SAYS(r0, "std::recursive_mutex (unlocked)");
  SAYS(r2, format("std::recursive_mutex (locked 2 times by thread %d)", id));
#if !LIBCXX
  SAYS(tm, "std::timed_mutex (unlocked)");
  SAYS(s0, "std::shared_mutex (unlocked)");
  SAYS(s1, format("std::shared_mutex (locked by thread %d)", id));
  SAYS(s2, "std::shared_mutex (locked by 1 reader)");
#endif
  SAYS(cv, "std::condition_variable (0 waiting)");
  SAYS(ul, "std::unique_lock (not locked)");
  SAYS(none, "std::thread (none)");
  SAYS(ai, atomic("int", 5));
  SAYS(ab, atomic("bool", true));
  SAYS(ap, "std::atomic<int *> = { 0x0 }");
  SAYS(ad, atomic("double", 1.5));
  SAYS(f, "std::future<int> (no state)");
  SAYS(f0, "std::future<int> (not ready)");
  SAYS(f1, "std::future<int> (ready) = {[value] = 9}");
  SAYS(fs, "std::future<std::string> (ready) = {[value] = \"text\"}");
  SAYS(p0, "std::promise<int> (not ready)");
  SAYS(fe, "std::future<int> (ready) = {[exception] = std::exception_ptr to std::runtime_error = "
           "{[exception] = std::runtime_error: \"lost\"}}");
  std::once_flag once;
  std::call_once(once, [] {});
  SAYS(guard, format("std::lock_guard of std::mutex (locked by thread %d)", id));
#if !LIBCXX
  SAYS(once, "std::once_flag (called)");
  std::regex regex("a(b)(c)"), no_regex;
  SAYS(regex, "std::regex (2 groups)");
  SAYS(no_regex, "std::regex (empty)");
#endif
  stop(); // threads
  m1.unlock(), r2.unlock(), r2.unlock(), s1.unlock(), s2.unlock_shared();
}

struct Task {
  struct promise_type {
    int value = 4;
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};
static Task coroutine(int) { co_return; }

static void others() {
  int array[4] = {1, 2, 3, 4};
  std::span<int> sp(array);
  std::span<int, 3> sp3(array, 3);
  std::span<int> sp0;
  SAYS(sp, "std::span of length 4 = {1, 2, 3, 4}");
  SAYS(sp3, "std::span of length 3 = {1, 2, 3}");
  SAYS(sp0, "std::span of length 0");
  std::filesystem::path p0, p1 = "/usr/lib/x.so", p2 = "name";
  SAYS(p0, "filesystem::path \"\"");
  SAYS(p1, "filesystem::path \"/usr/lib/x.so\"");
  SAYS(p2, "filesystem::path \"name\"");
  std::complex<double> c(1, -2);
  SAYS(c, "1 + -2i");
  auto here = std::source_location::current();
  SAYS(here, format("%s:%u:%u in %s", here.file_name(), here.line(), here.column(), here.function_name()));
  std::expected<int, std::string> x1 = 5, x2 = std::unexpected<std::string>("bad");
  std::expected<void, int> x3;
  SAYS(x1, "std::expected = {[expected value] = 5}");
  SAYS(x2, "std::expected = {[unexpected value] = \"bad\"}");
  SAYS(x3, "std::expected");
  std::coroutine_handle<> h0;
  Task task = coroutine(1);
  auto h1 = task.handle;
  SAYS(h0, "std::coroutine_handle (null)");
  SAYS(h1, "std::coroutine_handle (suspended) = {resume = 0x…");
  int target = 8;
  std::reference_wrapper<int> ref = target;
  SAYS(ref, "8");
  auto bound = std::bind(twice, 3);
  SAYS(bound, "std::bind = {f = …");
  std::pmr::string ps = "polymorphic";
  std::pmr::vector<int> pv{1, 2};
  std::pmr::map<int, std::pmr::string> pm{{1, "a"}};
  SAYS(ps, "\"polymorphic\"");
  SAYS(pv, "std::vector of length 2, capacity 2 = {1, 2}");
  SAYS(pm, "std::map with 1 element = {[1] = \"a\"}");
  stop(); // others
  task.handle.destroy();
}

static void iterators() {
  std::vector<int> v{1, 2, 3};
  std::list<int> l{4, 5};
  std::forward_list<int> f{6};
  std::map<int, std::string> m{{1, "one"}, {2, "two"}};
  std::set<int> s{7, 8};
  std::unordered_map<int, int> u{{9, 10}};
  std::deque<int> d{11, 12};
  std::string text = "xyz";
  auto vi = v.begin() + 1;
  auto li = std::next(l.begin());
  auto fi = f.begin(), fe = f.end();
  auto mi = m.begin(), me = m.end();
  auto mci = m.cbegin();
  auto si = s.begin(), se = s.end();
  auto ui = u.begin(), ue = u.end();
  auto di = d.begin() + 1;
  auto ti = text.begin();
  auto ri = v.rbegin();
  SAYS(vi, "2");
  SAYS(li, "5");
  SAYS(fi, "6");
  SAYS(mi, "{first = 1, second = \"one\"}");
  SAYS(mci, "{first = 1, second = \"one\"}");
  SAYS(si, "7");
  SAYS(ui, "{first = 9, second = 10}");
  SAYS(di, "12");
  SAYS(ti, "120 'x'");
  SAYS(ri, "3");
  SAYS(fe, "non-dereferenceable iterator for std::forward_list");
  SAYS(me, "non-dereferenceable iterator for associative container");
  SAYS(se, "non-dereferenceable iterator for associative container");
  SAYS(ue, "non-dereferenceable iterator for unordered container");
  auto rv = std::views::all(v);
  auto take = v | std::views::take(2);
  auto drop = v | std::views::drop(1);
  auto iota = std::views::iota(1, 5);
  SAYS(rv, "std::ranges::ref_view of std::vector of length 3, capacity 3 = {1, 2, 3}");
  SAYS(take, "std::ranges::take_view = {base = std::ranges::ref_view of std::vector of length 3, capacity 3 = {1, 2, 3}, count = 2}");
  SAYS(drop, "std::ranges::drop_view = {base = std::ranges::ref_view of std::vector of length 3, capacity 3 = {1, 2, 3}, count = 1}");
  SAYS(iota, "std::ranges::iota_view = {first = 1, end = 5}");
  stop(); // iterators
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  erased();
  times();
  threads();
  others();
  iterators();
}
