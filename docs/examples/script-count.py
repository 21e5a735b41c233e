#!/usr/bin/env python3
"""Counts samples by function: oxperf script -s script-count.py [N]

Reads the lines that docs/jsonl.md describes, and tells what was lost.
"""

import collections
import json
import sys


def main():
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    counts = collections.Counter()
    ended = False
    for line in sys.stdin:
        event = json.loads(line)
        if event["type"] == "header" and event["version"] != 1:
            sys.exit(f"version {event['version']} of {event['format']} is not known here")
        elif event["type"] == "sample":
            counts[event.get("symbol", "[unknown]"), event.get("dso", "[unknown]")] += 1
        elif event["type"] == "end":
            ended = True
            lost = event["lost_records"] + event["lost_samples"]
            if lost:
                print(f"{lost} samples and records were lost", file=sys.stderr)
    total = sum(counts.values())
    for (symbol, dso), count in counts.most_common(most):
        print(f"{count:8} {100 * count / total:6.2f}%  {symbol} ({dso})")
    return 0 if ended else 1


sys.exit(main())
