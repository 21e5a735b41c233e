"""Engines of a single process: DuckDB, which the others are compared with, ClickHouse (chdb) and DataFusion."""

import datetime
import decimal
import json


class DuckDb:
    """DuckDB."""

    name = "DuckDB"

    def __init__(self, views):
        import duckdb

        self.connection = duckdb.connect()
        self.version = duckdb.__version__
        self.connection.execute("SET memory_limit = '2GB'")
        for view in views:
            self.connection.execute(view)

    def rows(self, sql):
        """Names of columns, and rows."""
        result = self.connection.execute(sql)
        names = [column[0] for column in result.description]
        return names, [tuple(plain(cell) for cell in row) for row in result.fetchall()]


class ClickHouse:
    """ClickHouse within this process."""

    name = "ClickHouse"

    def __init__(self, views):
        from chdb import session

        self.session = session.Session()
        self.version = json.loads(self.answer("SELECT version()"))["data"][0][0]
        for view in views:
            self.session.query(view)

    def answer(self, sql):
        """The answer as JSON."""
        settings = "SETTINGS output_format_json_quote_64bit_integers = 0"
        return str(self.session.query(f"SELECT * FROM ({sql}) {settings}", "JSONCompact"))

    def rows(self, sql):
        """Names of columns, and rows."""
        answer = json.loads(self.answer(sql))
        kinds = [column["type"] for column in answer["meta"]]
        rows = [tuple(typed(cell, kind) for cell, kind in zip(row, kinds)) for row in answer["data"]]
        return [column["name"] for column in answer["meta"]], rows


class DataFusion:
    """DataFusion within this process."""

    name = "DataFusion"

    def __init__(self, views):
        import datafusion

        runtime = datafusion.RuntimeEnvBuilder().with_fair_spill_pool(2 << 30)
        self.context = datafusion.SessionContext(runtime=runtime)
        self.version = datafusion.__version__
        for view in views:
            self.context.sql(view)

    def rows(self, sql):
        """Names of columns, and rows."""
        table = self.context.sql(sql).to_arrow_table()
        columns = [[plain(cell) for cell in column.to_pylist()] for column in table.columns]
        return table.column_names, list(zip(*columns))


def typed(cell, kind):
    """A cell of ClickHouse's JSON, where moments are texts."""
    if cell is not None and "DateTime" in kind:
        return plain(datetime.datetime.fromisoformat(cell))
    return plain(cell)


def plain(cell):
    """A cell without what only one engine has: other types for whole numbers and for moments."""
    if isinstance(cell, datetime.datetime):
        if cell.tzinfo:
            cell = cell.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return cell.isoformat(sep=" ", timespec="microseconds")
    if isinstance(cell, decimal.Decimal) and cell == cell.to_integral_value():
        return int(cell)
    return cell
