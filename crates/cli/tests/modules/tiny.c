/* A stand-in for a kernel module: functions in the sections that modules have. */
extern int printk(const char *text, ...);

static int sum;

static inline int twice(int value)
{
	return value * 2 + sum;
}

__attribute__((noinline)) int tiny_helper(int value)
{
	for (int i = 0; i < value; i++)
		sum += twice(i);
	return sum;
}

int tiny_work(int value)
{
	int first = tiny_helper(value);

	printk("worked: %d\n", first);
	return tiny_helper(first);
}

__attribute__((cold, section(".text.unlikely"))) int tiny_trouble(void)
{
	return printk("trouble\n");
}

__attribute__((section(".init.text"))) int init_module(void)
{
	return tiny_work(3);
}

__attribute__((section(".exit.text"))) void cleanup_module(void)
{
	printk("gone\n");
}
