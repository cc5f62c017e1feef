"""anthropic: messages, streams, batches, client tool results, files and agent events, GA and beta."""

import json
from typing import Iterable

import anthropic
import httpx2
from anthropic import types
from anthropic.types import beta, messages as batches
from pydantic import TypeAdapter

from fill import OPAQUE, PNG, Filler, few
from payload import Payload, Reader

FILL = Filler(skip={"cache_control"})
REQUEST = TypeAdapter(list[types.MessageParam])
USAGE = {"input_tokens": 10, "output_tokens": 20}
CODE = {"type": "server_tool_use", "id": "srvtoolu_01", "name": "bash_code_execution", "input": {"command": "python report.py"}}


def message(content, stop="end_turn", **more):
    head = {"id": "msg_01", "type": "message", "role": "assistant", "model": "claude-opus-5"}
    return {**head, "content": content, "stop_reason": stop, "stop_sequence": None, "usage": USAGE, **more}


def as_message(data):
    types.Message.model_validate_json(data)


def as_beta_message(data):
    beta.BetaMessage.model_validate_json(data)


def as_request(data):
    requests = json.loads(data)
    requests = requests["messages"] if isinstance(requests, dict) else requests
    for block in (block for request in requests for block in request["content"] if isinstance(block, dict)):
        if isinstance(block.get("content"), str):
            # A string is allowed, but pydantic takes it for an iterable and looks at its letters.
            del block["content"]
    spent(REQUEST.validate_python(requests))


def spent(value):
    """Walks through a value: the package checks the items of an iterable when they are asked for."""
    if isinstance(value, dict):
        value = value.values()
    if not isinstance(value, (str, bytes)) and isinstance(value, Iterable):
        for item in value:
            spent(item)


def as_stream(data):
    """By the client itself, over a wire of our own, and by the models of its events."""
    reply = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=data)
    wire = httpx2.Client(transport=httpx2.MockTransport(lambda _: reply))
    client = anthropic.Anthropic(api_key="none", http_client=wire, max_retries=0, _strict_response_validation=True)
    asked = {"model": "claude-opus-5", "max_tokens": 1, "messages": [{"role": "user", "content": "go"}]}
    if not list(client.messages.create(stream=True, **asked)):
        raise ValueError("no events")


def as_batch(data):
    for line in data.splitlines():
        batches.MessageBatchIndividualResponse.model_validate_json(line)


def as_file(data):
    TypeAdapter(beta.BetaFileMetadata | list[beta.BetaFileMetadata]).validate_json(data)


def as_agent_event(data):
    kinds = beta.sessions.BetaManagedAgentsAgentToolResultEvent | beta.BetaManagedAgentsUserToolResultEvent
    TypeAdapter(kinds | list[kinds]).validate_json(data)


def made(model, value) -> bytes:
    """As the package writes it."""
    return model.model_validate(value).to_json(indent=None).encode()


def result(tool, content, **more):
    return {"type": f"{tool}_tool_result", "tool_use_id": "srvtoolu_01", "content": content, **more}


def opaque(block):
    """The data of redacted thinking is ciphertext, though the model says it is a string."""
    return {**block, "data": OPAQUE} if block["type"] == "redacted_thinking" else block


def printed(tool, code, stdout="42 rows read\n", stderr=""):
    files = [{"type": f"{tool}_output", "file_id": "file_011CNha8iCJcU1wXNR6q4V8w"}]
    return {"type": f"{tool}_result", "stdout": stdout, "stderr": stderr, "return_code": code, "content": files}


def statuses():
    """Messages whose outcome is known."""
    for tool in ("bash_code_execution", "code_execution"):
        call = {**CODE, "name": tool}
        yield f"{tool}, ok", "ok", message([call, result(tool, printed(tool, 0))])
        yield f"{tool}, exit code", "failed", message([call, result(tool, printed(tool, 1, stderr="no such file\n"))])
        for code, status in (("execution_time_exceeded", "timed_out"), ("unavailable", "failed")):
            error = {"type": f"{tool}_tool_result_error", "error_code": code}
            yield f"{tool}, {code}", status, message([call, result(tool, error)])
    editor = "text_editor_code_execution"
    call = {**CODE, "name": editor, "input": {"command": "view", "path": "/tmp/a.txt"}}
    for kind, fields in {
        "view": {"file_type": "text", "content": "first line\n", "num_lines": 1, "start_line": 1, "total_lines": 1},
        "create": {"is_file_update": False},
        "str_replace": {"lines": ["-old", "+new"], "old_start": 1, "old_lines": 1, "new_start": 1, "new_lines": 1},
    }.items():
        yield f"{editor}, {kind}", "ok", message([call, result(editor, {"type": f"{editor}_{kind}_result", **fields})])
    error = {"type": f"{editor}_tool_result_error", "error_code": "file_not_found", "error_message": "no such file"}
    yield f"{editor}, error", "failed", message([call, result(editor, error)])
    yield "paused", "pending", message([CODE], stop="pause_turn")


