"""e2b-code-interpreter: streams of an execution, Execution.to_json, results of commands."""

import dataclasses
import json
import logging

from e2b import CommandResult
from e2b_code_interpreter.models import Execution, ExecutionError, Logs, Result, parse_output

from fill import PNG
from payload import Payload, Reader

# A chart of a kind that the package does not know: it keeps it as it came, and says so each time.
logging.getLogger("e2b_code_interpreter.models").setLevel(logging.CRITICAL)
CHART = {
    "type": "bar", "title": "a chart", "x_label": "stations", "y_label": "rain", "x_unit": "a unit", "y_unit": "mm",
    "elements": [{"label": "a label", "group": "a group", "value": "12.5"}],
}
RESULT = {
    "text": "<Figure size 640x480>", "markdown": "**42** rows", "latex": "$42$", "png": PNG + "\n", "json": {"rows": [{"name": "a row"}]},
    "data": {"station": ["a station"], "rain": [12.5]}, "is_main_result": True,
}
# The client passes over lines of a type that it does not know.
MARKS = frozenset({("type",)})
TRACEBACK = "Traceback (most recent call last):\n  line 1\nKeyError: 0"


def as_stream(data):
    """Line by line, as the client does it."""
    execution = Execution()
    for line in data.decode().splitlines():
        parse_output(execution, line)
    if not execution.results and not execution.logs.stdout and not execution.error:
        raise ValueError("nothing in it")


def as_execution(data):
    """The way back that to_json has none of: its own classes take every part."""
    value = json.loads(data)
    logs, error = json.loads(value["logs"]), value["error"] and json.loads(value["error"])
    for result in value["results"]:
        Result(**result)
    Execution([Result(**r) for r in value["results"]], Logs(**logs), error and ExecutionError(**error)).to_json()


def as_command(data):
    CommandResult(**json.loads(data))


def stream(lines) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def payloads():
    printed = [
        {"type": "number_of_executions", "execution_count": 1},
        {"type": "stdout", "text": "42 rows read\n", "timestamp": "2026-11-29T12:00:00Z"},
        {"type": "stderr", "text": "a warning\n", "timestamp": "2026-11-29T12:00:00Z"},
    ]
    result = {"type": "result", **RESULT, "chart": CHART, "extra": {"application/vnd.vendor+json": {"note": "a note"}}}
    error = {"type": "error", "name": "KeyError", "value": "the key 0", "traceback": TRACEBACK}
    end = {"type": "end_of_execution"}
    for name, status, lines in (
        ("ok", "ok", [*printed, result, end]), ("error", "failed", [*printed, error, end]), ("cut", "truncated", printed),
        ("server", "truncated", [*printed, {**error, "name": "UnexpectedEndOfExecution"}, end]),
    ):
        yield Payload("e2b-code-interpreter", f"stream, {name}", stream(lines), "e2b", status, as_stream, ".jsonl", marks=MARKS)
    for name, status, failure in (("ok", "ok", None), ("error", "failed", ExecutionError("KeyError", "the key 0", TRACEBACK))):
        execution = Execution([Result(**RESULT, chart=CHART)], Logs(["42 rows read\n"], ["a warning\n"]), failure, 1)
        yield Payload("e2b-code-interpreter", f"to_json, {name}", execution.to_json().encode(), "e2b", status, as_execution)
    for code, status in ((0, "ok"), (3, "failed")):
        command = CommandResult(stderr="a warning\n", stdout="42 rows read\n", exit_code=code, error=f"exit status {code}")
        data = json.dumps(dataclasses.asdict(command)).encode()
        yield Payload("e2b-code-interpreter", f"command, {code}", data, "e2b", status, as_command)


def readers():
    return [
        Reader("Execution", "e2b", as_execution), Reader("CommandResult", "e2b", as_command),
        Reader("parse_output", "e2b", as_stream, ".jsonl"),
    ]
