__attribute__((noinline)) static long inner(long n) { return n * 77 + (n >> 3); }

__attribute__((noinline, visibility("hidden"))) long hidden(long n) { return n ^ inner(n); }

long stranger(long n) { return hidden(n) + 1; }
