long stranger(long), label(long);

long entry(long n) { return stranger(label(n)); }
