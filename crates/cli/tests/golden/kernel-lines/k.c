int counter;
static inline __attribute__((always_inline)) int step(int x)
{
	return x * 3 + counter;
}
int vfs_read(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += step(i);
	return s;
}
int do_syscall_64(int n)
{
	return vfs_read(n) + 1;
}
