// text(x) is what a debugger must show for x. It is made from the public interface of the library: the
// program knows its own values. The words are those of libstdc++'s printers for gdb.
#pragma once
#include <array>
#include <bitset>
#include <complex>
#include <cstdio>
#include <deque>
#include <forward_list>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <stack>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#ifdef _LIBCPP_VERSION
#define LIST "std::list"
#elif _GLIBCXX_USE_CXX11_ABI
#define LIST "std::__cxx11::list"
#else
#define LIST "std::list"
#endif

using Out = std::string;
constexpr size_t most = 200; // elements that are shown

template <class T> struct Text;
template <class T> Out text(const T &v) { return Text<std::remove_cv_t<T>>::of(v); }

template <class... A> Out format(const char *f, A... a) {
  char b[400];
  std::snprintf(b, sizeof b, f, a...);
  return b;
}

// name is a type as people write it.
template <class T> Out name();
template <> inline Out name<int>() { return "int"; }
template <> inline Out name<char>() { return "char"; }
template <> inline Out name<double>() { return "double"; }
template <> inline Out name<bool>() { return "bool"; }
template <> inline Out name<long>() { return "long"; }
template <> inline Out name<std::string>() { return "std::string"; }
template <> inline Out name<std::vector<int>>() { return "std::vector<int>"; }

template <> struct Text<bool> {
  static Out of(bool v) { return v ? "true" : "false"; }
};
#ifdef __cpp_char8_t
template <> struct Text<char8_t> {
  static Out of(char8_t v) { return format("%d u8'%c'", v, v); }
};
#endif
template <> struct Text<int> {
  static Out of(int v) { return std::to_string(v); }
};
template <> struct Text<long> {
  static Out of(long v) { return std::to_string(v); }
};
template <> struct Text<unsigned> {
  static Out of(unsigned v) { return std::to_string(v); }
};
template <> struct Text<unsigned long> {
  static Out of(unsigned long v) { return std::to_string(v); }
};
template <> struct Text<double> {
  static Out of(double v) { return format("%.17g", v); }
};
template <> struct Text<char> {
  static Out of(char v) { return format("%d '%c'", v, v); }
};
template <class T> struct Text<T *> {
  static Out of(T *v) { return format("0x%lx", (unsigned long)v); }
};
template <class T> struct Text<std::complex<T>> {
  static Out of(const std::complex<T> &v) { return text(v.real()) + " + " + text(v.imag()) + "i"; }
};

template <class C> constexpr const char *prefix = "";
template <> inline constexpr const char *prefix<wchar_t> = "L";
template <> inline constexpr const char *prefix<char16_t> = "u";
template <> inline constexpr const char *prefix<char32_t> = "U";
#ifdef __cpp_char8_t
template <> inline constexpr const char *prefix<char8_t> = "u8";
#endif

// Characters are ASCII, and no run of one is long.
template <class S> Out quoted(const S &s) {
  Out out = Out(prefix<typename S::value_type>) + '"';
  for (size_t i = 0; i < s.size() && i < most; i++) {
    if (s[i] == '"' || s[i] == '\\') out += '\\';
    if (s[i] == '\n') out += "\\n";
    else if (s[i] == 0) out += "\\000";
    else out += char(s[i]);
  }
  return out + (s.size() > most ? "\"..." : "\"");
}
template <class C, class T, class A> struct Text<std::basic_string<C, T, A>> {
  static Out of(const std::basic_string<C, T, A> &v) { return ::quoted(v); }
};
template <class C, class T> struct Text<std::basic_string_view<C, T>> {
  static Out of(const std::basic_string_view<C, T> &v) { return ::quoted(v); }
};

// braces joins elements.
template <class C, class F> Out braces(const C &c, F each) {
  Out out = "{", comma;
  size_t n = 0;
  for (auto &&x : c) {
    if (n++ == most) {
      out += "...";
      break;
    }
    out += comma + each(x, n - 1);
    comma = ", ";
  }
  return out + "}";
}
template <class C> Out plain(const C &c) {
  return braces(c, [](const auto &x, size_t) { return text(x); });
}
template <class C> Out numbered(const C &c) {
  return braces(c, [](const auto &x, size_t i) { return "[" + std::to_string(i) + "] = " + text(x); });
}
template <class C> Out keyed(const C &c) {
  return braces(c, [](const auto &x, size_t) { return "[" + text(x.first) + "] = " + text(x.second); });
}
// with is the text of a container that counts.
template <class C> Out with(const char *what, const C &c, Out items) {
  Out out = what + format(" with %zu element%s", c.size(), c.size() == 1 ? "" : "s");
  return c.empty() ? out : out + " = " + items;
}

