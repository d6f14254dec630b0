#include "base.h"
namespace { struct Impl : Base { double fromB = 2.5; long more = 3; int f() override { return 2; } }; }
Base *makeB() { return new Impl; }
