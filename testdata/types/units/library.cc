#include "base.h"
struct FromLibrary : Base { int lib = 77; int f() override { return 4; } };
Base *makeLib() { return new FromLibrary; }
