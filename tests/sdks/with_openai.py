"""openai: Responses output, input and streams, containers and their files, Assistants run steps, chat completions."""

import json

import httpx2
import openai
from openai.types import containers, responses
from openai.types.beta.threads.runs import RunStep
from openai.types.chat import ChatCompletion
from openai.types.container_retrieve_response import ContainerRetrieveResponse
from pydantic import TypeAdapter

from fill import PNG, Filler, few
from payload import Payload, Reader

# Lists of tools are no results, and sound is not listened to.
FILL = Filler(skip={"tools", "audio"})
# Items that tell of nothing that ran: alone they make no envelope.
QUIET = {"message", "tool_search_call", "tool_search_output", "additional_tools", "configuration_update", "compaction_trigger"}
INPUT = TypeAdapter(list[responses.ResponseInputItem])
EVENT = TypeAdapter(responses.ResponseStreamEvent)


def response(output, status="completed"):
    return {
        "id": "resp_01", "object": "response", "created_at": 1796040312, "status": status, "model": "gpt-6-astra",
        "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
    }


def as_response(data):
    responses.Response.model_validate_json(data)


def as_input(data):
    INPUT.validate_python(json.loads(data)["input"])


def as_stream(data):
    """By the client itself, over a wire of our own."""
    reply = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=data)
    wire = httpx2.Client(transport=httpx2.MockTransport(lambda _: reply))
    client = openai.OpenAI(api_key="none", http_client=wire, max_retries=0, _strict_response_validation=True)
    if not list(client.responses.create(model="gpt-6-astra", input="go", stream=True)):
        raise ValueError("no events")


def as_batch(data):
    """The package has no model of these lines, only of what they hold."""
    for line in data.splitlines():
        if answer := json.loads(line)["response"]:
            as_response(json.dumps(answer["body"]))


def model(kind):
    return kind.model_validate_json


def made(kind, value) -> bytes:
    return kind.model_validate(value).to_json(indent=None).encode()


def interpreter(status="completed", outputs=({"type": "logs", "logs": "42 rows read\n"},)):
    return {
        "type": "code_interpreter_call", "id": "ci_01", "code": "print(len(rows), 'rows read')", "container_id": "cntr_01",
        "outputs": list(outputs), "status": status,
    }


def shell(outcome, status="completed", stdout="42 rows read\n", stderr=""):
    output = [{"stdout": stdout, "stderr": stderr, "outcome": outcome}]
    return [
        {"type": "shell_call", "id": "sh_01", "call_id": "call_01", "status": "completed", "action": {"commands": ["python report.py"]}},
        {"type": "shell_call_output", "id": "sho_01", "call_id": "call_01", "status": status, "output": output},
    ]


def with_picture(item):
    """The result of an image generation is a picture, though the model says it is a string."""
    return {**item, "result": PNG} if item.get("type") == "image_generation_call" else item


TRACEBACK = 'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\nKeyError: 0\n'


def statuses():
    exit_of = lambda code: {"type": "exit", "exit_code": code}  # noqa: E731
    picture = {"type": "image", "url": f"data:image/png;base64,{PNG}"}
    yield "interpreter, ok", "ok", [interpreter()]
    yield "interpreter, picture", "ok", [interpreter(outputs=[picture, {"type": "logs", "logs": "saved\n"}])]
    yield "interpreter, traceback", "failed", [interpreter(outputs=[{"type": "logs", "logs": TRACEBACK}])]
    yield "interpreter, failed", "failed", [interpreter("failed")]
    yield "interpreter, incomplete", "truncated", [interpreter("incomplete")]
    yield "interpreter, running", "pending", [interpreter("in_progress", [])]
    yield "shell, ok", "ok", shell(exit_of(0))
    yield "shell, exit code", "failed", shell(exit_of(3), stderr="no such file\n")
    yield "shell, timeout", "timed_out", shell({"type": "timeout"})
    patch = {"type": "apply_patch_call_output", "id": "apco_01", "call_id": "call_02", "output": "no such file: a.txt"}
    yield "patch, failed", "failed", [{**patch, "status": "failed"}]
    yield "program, ok", "ok", [{"type": "program_output", "id": "po_01", "call_id": "call_03", "result": "42", "status": "completed"}]


def written(events) -> bytes:
    lines = []
    for number, event in enumerate(events):
        event = {**event, "sequence_number": number}
        data = EVENT.dump_json(EVENT.validate_python(event), exclude_unset=True, by_alias=True).decode()
        lines.append(f"event: {event['type']}\ndata: {data}\n\n")
    return "".join(lines).encode()


def stream(middle, output) -> bytes:
    start = {"type": "response.created", "response": response([], "in_progress")}
    return written([start, *middle, {"type": "response.completed", "response": response(output)}])


