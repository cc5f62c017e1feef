"""daytona: answers of the toolbox as its client writes them, every field filled."""

import json

import daytona_toolbox_api_client as toolbox
from daytona import ExecuteResponse

from fill import Filler
from payload import Payload, Reader

FILL = Filler(skip={"additional_properties"})
# What the service says of an answer and of the parts in it.
RESPONSES = [toolbox.CodeRunResponse, toolbox.ExecuteResponse, toolbox.SessionExecuteResponse, toolbox.SessionCommandLogsResponse]


def reads(kind):
    def accept(data):
        made = kind.from_dict(json.loads(data))
        if not made.to_dict() or made.additional_properties:
            raise ValueError("another shape")
    return accept


def payloads():
    for kind in RESPONSES:
        for code in (0, 1) if "exitCode" in FILL.fields(kind) else (None,):
            for index, value in enumerate(FILL.variants(kind)):
                value = value if code is None else {**value, "exitCode": code}
                status = {0: "ok", 1: "failed"}.get(code)
                data = kind.from_dict(value).to_json().encode()
                yield Payload("daytona", f"{kind.__name__} {index}, {code}", data, "daytona", status, reads(kind))
    pending = toolbox.SessionExecuteResponse(cmd_id="cmd_01").to_json().encode()
    yield Payload("daytona", "asynchronous", pending, "daytona", "pending", reads(toolbox.SessionExecuteResponse))
    for code, status in ((0, "ok"), (1, "failed")):
        charts = [{"type": "line", "title": "a chart", "elements": []}]
        made = ExecuteResponse(exit_code=code, result="42 rows read\n", artifacts={"stdout": "42 rows read\n", "charts": charts})
        yield Payload(
            "daytona", f"ExecuteResponse of the package, {code}", made.model_dump_json().encode(), "daytona", status,
            ExecuteResponse.model_validate_json,
        )


def readers():
    return [Reader(kind.__name__, "daytona", reads(kind)) for kind in RESPONSES]
