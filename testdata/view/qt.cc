// Values of Qt 5 and 6. The program prints what a debugger must show for them.
#include "text.h"

#include <QBitArray>
#include <QByteArray>
#include <QDateTime>
#include <QFlags>
#include <QHash>
#include <QList>
#include <QMap>
#include <QPair>
#include <QPoint>
#include <QRect>
#include <QScopedPointer>
#include <QSet>
#include <QSharedPointer>
#include <QSize>
#include <QString>
#include <QStringList>
#include <QUrl>
#include <QVariant>
#include <QVector>

template <> struct Text<QString> {
  static Out of(const QString &v) { return "u" + ::quoted(v.toStdString()); }
};
template <> struct Text<QByteArray> {
  static Out of(const QByteArray &v) { return ::quoted(v.toStdString()); }
};
template <class T> Out listed(const char *what, const T &v) {
  return what + format(" of length %ld", long(v.size())) + (v.isEmpty() ? "" : " = " + plain(v));
}
template <class T> struct Text<QList<T>> {
  static Out of(const QList<T> &v) { return listed("QList", v); }
};
#if QT_VERSION < 0x060000
template <class T> struct Text<QVector<T>> {
  static Out of(const QVector<T> &v) { return listed("QVector", v); }
};
#endif
template <> struct Text<QStringList> {
  static Out of(const QStringList &v) { return listed("QList", v); }
};
template <class M> Out pairs(const char *what, const M &m) {
  Out out, comma;
  size_t n = 0;
  for (auto it = m.begin(); it != m.end(); ++it) {
    if (n++ == most) {
      out += "...";
      break;
    }
    out += comma + "[" + text(it.key()) + "] = " + text(it.value()), comma = ", ";
  }
  return what + format(" with %ld element%s", long(m.size()), m.size() == 1 ? "" : "s") + (out.empty() ? "" : " = {" + out + "}");
}
template <class K, class V> struct Text<QMap<K, V>> {
  static Out of(const QMap<K, V> &v) { return pairs("QMap", v); }
};
template <class K, class V> struct Text<QHash<K, V>> {
  static Out of(const QHash<K, V> &v) { return pairs("QHash", v); }
};
template <class T> struct Text<QSet<T>> {
  static Out of(const QSet<T> &v) {
    return format("QSet with %ld element%s", long(v.size()), v.size() == 1 ? "" : "s") + (v.isEmpty() ? "" : " = " + numbered(v));
  }
};

struct Large {
  long a, b, c;
};
template <> struct Text<Large> {
  static Out of(const Large &v) { return "{a = " + text(v.a) + ", b = " + text(v.b) + ", c = " + text(v.c) + "}"; }
};
enum Colour { Red = 1, Green = 2, Blue = 4 };

__attribute__((noinline)) void stop() { asm volatile("" : : : "memory"); }

static void containers() {
  QString s0, s1 = "x", s_empty = "", s_long = "a text with \"quotes\" and more", literal = QStringLiteral("literal"), many(5000, 'z');
  for (int i = 0; i < 5000; i++) many[i] = QChar('a' + i % 26);
  QByteArray b0, b3 = "abc", raw = QByteArray::fromRawData("raw data", 3);
  QList<int> l0, l3{1, 2, 3}, l_many;
  for (int i = 0; i < 10000; i++) l_many.append(i);
  for (int i = 0; i < 5; i++) l_many.removeFirst();
  QList<QString> ls{"a", "bc"};
  QStringList sl{"one", "two"};
  QList<Large> ll{{1, 2, 3}, {4, 5, 6}};
  QList<char> lc{'a', 'b'};
  QVector<int> v0, v3{1, 2, 3};
  QVector<QString> vs{"a"};
  QVector<QVector<int>> vv{{1}, {}, {2, 3}};
  QMap<int, int> m0, m1{{1, 2}}, m_many;
  for (int i = 0; i < 10000; i++) m_many[i * 7 % 10000] = i;
  QMap<QString, QList<int>> ms{{"k", {1, 2}}, {"a", {}}};
  QHash<int, int> h0, h1{{1, 2}}, h_many;
  for (int i = 0; i < 10000; i++) h_many[i] = -i;
  QHash<QString, QString> hs{{"a", "b"}, {"c", "d"}};
  QSet<int> e0, e3{1, 2, 3};
  QSet<QString> es{"x", "y"};
  SAY(s0); SAY(s1); SAY(s_empty); SAY(s_long); SAY(literal); SAY(many); SAY(b0); SAY(b3); SAY(raw); SAY(l0); SAY(l3); SAY(l_many); SAY(ls);
  SAYS(sl, "QList of length 2 = {u\"one\", u\"two\"}");
  SAY(ll); SAY(lc); SAY(v0); SAY(v3); SAY(vs); SAY(vv); SAY(m0); SAY(m1); SAY(m_many); SAY(ms); SAY(h0); SAY(h1); SAY(h_many); SAY(hs);
  SAY(e0); SAY(e3); SAY(es);
  stop(); // containers
}

static void others() {
  QPair<int, QString> p{1, "one"};
  QPoint point(3, -4);
  QPointF pointf(0.5, 2);
  QSize size(10, 20);
  QRect rect(1, 2, 30, 40);
  QDate d0, d1(2020, 2, 29);
  QTime t0, t1(1, 2, 3, 45);
  QSharedPointer<int> s0, s1(new int(5)), s2 = s1;
  QWeakPointer<int> w = s1;
  QScopedPointer<int> u0, u1(new int(6));
  QChar c('a');
  QFlags<Colour> flags = QFlags<Colour>(Red) | Blue;
  QVariant v0, vi = 5, vb = true, vd = 2.5, vs = QString("text"), vl = 1234567890123LL;
  QBitArray bits(10);
  bits.setBit(3), bits.setBit(9);
  QUrl url("http://user@example.org:8080/a/path?q=1#top");
  QDateTime when(QDate(2020, 2, 29), QTime(1, 2, 3), Qt::UTC), never;
  SAYS(p, "{first = 1, second = u\"one\"}");
  SAYS(point, "QPoint(3, -4)"); SAYS(pointf, "QPointF(0.5, 2)"); SAYS(size, "QSize(10 x 20)"); SAYS(rect, "QRect(30 x 40 at 1, 2)");
  SAYS(d0, "QDate(invalid)"); SAYS(d1, "QDate(2020-02-29)"); SAYS(t0, "QTime(invalid)"); SAYS(t1, "QTime(01:02:03.045)");
  SAYS(s0, "QSharedPointer<int> (empty) = {get() = 0x0}");
  SAYS(s2, "QSharedPointer<int> (strong 2, weak 3) = {get() = " + text(s1.data()) + "}");
  SAYS(w, "QWeakPointer<int> (strong 2, weak 3) = {get() = " + text(s1.data()) + "}");
  SAYS(u0, "QScopedPointer<int> = {get() = 0x0}");
  SAYS(u1, "QScopedPointer<int> = {get() = " + text(u1.data()) + "}");
  SAYS(c, "97 u'a'");
  SAYS(v0, "QVariant (invalid)"); SAYS(vi, "QVariant(int) = 5"); SAYS(vb, "QVariant(bool) = true"); SAYS(vd, "QVariant(double) = 2.5");
  SAYS(vs, "QVariant(QString) = u\"text\""); SAYS(vl, "QVariant(long long) = 1234567890123");
  SAYS(bits, "QBitArray of length 10 = {false, false, false, true, false, false, false, false, false, true}");
  stop(); // others
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  containers();
  others();
}
