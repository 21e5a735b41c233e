/* gcc -O2 -g -gdwarf-5 -ffreestanding -fno-asynchronous-unwind-tables -fcf-protection=none -nostdlib -static inlined.c -o inlined */
static inline __attribute__((always_inline)) unsigned mix(unsigned x)
{
    x ^= x << 13;
    return x ^ x >> 17;
}

static inline __attribute__((always_inline)) unsigned twice(unsigned x)
{
    return mix(x) * mix(x + 1);
}

unsigned volatile seed = 1;

__attribute__((noinline)) unsigned work(unsigned n)
{
    unsigned sum = 0;
    while (n--)
        sum += twice(seed + n);
    return sum;
}

void _start(void)
{
    seed = work(1000);
    for (;;)
        ;
}