def interpreter_events():
    call = interpreter()
    at = {"item_id": call["id"], "output_index": 0}
    kind = "response.code_interpreter_call"
    return [
        {"type": "response.output_item.added", "output_index": 0, "item": {**call, "code": "", "outputs": [], "status": "in_progress"}},
        {"type": f"{kind}.in_progress", **at},
        {"type": f"{kind}_code.delta", "delta": "print(len(rows)", **at},
        {"type": f"{kind}_code.delta", "delta": ", 'rows read')", **at},
        {"type": f"{kind}_code.done", "code": call["code"], **at},
        {"type": f"{kind}.interpreting", **at},
        {"type": f"{kind}.completed", **at},
        {"type": "response.output_item.done", "output_index": 0, "item": call},
    ]


def shell_events(code):
    call, output = shell({"type": "exit", "exit_code": code}, stderr="" if code == 0 else "no such file\n")
    kind, at = "response.shell_call_output_content", {"item_id": output["id"], "output_index": 1, "command_index": 0}
    added = {**output, "output": [], "status": "in_progress"}
    return [
        {"type": "response.output_item.added", "output_index": 0, "item": call},
        {"type": "response.output_item.done", "output_index": 0, "item": call},
        {"type": "response.output_item.added", "output_index": 1, "item": added},
        {"type": f"{kind}.delta", "delta": {"stdout": "42 rows "}, **at},
        {"type": f"{kind}.delta", "delta": {"stdout": "read\n"}, **at},
        {"type": f"{kind}.done", "output": output["output"], **at},
        {"type": "response.output_item.done", "output_index": 1, "item": output},
    ], [call, output]


def payloads():
    for name, status, output in statuses():
        data = made(responses.Response, response(output))
        yield Payload("openai", name, data, "openai", status, as_response, inside=("output",))
    for index, item in enumerate(few(map(with_picture, FILL.variants(responses.ResponseOutputItem)))):
        data = made(responses.Response, response([item]))
        yield Payload("openai", f"output {item['type']} {index}", data, "openai", None, as_response, inside=("output",))
    whole = FILL.variants(responses.Response)[0]
    yield Payload("openai", "every field of a response", made(responses.Response, whole), "openai", None, as_response)
    beside = shell({"type": "exit", "exit_code": 0})[1]
    for index, item in enumerate(few(map(with_picture, FILL.variants(responses.ResponseInputItem)))):
        items = [beside, item] if item.get("type", "message") in QUIET else [item]
        items = INPUT.dump_json(INPUT.validate_python(items), exclude_unset=True, by_alias=True).decode()
        data = f'{{"model":"gpt-6-astra","input":{items}}}'.encode()
        name = f"input {item.get('type') or item.get('role')} {index}"
        yield Payload("openai", name, data, "openai", None, as_input, inside=("input",))
    data = stream(interpreter_events(), [interpreter()])
    yield Payload("openai", "stream, interpreter", data, "openai", "ok", as_stream, ".sse")
    for code, status in ((0, "ok"), (3, "failed")):
        data = stream(*shell_events(code))
        yield Payload("openai", f"stream, shell, exit code {code}", data, "openai", status, as_stream, ".sse")
    for index, event in enumerate(few(FILL.variants(responses.ResponseStreamEvent), 3)):
        if "response" not in event and event["type"] != "error":
            data = stream([event], [])
            yield Payload("openai", f"event {event['type']} {index}", data, "openai", None, as_stream, ".sse")
    for kind in (ContainerRetrieveResponse, containers.FileRetrieveResponse):
        for index, value in enumerate(FILL.variants(kind)):
            fixed = {"object": "container"} if kind is ContainerRetrieveResponse else {}
            data, marks = made(kind, {**value, **fixed}), frozenset({("object",)})
            yield Payload("openai", f"{kind.__name__} {index}", data, "openai", None, model(kind), marks=marks)
    for index, value in enumerate(FILL.variants(RunStep)):
        yield Payload("openai", f"RunStep {index}", made(RunStep, value), "openai", None, model(RunStep))
    line = {"id": "batch_req_01", "custom_id": "first", "error": None}
    bodies = [response(output) for _, _, output in list(statuses())[:2]]
    lines = [{**line, "response": {"status_code": 200, "request_id": "req_01", "body": body}} for body in bodies]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    yield Payload("openai", "batch", data, "openai", "ok", as_batch, ".jsonl")
    for index, value in enumerate(FILL.variants(ChatCompletion)):
        yield Payload("openai", f"ChatCompletion {index}", made(ChatCompletion, value), "openai", None, model(ChatCompletion))


def readers():
    return [
        Reader("Response", "openai", as_response),
        Reader("list[ResponseInputItem]", "openai", as_input),
        Reader("ContainerRetrieveResponse", "openai", model(ContainerRetrieveResponse)),
        Reader("RunStep", "openai", model(RunStep)),
        Reader("Response in a batch", "openai", as_batch, ".jsonl"),
        Reader("client", "openai", as_stream, ".sse"),
    ]
