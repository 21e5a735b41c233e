// Runs every part of the program as often as the first word says.
#include <cstdio>
#include <cstdlib>
// DECLARATIONS
int main(int count, char **words) {
    unsigned rounds = count > 1 ? std::atoi(words[1]) : 10;
    double sum = 0;
    for (unsigned seed = 0; seed < rounds; seed++) {
        // CALLS
    }
    std::printf("%f\n", sum);
}
