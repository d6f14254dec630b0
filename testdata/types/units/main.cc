#include "base.h"
void stop() {}
int main() { Base *a = makeA(), *b = makeB(), *s = makeStripped(), *l = makeLib(); stop(); return a->f() + b->f() + s->f(); }