template <class T, class A> struct Text<std::vector<T, A>> {
  static Out of(const std::vector<T, A> &v) {
    Out out = std::is_same_v<T, bool> ? "std::vector<bool>" : "std::vector";
    out += format(" of length %zu, capacity %zu", v.size(), v.capacity());
    if (v.empty()) return out;
    if constexpr (std::is_same_v<T, bool>) return out + " = " + braces(v, [](bool b, size_t) { return text(b); });
    else return out + " = " + plain(v);
  }
};
template <class T, size_t N> struct Text<std::array<T, N>> {
  static Out of(const std::array<T, N> &v) { return format("std::array of length %zu", N) + (N ? " = " + plain(v) : ""); }
};
template <class T, class A> struct Text<std::deque<T, A>> {
  static Out of(const std::deque<T, A> &v) { return with("std::deque", v, plain(v)); }
};
template <class T, class A> struct Text<std::list<T, A>> {
  static Out of(const std::list<T, A> &v) { return v.empty() ? "empty " LIST : LIST " = " + numbered(v); }
};
template <class T, class A> struct Text<std::forward_list<T, A>> {
  static Out of(const std::forward_list<T, A> &v) {
    return v.empty() ? "empty std::forward_list" : "std::forward_list = " + numbered(v);
  }
};
template <class... T> struct Text<std::map<T...>> {
  static Out of(const std::map<T...> &v) { return with("std::map", v, keyed(v)); }
};
template <class... T> struct Text<std::multimap<T...>> {
  static Out of(const std::multimap<T...> &v) { return with("std::multimap", v, keyed(v)); }
};
template <class... T> struct Text<std::set<T...>> {
  static Out of(const std::set<T...> &v) { return with("std::set", v, numbered(v)); }
};
template <class... T> struct Text<std::multiset<T...>> {
  static Out of(const std::multiset<T...> &v) { return with("std::multiset", v, numbered(v)); }
};
template <class... T> struct Text<std::unordered_map<T...>> {
  static Out of(const std::unordered_map<T...> &v) { return with("std::unordered_map", v, keyed(v)); }
};
template <class... T> struct Text<std::unordered_multimap<T...>> {
  static Out of(const std::unordered_multimap<T...> &v) { return with("std::unordered_multimap", v, keyed(v)); }
};
template <class... T> struct Text<std::unordered_set<T...>> {
  static Out of(const std::unordered_set<T...> &v) { return with("std::unordered_set", v, numbered(v)); }
};
template <class... T> struct Text<std::unordered_multiset<T...>> {
  static Out of(const std::unordered_multiset<T...> &v) { return with("std::unordered_multiset", v, numbered(v)); }
};
template <class A, class B> struct Text<std::pair<A, B>> {
  static Out of(const std::pair<A, B> &v) { return "{first = " + text(v.first) + ", second = " + text(v.second) + "}"; }
};
template <class... T> struct Text<std::tuple<T...>> {
  static Out of(const std::tuple<T...> &v) {
    if (sizeof...(T) == 0) return "empty std::tuple";
    Out out, comma;
    int n = 0;
    std::apply([&](const auto &...x) { ((out += comma + format("[%d] = ", ++n) + text(x), comma = ", "), ...); }, v);
    return "std::tuple containing = {" + out + "}";
  }
};
template <class T> struct Text<std::optional<T>> {
  static Out of(const std::optional<T> &v) {
    Out out = "std::optional<" + name<T>() + ">";
    return v ? out + " = {[contained value] = " + text(*v) + "}" : out + " [no contained value]";
  }
};
template <class... T> struct Text<std::variant<T...>> {
  static Out of(const std::variant<T...> &v) {
    Out out, comma;
    ((out += comma + name<T>(), comma = ", "), ...);
    out = "std::variant<" + out + ">";
    if (v.valueless_by_exception()) return out + " [no contained value]";
    return out + format(" [index %zu] = {", v.index()) + std::visit([](const auto &x) { return text(x); }, v) + "}";
  }
};
template <class T, class D> struct Text<std::unique_ptr<T, D>> {
  static Out of(const std::unique_ptr<T, D> &v) { return "std::unique_ptr<" + name<T>() + "> = {get() = " + text(v.get()) + "}"; }
};
template <class T> struct Text<std::shared_ptr<T>> {
  static Out of(const std::shared_ptr<T> &v) {
    std::weak_ptr<T> w = v;
    Out out = "std::shared_ptr<" + name<T>() + ">";
    if (v.use_count() == 0) return out + " (empty) = {get() = 0x0}";
    return out + format(" (use count %ld, weak count %d) = {get() = ", v.use_count(), weak) + text(v.get()) + "}";
  }
  static inline int weak = 0; // what the program has made
};
template <class T> struct Text<std::initializer_list<T>> {
  static Out of(const std::initializer_list<T> &v) {
    return format("std::initializer_list of length %zu", v.size()) + (v.size() ? " = " + plain(v) : "");
  }
};
template <size_t N> struct Text<std::bitset<N>> {
  static Out of(const std::bitset<N> &v) {
    Out out, comma;
    for (size_t i = 0; i < N; i++)
      if (v[i]) out += comma + format("[%zu] = 1", i), comma = ", ";
    return out.empty() ? "std::bitset" : "std::bitset = {" + out + "}";
  }
};
// inside shows the container of an adaptor.
template <class A> struct Inside : A {
  static const typename A::container_type &of(const A &a) { return a.*&Inside::c; }
};
template <class... T> struct Text<std::queue<T...>> {
  static Out of(const std::queue<T...> &v) { return "std::queue wrapping: " + text(Inside<std::queue<T...>>::of(v)); }
};
template <class... T> struct Text<std::stack<T...>> {
  static Out of(const std::stack<T...> &v) { return "std::stack wrapping: " + text(Inside<std::stack<T...>>::of(v)); }
};
template <class... T> struct Text<std::priority_queue<T...>> {
  static Out of(const std::priority_queue<T...> &v) {
    return "std::priority_queue wrapping: " + text(Inside<std::priority_queue<T...>>::of(v));
  }
};

// SAY prints a variable's name and its text, and keeps the variable in memory to the end of its block.
#define SAY(v)                                                                                                              \
  std::printf("%s\t%s\n", #v, text(v).c_str());                                                                              \
  Kept kept_##v(&v)
struct Kept {
  const void *p;
  explicit Kept(const void *p) : p(p) {}
  ~Kept() { asm volatile("" : : "r"(p) : "memory"); }
};
// SAYS is for what text() can't know.
#define SAYS(v, t)                                                                                                          \
  std::printf("%s\t%s\n", #v, Out(t).c_str());                                                                               \
  Kept kept_##v(&v)
