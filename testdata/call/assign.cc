// Texts of every kind, to which a debugger assigns.
#include <cstdio>
#include <string>
#include <vector>

struct Person {
	std::string name;
	int age;
};

int main() {
	std::string s = "hello", longer(100, 'x');
	Person p{"abc", 3};
	std::vector<std::string> v{"a", "b"};
	std::wstring wide = L"wide";
	const char *c = "old";
	char buf[8] = "first";
	printf("ready\n");
	printf("%s %s %s %s %s %s %ls\n", s.c_str(), longer.c_str(), p.name.c_str(), v[1].c_str(), c, buf, wide.c_str()); // stop
	return 0;
}
