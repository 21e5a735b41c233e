"""What the engines read: a folder of Parquet files, and what `oxperf report` says of the same recordings."""

import json
import os
import sys

from processes import Failure, run

# Blocks that Python takes from malloc, by several ways to it, and work that takes none.
WORKLOAD = """
import time
def blocks(count):
    return [bytearray(4096) for _ in range(count)], [" " * 3000 + str(number) for number in range(count)]
def lists(count):
    return [[None] * 600 for _ in range(count)]
def sums(count):
    return sum(number * number for number in range(count))
end = time.monotonic() + 3
while time.monotonic() < end:
    blocks(200)
    lists(200)
    sums(2000)
"""


class Inputs:
    """A folder of tables, the recordings that are in it if they are known, and the program that made it."""

    def __init__(self, oxperf, tables, recordings):
        self.oxperf = oxperf
        self.tables = tables
        self.recordings = recordings

    def views(self, engine):
        """The statements that make the tables and views of an engine."""
        return statements(run([self.oxperf, "query", "--views", engine, "-i", self.tables], 60))

    def examples(self):
        """The statements that all engines have to answer alike: pairs of a title and SQL."""
        texts = statements(run([self.oxperf, "query", "--examples"], 60))
        return [(text.splitlines()[0].removeprefix("-- "), text) for text in texts]

    def reported(self):
        """Sums of all functions by `oxperf report`: (event, object, function) to (period, samples)."""
        sums = {}
        for recording in self.recordings:
            command = [self.oxperf, "report", "--json", "--no-children", "-g", "none", "-s", "dso,sym", "-i", recording]
            for table in json.loads(run(command, 300))["tables"]:
                add_table(sums, table)
        return sums


def add_table(sums, table):
    """Adds the rows of a report to the sums."""
    for row in table["rows"]:
        for place, event in enumerate(table["events"]):
            samples = row["self_samples"][place]
            if samples:
                key = (event["name"], row["dso"], named(row["symbol"], row["dso"]))
                before = sums.get(key, (0, 0))
                sums[key] = (before[0] + row["self_periods"][place], before[1] + samples)


def named(symbol, dso):
    """A function as the tables have it: the report shows the address of one without a name, they show its object."""
    if not symbol.startswith("0x"):
        return symbol
    return dso if dso.startswith("[") else f"[{dso}]"


def statements(text):
    """The statements of a text; each ends with a semicolon at the end of a line."""
    return [part.strip() for part in text.rstrip().removesuffix(";").split(";\n")]


def make(arguments, folder):
    """The inputs that the arguments name, or two recordings of a moment ago."""
    oxperf = find_program(arguments.oxperf)
    if arguments.tables:
        return Inputs(oxperf, os.path.abspath(arguments.tables), arguments.recordings)
    recordings = arguments.recordings or [record(oxperf, folder, number) for number in (1, 2)]
    tables = os.path.join(folder, "tables")
    for recording in recordings:
        # One after the other: each adds its files, as the days of a fleet do.
        run([oxperf, "export", "--format", "parquet", "-o", tables, "-i", recording], 300)
    return Inputs(oxperf, tables, recordings)


def record(oxperf, folder, number):
    """Records the workload with a clock, which every machine has, and whole stacks."""
    path = os.path.join(folder, f"recording-{number}.data")
    options = ["-e", "cpu-clock", "-F", "499", "--call-graph", "dwarf", "-N", "-o", path]
    run([oxperf, "record", *options, "--", sys.executable, "-c", WORKLOAD], 60)
    return path


def find_program(given):
    """The program that is tested: the one that is named, or the newest that the main workspace has built."""
    if given:
        return os.path.abspath(given)
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "target")
    built = [os.path.join(root, profile, "oxperf") for profile in ("release", "debug")]
    built = [path for path in built if os.path.exists(path)]
    if not built:
        raise Failure("oxperf is not built: run cargo build in the main folder, or name it with --oxperf")
    return os.path.abspath(max(built, key=os.path.getmtime))
