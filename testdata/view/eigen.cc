// Matrices of Eigen. The program prints what a debugger must show for them.
#include "text.h"

#include <Eigen/Dense>
#include <Eigen/Sparse>

// rows is the text of a matrix.
template <class M> Out rows(const char *what, const M &m) {
  Out out = format("%s %ld x %ld", what, long(m.rows()), long(m.cols())), comma;
  if (m.size() == 0) return out;
  out += " = {";
  for (long r = 0; r < m.rows(); r++) {
    Out line, gap;
    for (long c = 0; c < m.cols(); c++) line += gap + text(m(r, c)), gap = ", ";
    out += comma + (m.cols() == 1 || m.rows() == 1 ? line : "{" + line + "}"), comma = ", ";
  }
  return out + "}";
}
template <class T, int... N> struct Text<Eigen::Matrix<T, N...>> {
  static Out of(const Eigen::Matrix<T, N...> &v) { return rows("Eigen::Matrix", v); }
};
template <class T, int... N> struct Text<Eigen::Array<T, N...>> {
  static Out of(const Eigen::Array<T, N...> &v) { return rows("Eigen::Array", v); }
};
template <class M> struct Text<Eigen::Map<M>> {
  static Out of(const Eigen::Map<M> &v) { return rows("Eigen::Map", v); }
};

__attribute__((noinline)) void stop() { asm volatile("" : : : "memory"); }

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Matrix2d m2;
  Eigen::Matrix<int, 2, 3> m23;
  Eigen::Matrix<int, 2, 3, Eigen::RowMajor> r23;
  Eigen::MatrixXd x0, x23(2, 3), x_many(300, 4);
  RowMajor y23(2, 3);
  Eigen::Vector3d v3(1, 2, 3);
  Eigen::VectorXi v0, v4(4);
  Eigen::RowVector2i row(7, 8);
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, 0, 4, 4> within(2, 2);
  Eigen::Matrix<int, 2, Eigen::Dynamic> half(2, 2);
  Eigen::ArrayXXi array(2, 2);
  int data[6] = {1, 2, 3, 4, 5, 6};
  Eigen::Map<Eigen::MatrixXi> map(data, 2, 3);
  Eigen::Map<Eigen::Matrix<int, 2, 3, Eigen::RowMajor>> map2(data);
  Eigen::Map<Eigen::VectorXi> map3(data, 6);
  Eigen::Quaterniond q(1, 2, 3, 4);
  Eigen::SparseMatrix<double> s0(3, 3), s(3, 4), loose(3, 3);
  Eigen::SparseMatrix<int, Eigen::RowMajor> sr(2, 2);
  m2 << 1, 2, 3, 4.5;
  m23 << 1, 2, 3, 4, 5, 6;
  r23 << 1, 2, 3, 4, 5, 6;
  x23 << 1, 2, 3, 4, 5, 6;
  y23 << 1, 2, 3, 4, 5, 6;
  for (int i = 0; i < 1200; i++) x_many(i / 4, i % 4) = i;
  v4 << 4, 3, 2, 1;
  within << 1, 2, 3, 4;
  half << 1, 2, 3, 4;
  array << 1, 2, 3, 4;
  s.insert(0, 1) = 5, s.insert(2, 3) = 7, s.insert(1, 1) = 6, s.makeCompressed();
  loose.insert(1, 0) = 1.5, loose.insert(2, 2) = 2.5;
  sr.insert(0, 1) = 1, sr.insert(1, 0) = 2, sr.makeCompressed();
  SAY(m2); SAY(m23); SAY(r23); SAY(x0); SAY(x23); SAY(y23); SAY(v3); SAY(v0); SAY(v4); SAY(row); SAY(half); SAY(array); SAY(map); SAY(map2); SAY(map3);
  SAYS(within, "Eigen::Matrix 2 x 2 = {{1, 2}, {3, 4}}");
  SAYS(x_many, "Eigen::Matrix 300 x 4 = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}…");
  SAYS(q, "Eigen::Quaternion = {w = 1, x = 2, y = 3, z = 4}");
  SAYS(s0, "Eigen::SparseMatrix 3 x 3");
  SAYS(s, "Eigen::SparseMatrix 3 x 4 = {[0,1] = 5, [1,1] = 6, [2,3] = 7}");
  SAYS(loose, "Eigen::SparseMatrix 3 x 3 = {[1,0] = 1.5, [2,2] = 2.5}");
  SAYS(sr, "Eigen::SparseMatrix 2 x 2 = {[0,1] = 1, [1,0] = 2}");
  stop();
}
