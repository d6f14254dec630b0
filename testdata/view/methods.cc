// Objects whose methods a debugger answers without calling them.
#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

struct Node {
	int id;
	std::string name;
};

int main() {
	std::string s = "hello", none;
	std::string_view sv = s;
	std::vector<int> v{1, 2, 3}, ve;
	std::vector<bool> vb{true, false, true};
	std::vector<std::vector<int>> vv{{1}, {2, 3}};
	std::vector<Node> vn{{5, "five"}, {6, "six"}};
	std::array<int, 3> ar{7, 8, 9};
	std::deque<int> dq;
	for (int i = 0; i < 300; i++)
		dq.push_back(i);
	std::list<int> li{10, 20, 30};
	std::map<std::string, int> m{{"one", 1}, {"two", 2}};
	std::multimap<int, int> mm{{1, 2}, {1, 3}};
	std::set<int> st{3, 1, 2};
	std::unordered_map<std::string, int> um{{"k", 7}};
	std::pair<int, std::string> p{1, "x"};
	std::tuple<int, double, std::string> tu{1, 2.5, "t"};
	std::optional<int> oi = 5, on;
	std::variant<int, std::string> va = "var";
	std::unique_ptr<Node> un(new Node{1, "n"});
	std::shared_ptr<int> sp = std::make_shared<int>(8), sp2 = sp;
	auto it = v.begin() + 1;
	return s.size() + none.size() + sv.size() + ve.size() + vb.size() + vv.size() + vn.size() + ar.size() + li.size() + m.size() + mm.size()
		+ st.size() + um.size() + p.first + std::get<0>(tu) + *oi + on.has_value() + va.index() + un->id + *sp2 + *it; // stop
}
