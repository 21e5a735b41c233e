"""The contract of the tables: the same statements give the same rows on all engines, and the sums are the report's."""

import argparse
import math
import signal
import sys
import tempfile
import time

import engines
import inputs
from processes import Failure

# Every function with its sums: what `oxperf report` shows.
SUMS = "SELECT event, dso, symbol, sum(period) AS value, count(*) AS samples FROM profile GROUP BY event, dso, symbol"

# Seconds between signals after the end of the time.
AGAIN = 20.0

# Differences that are listed of one statement.
LISTED = 10


def main(description, run_cluster):
    """Runs the test of a cluster: exit code 0 if all is equal, 1 if rows differ, 2 if it could not run."""
    arguments = parse(description)
    # In order with what Spark prints to standard error.
    sys.stdout.reconfigure(line_buffering=True)
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, interrupted)
    # Again and again: an engine may catch the first.
    signal.setitimer(signal.ITIMER_REAL, arguments.seconds, AGAIN)
    try:
        with tempfile.TemporaryDirectory(prefix="oxperf-cluster-") as folder:
            data = inputs.make(arguments, folder)
            differences = Contract(data).check(lambda: run_cluster(data, folder, arguments))
    except (Exception, KeyboardInterrupt) as error:
        # Of an engine, too, which may refuse a statement by an exception of any type.
        kind = "" if isinstance(error, Failure) else f"{type(error).__name__}: "
        print(f"FAILED: {kind}{error}", file=sys.stderr)
        return 2
    print(f"{differences} differences" if differences else "all rows are equal")
    return 1 if differences else 0


def parse(description):
    """The command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("tables", nargs="?", help="a folder of Parquet files [default: made of the recordings]")
    parser.add_argument("-i", dest="recordings", action="append", default=[], metavar="RECORDING",
                        help="a recording, may be repeated; with a folder: what that was made of [default: two are made]")
    parser.add_argument("--oxperf", help="the program [default: the newest of target/release and target/debug]")
    parser.add_argument("--seconds", type=int, default=600, help="stop after so many seconds [default: 600]")
    parser.add_argument("--change", metavar="OLD=NEW",
                        help="replace this text in the statements that the cluster gets, to see that differences are found")
    return parser.parse_args()


def interrupted(number, _):
    """A signal ends the test, and with it the cluster."""
    reason = "out of time" if number == signal.SIGALRM else "terminated"
    raise Failure(reason)


class Contract:
    """The statements, and what DuckDB answers."""

    def __init__(self, data):
        self.data = data
        views = data.views("duckdb")
        self.reference = engines.DuckDb(views)
        wrong = engines.DuckDb(with_wrong_periods(views))
        self.examples = [(title, sql, self.reference.rows(sql)) for title, sql in data.examples()]
        print(f"tables {data.tables}, {len(self.examples)} statements, compared with DuckDB {self.reference.version}")
        for title, sql, (names, rows) in self.examples:
            if not rows:
                raise Failure(f"'{title}' has no rows here: nothing would be compared")
            if not compare((names, rows), wrong.rows(sql)):
                raise Failure(f"'{title}' has the same rows where every period is wrong by one")

    def check(self, run_cluster):
        """Compares all; gives the number of differences."""
        differences = self.compare_sums(self.reference)
        for engine in (
            engines.ClickHouse(self.data.views("clickhouse")),
            engines.DataFusion(self.data.views("datafusion")),
        ):
            differences += self.compare(engine) + self.compare_sums(engine)
        with run_cluster() as cluster:
            differences += self.compare(cluster) + self.compare_sums(cluster)
            cluster.check_work()
        return differences

    def compare(self, engine):
        """Compares the rows of an engine with the reference's."""
        total = 0
        for title, sql, expected in self.examples:
            begin = time.monotonic()
            found = engine.rows(sql)
            seconds = time.monotonic() - begin
            differences = compare(expected, found)
            told = f"{len(differences)} differences" if differences else "equal"
            print(f"{engine.name} {engine.version}: {told}, {len(expected[1])} rows, {seconds:.1f} s: {title}")
            show(differences, engine.name)
            total += len(differences)
        return total

    def compare_sums(self, engine):
        """Compares all sums of an engine with those of the report."""
        if not self.data.recordings:
            print(f"{engine.name} {engine.version}: SKIPPED: sums of the report: -i names no recording")
            return 0
        _, rows = engine.rows(SUMS)
        found = {tuple(row[:3]): tuple(row[3:]) for row in rows}
        expected = self.data.reported()
        keys = sorted(set(found) | set(expected), key=str)
        differences = [(str(key), expected.get(key), found.get(key)) for key in keys if expected.get(key) != found.get(key)]
        told = f"{len(differences)} differences" if differences else "equal"
        period = sum(period for period, _ in expected.values())
        samples = sum(samples for _, samples in expected.values())
        told += f", {len(expected)} functions, {samples} samples, period {period}"
        print(f"{engine.name} {engine.version}: {told}: sums of oxperf report")
        show(differences, engine.name, "report")
        return len(differences)


def with_wrong_periods(views):
    """DuckDB's views of tables where every period is wrong by one: all statements have to notice it."""
    wrong = []
    for view in views:
        renamed = view.replace("VIEW samples AS", "VIEW right_samples AS")
        wrong.append(renamed)
        if renamed != view:
            wrong.append("CREATE VIEW samples AS SELECT * REPLACE (period + 1 AS period) FROM right_samples")
    return wrong


def changed(sql, change):
    """The statement as it is, or a wrong one."""
    if not change:
        return sql
    old, _, new = change.partition("=")
    return sql.replace(old, new)


def compare(expected, found):
    """Differences of two results: place, what is expected, what is found."""
    names, rows = expected
    other_names, other_rows = found
    if names != other_names:
        return [("columns", names, other_names)]
    differences = []
    for number, (row, other) in enumerate(zip(rows, other_rows), 1):
        differences += [(f"row {number}, {name}", cell, other_cell)
                        for name, cell, other_cell in zip(names, row, other) if not is_equal(cell, other_cell)]
    if len(rows) != len(other_rows):
        differences.append(("number of rows", len(rows), len(other_rows)))
    return differences


def is_equal(one, other):
    """Whether two cells are equal; the last digits of a sum of floats depend on the order."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9) or math.isnan(one) and math.isnan(other)
    return type(one) is type(other) and one == other


def show(differences, name, reference="DuckDB"):
    """Lists the first differences."""
    for place, expected, found in differences[:LISTED]:
        print(f"    {place}: {reference} {expected!r}, {name} {found!r}")
    if len(differences) > LISTED:
        print(f"    and {len(differences) - LISTED} more")
