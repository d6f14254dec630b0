#include "base.h"
namespace { struct Impl : Base { char noDebug[100]; int f() override { return 3; } }; }
Base *makeStripped() { return new Impl; }
