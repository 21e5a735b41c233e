// Two threads with strings, streams, virtual calls and exceptions.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual double area(int key) const = 0;
};

struct Square : Shape {
    double side;
    explicit Square(double side) : side(side) {}
    double area(int key) const override
    {
        if (key % 997 == 0)
            throw std::runtime_error("odd");
        return side * side + key;
    }
};

static double sum(const std::vector<std::unique_ptr<Shape>> &shapes, int key)
{
    double total = 0;
    for (auto &shape : shapes) {
        try {
            total += shape->area(key++);
        } catch (const std::exception &error) {
            total += error.what()[0];
        }
    }
    return total;
}

static size_t words(int count)
{
    std::map<std::string, int> counts;
    for (int i = 0; i < count; i++) {
        std::ostringstream name;
        name << "k" << i * 7919 % 1000;
        counts[name.str()] += i;
    }
    size_t total = 0;
    for (auto &entry : counts)
        total += entry.first.size() + entry.second;
    return total;
}

static size_t work(int rounds)
{
    size_t total = 0;
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = 0; i < 3000; i++)
        shapes.push_back(std::make_unique<Square>(i));
    for (int round = 0; round < rounds; round++) {
        std::vector<std::string> names;
        for (int i = 0; i < 5000; i++)
            names.push_back(std::to_string(i * 7919 % 5003));
        std::sort(names.begin(), names.end(), [](auto &a, auto &b) { return a < b; });
        total += words(3000) + (size_t)sum(shapes, round) + names[7].size();
    }
    return total;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 60;
    size_t other = 0;
    std::thread thread([&] { other = work(rounds); });
    size_t own = work(rounds);
    thread.join();
    std::cout << own + other << "\n";
}
