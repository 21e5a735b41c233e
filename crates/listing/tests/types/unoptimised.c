/* Without optimisation every variable lies on the stack, and what a pointer leads to is known by following it from there. */

struct node {
    struct node *next;
    long key;
};

static struct node last = {0, 3};
static struct node first = {&last, 4};

long sum(struct node *node)
{
    long all = 0;
    while (node) {
        all += node->key;
        node = node->next;
    }
    return all;
}

void _start(void)
{
    volatile long wanted = 0;
    for (long turn = 0; turn < 3; turn++)
        wanted += sum(&first);
    __asm__ volatile("syscall" : : "a"(60), "D"(0));
}
