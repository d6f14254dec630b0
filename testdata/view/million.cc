// Large containers, and many.
#include <map>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

int main() {
	std::map<int, int> ordered, tree;
	for (int i = 0; i < 1000000; i++)
		ordered[i] = i;
	std::list<int> chain;
	std::unordered_map<int, int> table;
	for (int i = 0; i < 1000000; i++)
		tree[i * 7919L % 1000003] = i, chain.push_back(i), table[i] = i;
	std::vector<std::vector<int>> hundred(100, std::vector<int>(100, 7));
	return ordered[3] + tree[3] + chain.size() + hundred.size() + table.size(); // stop
}
