/* A program with a name, lines and nothing else to find: what the recordings of these tests say ran. */
int count(int number)
{
    int sum = 0;
    for (int each = 0; each < number; each++)
        sum += each % 7;
    return sum;
}

int main(void)
{
    return count(1000) == 1;
}
