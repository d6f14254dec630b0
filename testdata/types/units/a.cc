#include "base.h"
namespace { struct Impl : Base { int fromA = 10; int f() override { return 1; } }; }
Base *makeA() { return new Impl; }
