#!/usr/bin/env python3
"""Classes, comprehensions, JSON and regular expressions."""
import json
import re
import sys


class Square:
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side * self.side


def words(count):
    counts = {}
    for i in range(count):
        name = "k%d" % (i * 7919 % 1000)
        counts[name] = counts.get(name, 0) + i
    return sum(len(name) for name in sorted(counts, key=lambda name: counts[name]))


def below(depth, count):
    return words(count) if depth == 0 else below(depth - 1, count)


def work(rounds):
    total = 0
    for _ in range(rounds):
        total += below(20, 3000) + sum(Square(i).area() for i in range(3000))
        text = json.dumps({str(i): [i, {"a": i}] for i in range(1500)})
        total += len(json.loads(text))
        total += len(re.sub(r"(\d+)", lambda found: found.group(1) * 2, text[:4000]))
    return total


print(work(int(sys.argv[1]) if len(sys.argv) > 1 else 120))
