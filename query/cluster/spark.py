#!/usr/bin/env python3
"""Compares the rows of a Spark cluster with those of DuckDB, ClickHouse and `oxperf report`.

A master and two workers run on 127.0.0.1 and read one folder of Parquet files.
"""

import contextlib
import json
import os
import sys
import time
import urllib.request
import warnings

import contract
from engines import plain
from processes import Failure, Processes, free_port

WORKERS = 2
# How long master, workers and executors may take to appear, on a slow machine.
START = 180.0


class Spark:
    """A session whose work runs on the workers."""

    name = "Spark"

    def __init__(self, session, views, change):
        self.session = session
        self.version = session.version
        self.change = change
        for view in views:
            session.sql(view)

    def rows(self, sql):
        """Names of columns, and rows."""
        result = self.session.sql(contract.changed(sql, self.change))
        return result.columns, [tuple(plain(cell) for cell in row) for row in result.collect()]

    def check_work(self):
        """Fails unless every worker has done a part of the work."""
        done = {executor["id"]: executor["completedTasks"] for executor in executors(self.session)}
        print(f"Spark {self.version}: tasks by executor: {done}")
        if len(done) < WORKERS or not all(done.values()):
            raise Failure("not every worker has done work")


def executors(session):
    """What the driver knows of its executors; none where it does not answer yet."""
    context = session.sparkContext
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/executors"
    return [executor for executor in get_json(url) or [] if executor["id"] != "driver"]


def get_json(url):
    """An answer of a server of ours; `None` where it does not answer yet."""
    # No proxy of the environment: it is this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=10) as answer:
            return json.load(answer)
    except OSError:
        return None


@contextlib.contextmanager
def cluster(data, folder, arguments):
    """A master, two workers and a session on them."""
    import pyspark

    home = os.path.dirname(pyspark.__file__)
    environment = {
        "SPARK_HOME": home,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": os.path.join(folder, "spark"),
        "SPARK_NO_DAEMONIZE": "1",
        "PYSPARK_PYTHON": sys.executable,
        # Rows have moments of UTC.
        "TZ": "UTC",
    }
    os.environ.update(environment)
    time.tzset()
    with Processes(folder, arguments.seconds) as processes:
        master = start_master_and_workers(processes, home, folder)
        session = connect(master, folder)
        try:
            processes.wait_until("executors", lambda: len(executors(session)) == WORKERS, time.monotonic() + START)
            yield Spark(session, data.views("spark"), arguments.change)
        finally:
            session.stop()


def start_master_and_workers(processes, home, folder):
    """Starts them, waits for them; gives the master's address."""
    script = os.path.join(home, "bin", "spark-class")
    port, web = free_port(), free_port()
    host = ["--host", "127.0.0.1"]
    ports = ["--port", str(port), "--webui-port", str(web)]
    processes.start("master", [script, "org.apache.spark.deploy.master.Master", *host, *ports])
    address = f"spark://127.0.0.1:{port}"
    deadline = time.monotonic() + START
    processes.wait_until("the master", lambda: workers(web) is not None, deadline)
    for number in range(1, WORKERS + 1):
        room = ["-c", "1", "-m", "1g", "-d", os.path.join(folder, f"worker-{number}"), "--webui-port", "0"]
        processes.start(f"worker-{number}", [script, "org.apache.spark.deploy.worker.Worker", *host, *room, address])
    processes.wait_until("the workers", lambda: workers(web) == WORKERS, deadline)
    return address


def workers(web):
    """Workers that the master has; `None` where it does not answer yet."""
    answer = get_json(f"http://127.0.0.1:{web}/json/")
    return answer and answer["aliveworkers"]


def connect(master, folder):
    """A session on the cluster."""
    # It warns of versions of pandas, which this test does not use.
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("oxperf").master(master)
    options = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.cores": "1",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": os.path.join(folder, "warehouse"),
        "spark.ui.port": "0",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


if __name__ == "__main__":
    sys.exit(contract.main(__doc__, cluster))
