#include <stdlib.h>
void last(void (*)(void));
static void die(void) { abort(); }
int main(void) {
  last(die);
  return 0;
}
