// Values of fmt, nlohmann::json and rapidjson. The program prints what a debugger must show for them.
#include "text.h"

#define FMT_HEADER_ONLY 1
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <rapidjson/document.h>

using nlohmann::json;

template <> struct Text<unsigned char> {
  static Out of(unsigned char v) { return std::to_string(v); }
};
template <class J> Out json_text(const J &v) {
  switch (v.type()) {
  case json::value_t::null: return "null";
  case json::value_t::object: return text(v.template get_ref<const typename J::object_t &>());
  case json::value_t::array: return text(v.template get_ref<const typename J::array_t &>());
  case json::value_t::string: return text(v.template get_ref<const std::string &>());
  case json::value_t::boolean: return text(bool(v));
  case json::value_t::number_integer: return std::to_string(v.template get<int64_t>());
  case json::value_t::number_unsigned: return std::to_string(v.template get<uint64_t>());
  case json::value_t::number_float: return text(v.template get<double>());
  default: return "discarded";
  }
}
template <> struct Text<json> {
  static Out of(const json &v) { return json_text(v); }
};
template <> struct Text<rapidjson::Value> {
  static Out of(const rapidjson::Value &v) {
    Out out, comma;
    if (v.IsNull()) return "null";
    if (v.IsBool()) return text(v.GetBool());
    if (v.IsDouble()) return text(v.GetDouble());
    if (v.IsUint64()) return std::to_string(v.GetUint64());
    if (v.IsInt64()) return std::to_string(v.GetInt64());
    if (v.IsString()) return ::quoted(std::string(v.GetString(), v.GetStringLength()));
    if (v.IsObject()) {
      for (auto &m : v.GetObject()) out += comma + "[" + of(m.name) + "] = " + of(m.value), comma = ", ";
      return format("object with %u element%s", v.MemberCount(), v.MemberCount() == 1 ? "" : "s") + (out.empty() ? "" : " = {" + out + "}");
    }
    for (auto &x : v.GetArray()) out += comma + of(x), comma = ", ";
    return format("array of length %u, capacity %u", v.Size(), v.Capacity()) + (out.empty() ? "" : " = {" + out + "}");
  }
};
template <> struct Text<rapidjson::Document> {
  static Out of(const rapidjson::Document &v) { return Text<rapidjson::Value>::of(v); }
};

__attribute__((noinline)) void stop() { asm volatile("" : : : "memory"); }

static const char *document = R"({"a": [1, -2, 2.5, "x", null, true, {}], "b": {"c": {"d": [[], [18446744073709551615]]}},
  "long": "a text that is longer than the object itself"})";

static void nlohmann_json() {
  json j0, jb = true, ji = -5, ju = 18446744073709551615u, jd = 2.5, js = "text", ja = {1, 2, "three"}, jo = {{"a", 1}, {"b", nullptr}},
       whole = json::parse(document), empty_array = json::array(), empty_object = json::object(), discarded = json::parse("{", nullptr, false);
  std::vector<json> list{1, "x"};
  nlohmann::ordered_json ordered = {{"z", 1}, {"a", 2}};
  SAY(j0); SAY(jb); SAY(ji); SAY(ju); SAY(jd); SAY(js); SAY(ja); SAY(jo); SAY(whole); SAY(empty_array); SAY(empty_object); SAY(discarded); SAY(list);
  SAYS(ordered, "std::vector of length 2, capacity 2 = {{first = \"z\", second = 1}, {first = \"a\", second = 2}}");
  stop(); // nlohmann_json
}

static void others() {
  rapidjson::Document d, d0, da;
  d.Parse(document), da.Parse("[]");
  rapidjson::Value &a = d["a"], &b = d["b"], s = rapidjson::Value("constant"), n = rapidjson::Value(-7);
  fmt::memory_buffer m0, m1, m_long;
  fmt::format_to(std::back_inserter(m1), "answer {}", 42);
  for (int i = 0; i < 2000; i++) m_long.push_back(char('a' + i % 26));
  fmt::string_view v0, v = "a view";
  SAY(d); SAY(d0); SAY(da); SAY(s); SAY(n);
  Out reference = "(rapidjson::Value &) @0x";
  SAYS(a, reference + format("%lx: ", (unsigned long)&a) + Text<rapidjson::Value>::of(a));
  SAYS(b, reference + format("%lx: ", (unsigned long)&b) + Text<rapidjson::Value>::of(b));
  SAYS(m0, "\"\""); SAYS(m1, "\"answer 42\""); SAYS(m_long, ::quoted(std::string(m_long.data(), m_long.size())));
  SAYS(v0, "\"\""); SAYS(v, "\"a view\"");
  stop(); // others
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  nlohmann_json();
  others();
}