def events(block):
    start = {"type": "message_start", "message": message([], stop=None)}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 9}}
    call = {**CODE, "input": {}}
    pieces = ['{"comm', 'and": "python report.py"}']
    return [
        start,
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Running "}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "the report now."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": call},
        *({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": p}} for p in pieces),
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": block},
        {"type": "content_block_stop", "index": 2},
        end,
        {"type": "message_stop"},
    ]


def stream(block) -> bytes:
    made_by = TypeAdapter(types.RawMessageStreamEvent)
    lines = []
    for event in events(block):
        written = made_by.dump_json(made_by.validate_python(event)).decode()
        lines.append(f"event: {event['type']}\ndata: {written}\n\n")
    return "".join(lines).encode()


def payloads():
    for name, status, value in statuses():
        yield Payload("anthropic", name, made(types.Message, value), "anthropic", status, as_message)
        data = made(beta.BetaMessage, value)
        yield Payload("anthropic", f"beta: {name}", data, "anthropic", status, as_beta_message, inside=("content",))
    # Every block there is, with every field.
    for kind, model, accept in (
        (types.ContentBlock, types.Message, as_message), (beta.BetaContentBlock, beta.BetaMessage, as_beta_message),
    ):
        for index, block in enumerate(few(map(opaque, FILL.variants(kind)))):
            name = f"{model.__name__} with {block['type']} {index}"
            yield Payload("anthropic", name, made(model, message([block])), "anthropic", None, accept, inside=("content",))
    for index, value in enumerate(FILL.variants(types.Message)[:1]):
        yield Payload("anthropic", "every field of a message", made(types.Message, value), "anthropic", None, as_message)
    # What a client sends back.
    for index, block in enumerate(FILL.variants(types.ToolResultBlockParam)):
        request = json.dumps([{"role": "user", "content": [block]}]).encode()
        yield Payload("anthropic", f"tool_result {index}", request, "anthropic", None, as_request)
    for flag, status in ((True, "failed"), (False, "ok")):
        block = {"type": "tool_result", "tool_use_id": "toolu_01", "content": "3 tests ran", "is_error": flag}
        request = json.dumps([{"role": "user", "content": [block]}]).encode()
        yield Payload("anthropic", f"is_error {flag}", request, "anthropic", status, as_request)
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    block = {"type": "tool_result", "tool_use_id": "toolu_01", "content": [picture, {"type": "text", "text": "a chart"}]}
    request = json.dumps([{"role": "user", "content": [block]}]).encode()
    yield Payload("anthropic", "tool_result with a picture", request, "anthropic", None, as_request)
    for code, status in ((0, "ok"), (2, "failed")):
        data = stream(result("bash_code_execution", printed("bash_code_execution", code)))
        yield Payload("anthropic", f"stream, exit code {code}", data, "anthropic", status, as_stream, ".sse")
    error = {"type": "error", "request_id": None, "error": {"type": "api_error", "message": "try again"}}
    results = [{"type": "succeeded", "message": next(statuses())[2]}, {"type": "errored", "error": error}]
    answers = [{"custom_id": f"row {index}", "result": value} for index, value in enumerate(results)]
    lines = b"".join(made(batches.MessageBatchIndividualResponse, answer) + b"\n" for answer in answers)
    yield Payload("anthropic", "batch", lines, "anthropic", "failed", as_batch, ".jsonl")
    for value in FILL.variants(beta.BetaFileMetadata):
        yield Payload("anthropic", "file metadata", made(beta.BetaFileMetadata, value), "anthropic", None, as_file)
    for model in (beta.sessions.BetaManagedAgentsAgentToolResultEvent, beta.BetaManagedAgentsUserToolResultEvent):
        for index, value in enumerate(FILL.variants(model)):
            yield Payload("anthropic", f"{model.__name__} {index}", made(model, value), "anthropic", None, as_agent_event)


def readers():
    return [
        Reader("Message", "anthropic", as_message),
        Reader("list[MessageParam]", "anthropic", as_request),
        Reader("BetaFileMetadata", "anthropic", as_file),
        Reader("managed agent events", "anthropic", as_agent_event),
        Reader("batch", "anthropic", as_batch, ".jsonl"),
        Reader("client", "anthropic", as_stream, ".sse"),
    ]
