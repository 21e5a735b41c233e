/* Data of many kinds, for the tests of types; built as README.md says. */
struct inner { short a; union { int u; float f; }; };
struct bits { unsigned few : 3; unsigned long many : 40; int whole; };
struct node { struct node *next; long key; struct inner in; struct bits bits; struct inner row[3]; };
typedef struct node *handle;

int counter;
static struct node first;
struct node *table[4];

__attribute__((noinline)) struct node *get(void) { return &first; }

__attribute__((noinline)) long walk(struct node *n, long key) {
    long sum = 0;
    while (n) {
        if (n->key != key)
            sum += n->row[1].u;
        n = n->next;
    }
    return sum;
}

__attribute__((noinline)) long chase(struct node *n) { return n->next->next->key + n->next->bits.whole; }

__attribute__((noinline)) long globals(int i) {
    counter += i;
    first.in.u = i;
    table[1]->bits.whole = i;
    return first.bits.few;
}

__attribute__((noinline)) long returned(void) { return get()->bits.whole; }

__attribute__((noinline)) int typed(handle h, char *text) { return h->in.a + text[1]; }

__attribute__((noinline, optimize("O0"))) long local(int n) {
    struct node here;
    here.bits.whole = n;
    here.next = &here;
    return here.next->bits.whole;
}

void _start(void) {
    counter = local(counter);
    first.next = &first;
    globals(walk(&first, 1) + chase(&first) + returned() + typed(&first, "ab"));
    for (;;) ;
}
