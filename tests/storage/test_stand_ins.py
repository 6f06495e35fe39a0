"""Classes of values that DuckDB looks up."""

import subprocess
import sys

import pytest

VALUES = """
import sys
sys.modules["pandas"] = None  # as in the command line
from qmd.storage.cursor import connected
connection = connected()
assert not {"uuid", "decimal"} & sys.modules.keys(), "loaded with the engine"
"""


def run(script):
    done = subprocess.run(
        [sys.executable, "-c", VALUES + script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_values_of_other_types_do_not_load_the_modules():
    script = """
rows = connection.execute("select $a, $b, $c", {"a": "tea", "b": 1.5, "c": None}).fetchall()
assert rows == [("tea", 1.5, None)], rows
assert not {"uuid", "decimal"} & sys.modules.keys()
"""
    run(script)


@pytest.mark.parametrize(
    ("module", "text"),
    [("decimal", "Decimal('1.50')"), ("uuid", "UUID('12345678-1234-5678-1234-567812345678')")],
)
def test_values_of_a_class_that_was_stood_in_for_are_read_and_returned(module, text):
    script = f"""
from {module} import *
[(kind, same)] = connection.execute("select typeof($value), $value", {{"value": {text}}}).fetchall()
print(kind, same == {text}, type(same) is type({text}))
"""
    kind, *same = run(script).split()
    assert kind.startswith({"decimal": "DECIMAL", "uuid": "UUID"}[module])
    assert same == ["True", "True"]


def test_results_of_such_a_class_are_real_ones_without_an_import_before():
    script = """
rows = connection.execute("select 1.50::decimal(9, 2), uuid()").fetchall()
import decimal, uuid
print(*(type(each) in (decimal.Decimal, uuid.UUID) for each in rows[0]))
"""
    assert run(script).split() == ["True", "True"]


def test_modules_that_are_loaded_stay_as_they_are_in_a_process_with_threads():
    script = """
import threading
from qmd.storage import stand_ins
halt = threading.Event()
other = threading.Thread(target=halt.wait)
other.start()
with stand_ins.stood_in():
    assert not {"uuid", "decimal"} & sys.modules.keys()
halt.set()
other.join()
import decimal
with stand_ins.stood_in():
    assert sys.modules["decimal"] is decimal
"""
    run(script)


def test_pandas_is_hidden_from_statements_of_qmd_and_from_nothing_else(tmp_path):
    (tmp_path / "pandas.py").write_text("NaT, NA, loaded = object(), object(), True")
    script = f"""
del sys.modules["pandas"]
sys.path.insert(0, {str(tmp_path)!r})
from qmd.storage.cursor import Cursor, connected
assert Cursor(connected()).connection.execute("select 1").fetchall() == [(1,)]
assert "pandas" not in sys.modules, "loaded by a statement"
import _duckdb
_duckdb.connect().execute("select $a", {{"a": 1}})
print(_duckdb.__version__ >= "2" or sys.modules["pandas"].loaded)  # DuckDB 2 does without it
"""
    assert run(script) == "True\n"


def test_pandas_can_be_imported_beside_an_engine_of_qmd(tmp_path):
    (tmp_path / "pandas.py").write_text("loaded = True")
    script = f"""
del sys.modules["pandas"]
sys.path.insert(0, {str(tmp_path)!r})
import pandas
print(pandas.loaded)
"""
    assert run(script) == "True\n"
