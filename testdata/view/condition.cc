// Conditions that use views.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct Node { int x; };

static int visit(int i, std::vector<int> &v, std::unique_ptr<Node> &p, std::map<int, int> &m, std::string &s,
                 std::optional<int> o, std::shared_ptr<Node> h, std::vector<int>::iterator it) {
	return i + v[0] + p->x + m[1] + (int)s.size() + *o + h->x + *it; // stop
}

int main() {
	std::vector<int> v{1, 2, 3};
	auto p = std::make_unique<Node>();
	std::map<int, int> m{{1, 7}};
	int sum = 0;
	for (int i = 0; i < 5; i++) {
		v[1] = p->x = i;
		m[1] = 7 + i;
		sum += visit(i, v, p, m, *new std::string("n" + std::to_string(i)), i,
		             std::make_shared<Node>(Node{i}), v.begin() + 1);
	}
	return sum & 1;
}
