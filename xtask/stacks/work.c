// Sorts, formats and allocates below a few calls of itself: code of libc calls back and is called.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 20000

static unsigned long seed = 42;

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void fill(int *values)
{
    for (int i = 0; i < COUNT; i++) {
        seed = seed * 6364136223846793005UL + 1442695040888963407UL;
        values[i] = (int)(seed >> 33);
    }
}

static unsigned long format(const int *values)
{
    char line[256];
    unsigned long sum = 0;
    for (int i = 0; i + 3 < COUNT / 8; i += 4) {
        snprintf(line, sizeof line, "%d %x %s %g", values[i], values[i + 1], "word", values[i + 2] / 3.0);
        sum += strlen(line) + line[3];
    }
    return sum;
}

static unsigned long allocate(void)
{
    unsigned char *kept[64] = {0};
    unsigned long sum = 0;
    for (int i = 0; i < COUNT; i++) {
        int place = i % 64;
        free(kept[place]);
        kept[place] = malloc(16 + i * 37 % 900);
        memset(kept[place], i, 16);
        sum += kept[place][3];
    }
    for (int place = 0; place < 64; place++)
        free(kept[place]);
    return sum;
}

static unsigned long below(int depth, int *values)
{
    if (depth > 0)
        return below(depth - 1, values) + depth;
    fill(values);
    qsort(values, COUNT, sizeof *values, by_value);
    return format(values) + allocate();
}

int main(int argc, char **argv)
{
    static int values[COUNT];
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    unsigned long sum = 0;
    for (int round = 0; round < rounds; round++)
        sum += below(12, values);
    printf("%lu\n", sum);
    return 0;
}
