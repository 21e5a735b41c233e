static inline __attribute__((always_inline)) int twice(int value) {
    return value * 2;
}

int hot(int value) {
    int sum = 0;
    for (int i = 0; i < value; i++)
        sum += twice(i) ^ value;
    return sum;
}

int cold(int value) {
    return twice(value) + 1;
}
