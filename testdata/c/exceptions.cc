#include <stdexcept>
#include <system_error>
#include <new>
struct mine : std::runtime_error { using runtime_error::runtime_error; };
struct other : std::exception { const char *what() const noexcept override { return "other"; } };
struct two { virtual ~two() {} int x; };
struct multi : two, std::logic_error { multi() : std::logic_error("two bases") {} };
template <class F> void run(F f) { try { f(); } catch (...) {} }
int main() {
  run([] { throw std::runtime_error("boom \033[31m"); });
  run([] { throw mine("mine"); });
  run([] { throw other(); });
  run([] { throw multi(); });
  run([] { throw 5; });
  run([] { throw "text"; });
  run([] { throw std::bad_alloc(); });
  try { try { throw mine("again"); } catch (std::exception &e) { throw; } } catch (std::exception &e) { auto p = std::current_exception(); try { std::rethrow_exception(p); } catch (mine &) {} }
}
