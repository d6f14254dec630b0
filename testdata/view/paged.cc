// Containers for an editor's tree of variables.
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Point { int x, y; };

int main() {
	std::vector<int> many(100000);
	for (int i = 0; i < 100000; i++)
		many[i] = i * 2;
	std::map<std::string, Point> points{{"a", {1, 2}}, {"b", {3, 4}}};
	std::map<int, int> squares;
	for (int i = 0; i < 1000; i++)
		squares[i * 10] = i * i;
	std::unique_ptr<Point> owner(new Point{5, 6});
	std::string text = "text";
	return many[1] + points["a"].x + owner->x + text.size() + squares[10] > 0; // stop
}
