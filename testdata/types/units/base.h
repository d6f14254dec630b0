// Units with classes of the same name, for "set print object".
struct Base { virtual ~Base() {} virtual int f() { return 0; } int b = 1; };
Base *makeA(); Base *makeB(); Base *makeStripped(); Base *makeLib();
