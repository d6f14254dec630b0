// Messages and containers of protobuf. The program prints what a debugger must show for them. protoc makes
// sample.pb.cc of sample.proto.
#include "sample.pb.cc"

#include "text.h"

using namespace google::protobuf;
using sample::Point;
using sample::Record;

template <class T> Out length(const char *what, const T &v, int capacity) {
  return format("google::protobuf::%s of length %d, capacity %d", what, v.size(), capacity) + (v.size() ? " = " + plain(v) : "");
}
template <class T> struct Text<RepeatedField<T>> {
  static Out of(const RepeatedField<T> &v) { return length("RepeatedField", v, v.Capacity()); }
};
// capacity knows the member that has no public function.
struct PtrCapacity : internal::RepeatedPtrFieldBase {
  static int of(const void *p) { return static_cast<const PtrCapacity *>(p)->Capacity(); }
};
template <class T> struct Text<RepeatedPtrField<T>> {
  static Out of(const RepeatedPtrField<T> &v) { return length("RepeatedPtrField", v, PtrCapacity::of(&v)); }
};
template <class K, class V> struct Text<Map<K, V>> {
  static Out of(const Map<K, V> &v) { return with("google::protobuf::Map", v, keyed(v)); }
};
template <> struct Text<Point> {
  static Out of(const Point &v) { return "sample::Point = {x_ = " + text(int(v.x())) + ", y_ = " + text(int(v.y())) + "}"; }
};

// The members of a record are in the order of their layout. bits are its bits of presence.
static Out choice(const Record &v) {
  switch (v.choice_case()) {
  case Record::kCode: return std::to_string(v.code());
  case Record::kLabel: return text(v.label());
  case Record::kSpot: return text(v.spot());
  default: return "not set";
  }
}
template <> struct Text<Record> {
  static Out of(const Record &v) {
    unsigned bits = (v.has_note() ? 1 : 0) | (v.has_maybe() ? 2 : 0);
    Out color = std::to_string(int(v.color()));
    return "sample::Record = {_has_bits_ = {has_bits_ = {" + std::to_string(bits) + "}}, numbers_ = " + text(v.numbers()) +
           ", reals_ = " + text(v.reals()) + ", words_ = " + text(v.words()) + ", points_ = " + text(v.points()) +
           ", ages_ = " + text(v.ages()) + ", places_ = " + text(v.places()) + ", colors_ = " + text(v.colors()) +
           ", name_ = " + text(v.name()) + ", data_ = " + text(v.data()) + ", note_ = " + text(v.note()) +
           ", at_ = " + (v.has_at() ? text(v.at()) : Out("0x0")) + ", big_ = " + std::to_string(v.big()) +
           ", id_ = " + text(int(v.id())) + ", on_ = " + text(v.on()) + ", weight_ = " + text(v.weight()) +
           ", color_ = " + color + ", maybe_ = " + text(int(v.maybe())) + ", choice_ = " + choice(v) +
           ", _oneof_case_ = {" + std::to_string(int(v.choice_case())) + "}}";
  }
};

__attribute__((noinline)) void stop() { asm volatile("" : : : "memory"); }

static void containers() {
  RepeatedField<int> n0, n1, n3, n_many;
  RepeatedField<double> d3;
  RepeatedField<bool> b3;
  RepeatedPtrField<std::string> w0, w1, w3, w_many, w_cleared;
  RepeatedPtrField<Point> p0, p2;
  Map<std::string, int> a0, a1, a3, a_many;
  Map<int, std::string> i_many;
  Map<int, Point> places;
  n1.Add(-7), w1.Add()->assign("one"), a1["one"] = 1;
  for (int i = 0; i < 3; i++) {
    n3.Add(i * 10), d3.Add(i / 2.0), b3.Add(i % 2), w3.Add()->assign(30 * i, 'a' + i ), a3[format("key %d", i)] = i;
    w_cleared.Add()->assign("cleared"), places[i].set_x(i), w3.Mutable(i)->assign(format("word %d", i));
  }
  w_cleared.RemoveLast(), w_cleared.RemoveLast();
  for (int i = 0; i < 1000; i++) n_many.Add(i), w_many.Add()->assign(format("%d", i)), a_many[format("%d", i)] = i, i_many[i] = format("%d", i);
  p2.Add()->set_x(1), p2.Add()->set_y(-2);
  SAY(n0); SAY(n1); SAY(n3); SAY(n_many); SAY(d3); SAY(b3); SAY(w0); SAY(w1); SAY(w3); SAY(w_many); SAY(w_cleared); SAY(p0); SAY(p2);
  SAY(a0); SAY(a1); SAY(a3); SAY(a_many); SAY(i_many); SAY(places);
  stop(); // containers
}

static void messages() {
  Point p, q;
  q.set_x(3), q.set_y(-4);
  SAY(p); SAY(q);
  Record r0, r, coded, labelled, arena_copy;
  r.set_id(5), r.set_big(18446744073709551615u), r.set_weight(2.5), r.set_on(true), r.set_name("a name"), r.set_data(std::string("\0\1", 1));
  r.set_color(sample::BLUE), r.mutable_at()->set_x(9), r.set_maybe(0), r.set_note("a note that is longer than the string object");
  for (int i = 0; i < 3; i++) {
    r.add_numbers(i), r.add_reals(i), r.add_words(format("w%d", i)), r.add_points()->set_y(i), r.add_colors(sample::GREEN);
    (*r.mutable_ages())[format("n%d", i)] = i, (*r.mutable_places())[i].set_x(i);
  }
  r.mutable_spot()->set_x(77);
  coded.set_code(17), labelled.set_label("a label"), labelled.set_maybe(1);
  SAY(r0); SAY(r); SAY(coded); SAY(labelled);
  Record reflected;
  reflected.GetReflection()->AddMessage(&reflected, Record::descriptor()->FindFieldByName("ages"));
  std::printf("reflected._impl_.ages_\ta map whose elements are newer in its repeated field\n");
  Kept kept_reflected(&reflected);
  Arena arena;
  Record &in_arena = *Arena::CreateMessage<Record>(&arena);
  in_arena.CopyFrom(r);
  SAYS(in_arena, format("(sample::Record &) @0x%lx: ", (unsigned long)&in_arena) + text(in_arena));
  stop(); // messages
}

// Damaged is the memory of an object with bytes that are none of its own.
template <class T> union Damaged {
  T value;
  char bytes[sizeof(T)];
  Damaged() {
    for (size_t i = 0; i < sizeof(T); i++) bytes[i] = char(i * 37 + 0x81);
  }
  ~Damaged() {}
};

static void damaged() {
  Damaged<RepeatedField<int>> numbers;
  Damaged<RepeatedPtrField<Point>> points;
  Damaged<Map<int, Point>> map;
  Damaged<internal::ArenaStringPtr> odd_text, wild_text; // the place of wild_text looks right, and no string is there
  Damaged<Record> record;
  odd_text.bytes[0] = 4;
#define BAD(v, class_name)                                                                                                  \
  std::printf("%s.value\t<not a valid " class_name "…\n", #v);                                                              \
  Kept kept_##v(&v)
  BAD(numbers, "google::protobuf::RepeatedField");
  BAD(points, "google::protobuf::RepeatedPtrField");
  BAD(map, "google::protobuf::Map");
  BAD(odd_text, "google::protobuf::internal::ArenaStringPtr");
  BAD(wild_text, "std::__cxx11::basic_string");
  BAD(record, "google::protobuf::Message");
  stop(); // damaged
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  containers();
  messages();
  damaged();
}
