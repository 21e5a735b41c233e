#!/usr/bin/env python3
"""Compares the rows of a Ballista cluster with those of DuckDB, ClickHouse and `oxperf report`.

A scheduler and two executors run on 127.0.0.1 and read one folder of Parquet files, in which each table has a folder: a
scheduler forgets patterns of names. `cargo build` in this folder makes the program that all of them are.
"""

import contextlib
import os
import re
import sys
import time
import tomllib
import urllib.request

import contract
from engines import DuckDb
from inputs import Inputs
from processes import Failure, Processes, free_port, run

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "target", "debug", "oxperf-cluster")
EXECUTORS = 2
# How long scheduler and executors may take to appear, on a slow machine.
START = 60.0


class Ballista:
    """A client of the scheduler."""

    name = "Ballista"

    def __init__(self, port, views, folder, change):
        self.port = port
        self.folder = folder
        self.change = change
        self.version = version()
        self.views = os.path.join(folder, "views.sql")
        with open(self.views, "w") as file:
            file.write(";\n".join(views))

    def rows(self, sql):
        """Names of columns, and rows."""
        statement = os.path.join(self.folder, "statement.sql")
        result = os.path.join(self.folder, "result.parquet")
        with open(statement, "w") as file:
            file.write(contract.changed(sql, self.change))
        run([PROGRAM, "client", str(self.port), self.views, statement, result], 300)
        return DuckDb([]).rows(f"SELECT * FROM '{result}'")

    def check_work(self):
        """Fails unless every executor has written rows for the others."""
        written = {f"executor-{number}": size(executor_folder(self.folder, number)) for number in range(1, EXECUTORS + 1)}
        print(f"Ballista {self.version}: bytes that executors exchanged: {written}")
        if not all(written.values()):
            raise Failure("not every executor has done work")


def version():
    """The version that is built."""
    with open(os.path.join(HERE, "Cargo.lock"), "rb") as file:
        packages = tomllib.load(file)["package"]
    return next(package["version"] for package in packages if package["name"] == "ballista")


def executor_folder(folder, number):
    """Where an executor keeps rows for the others."""
    return os.path.join(folder, f"executor-{number}")


def size(folder):
    """Bytes of all files below a folder."""
    return sum(os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(folder) for name in names)


@contextlib.contextmanager
def cluster(data, folder, arguments):
    """A scheduler, two executors and a client of them."""
    if not os.path.exists(PROGRAM):
        raise Failure(f"{PROGRAM} is not built: run cargo build in {HERE}")
    port = free_port()
    with Processes(folder, arguments.seconds) as processes:
        processes.start("scheduler", [PROGRAM, "scheduler", str(port), str(EXECUTORS)])
        deadline = time.monotonic() + START
        processes.wait_until("the scheduler", lambda: health(port, "healthz"), deadline)
        for number in range(1, EXECUTORS + 1):
            place = executor_folder(folder, number)
            os.mkdir(place)
            ports = [str(port), str(free_port()), str(free_port())]
            processes.start(f"executor-{number}", [PROGRAM, "executor", *ports, place])
        processes.wait_until("the executors", lambda: health(port, "readyz"), deadline)
        apart = Inputs(data.oxperf, tables_apart(data.tables, folder), data.recordings)
        yield Ballista(port, apart.views("ballista"), folder, arguments.change)


def tables_apart(tables, folder):
    """A folder that has the files of each table in a folder of its name."""
    apart = os.path.join(folder, "apart")
    for name in os.listdir(tables):
        table = re.fullmatch(r"([a-z]+)(-\d+)?\.parquet", name)
        if table:
            place = os.path.join(apart, table[1])
            os.makedirs(place, exist_ok=True)
            os.symlink(os.path.join(tables, name), os.path.join(place, name))
    return apart


def health(port, question):
    """Whether the scheduler answers that all is well."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{port}/{question}", timeout=10) as answer:
            return answer.status == 200
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(contract.main(__doc__, cluster))
