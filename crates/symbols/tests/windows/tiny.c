/* A program for Windows: functions that are exported, and others. */
static int sum;

__attribute__((noinline)) static int helper(int value)
{
	for (int i = 0; i < value; i++)
		sum += i * value;
	return sum;
}

__declspec(dllexport) int work(int value)
{
	int first = helper(value);

	return helper(first) + 1;
}

int entry(void)
{
	return work(3);
}
