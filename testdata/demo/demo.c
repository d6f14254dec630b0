//go:build ignore

// The program of "dbg demo": a small railway. Trains run through a network of
// stations and collect what they carry. One of them meets a station that was
// never built.
//
// It needs no C library, so that it is small and runs everywhere: see
// build.sh. The first line keeps Go from compiling it.

enum cargo { EMPTY, COAL, TIMBER, MAIL };

struct station {
	const char *name;
	enum cargo cargo;
	int amount;
	struct station *next;
};

struct train {
	const char *name;
	int load[4]; // by kind of cargo
	struct station *at;
	int stops;
};

static struct station harbour = {"Harbour", COAL, 40, 0};
static struct station sawmill = {"Sawmill", TIMBER, 25, &harbour};
static struct station market = {"Market", MAIL, 3, &sawmill};
static struct station ghost = {"Ghost", MAIL, 1, (struct station *)16};

static long write_out(const char *text, long size)
{
	long ret;
	__asm__ volatile("syscall" : "=a"(ret) : "a"(1), "D"(1), "S"(text), "d"(size) : "rcx", "r11", "memory");
	return ret;
}

static void say(const char *text)
{
	long size = 0;
	while (text[size])
		size++;
	write_out(text, size);
}

static int take(struct train *train, struct station *here)
{
	int room = 50 - train->load[here->cargo];
	int taken = here->amount < room ? here->amount : room;
	train->load[here->cargo] += taken;
	train->stops++;
	return taken;
}

// travel goes from station to station and returns what was taken in all.
static int travel(struct train *train, struct station *here)
{
	if (!here)
		return 0;
	train->at = here;
	int taken = take(train, here);
	return taken + travel(train, here->next);
}

int main(void)
{
	struct train express = {"Express", {0}, 0, 0};
	struct train night = {"Night Mail", {0}, 0, 0};

	int total = travel(&express, &market);
	say(total == 68 ? "Express: 68 taken\n" : "Express: lost something\n");

	total = travel(&night, &ghost);
	say("Night Mail: arrived\n");
	return total;
}

__attribute__((naked)) void _start(void)
{
	__asm__ volatile(".cfi_undefined rip\n\t"
			 "xor %ebp, %ebp\n\t"
			 "and $-16, %rsp\n\t"
			 "call main\n\t"
			 "mov %eax, %edi\n\t"
			 "mov $60, %eax\n\t"
			 "syscall\n\t"
			 "hlt");
}
