"""xai-sdk: chat responses and chunks as protobuf writes them, every field by its descriptor; and the Responses API."""

import json

import httpx2
import openai
from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor as Field
from openai.types.responses import Response
from xai_sdk.proto import chat_pb2

from fill import OPAQUE, plain
from payload import Payload, Reader
from with_openai import interpreter, response

# The lenient reading lets any type through.
MARKS = frozenset({("object",), ("output", 0, "type"), ("output", 0, "outputs", 0, "type")})
NUMBERS = {Field.CPPTYPE_INT32, Field.CPPTYPE_INT64, Field.CPPTYPE_UINT32, Field.CPPTYPE_UINT64}


def filled(message, seen=()):
    """A message with every field, as JSON; of each oneof the first field."""
    value = {}
    for field in message.fields:
        rival = field.containing_oneof and field.containing_oneof.fields[0]
        if rival and rival is not field and not field.has_presence or rival and rival.name in value:
            continue
        made = one(field, (*seen, message.full_name))
        if made is not None:
            value[field.name] = [made] if field.is_repeated else made
    return value


def one(field, seen):
    if field.message_type:
        name = field.message_type.full_name
        if name == "google.protobuf.Timestamp":
            return "2026-11-29T12:00:00Z"
        if name.startswith("google.protobuf.") or name in seen or field.message_type.GetOptions().map_entry:
            return None
        return filled(field.message_type, seen)
    if field.enum_type:
        values = field.enum_type.values
        return next((v.name for v in values if v.number and "INVALID" not in v.name), values[0].name)
    if field.type == Field.TYPE_BYTES:
        return OPAQUE
    if field.cpp_type in NUMBERS:
        return 1
    return {Field.CPPTYPE_BOOL: True, Field.CPPTYPE_DOUBLE: 0.5, Field.CPPTYPE_FLOAT: 0.5}.get(field.cpp_type, plain(field.name))


def written(kind, value, snake=True) -> bytes:
    message = json_format.ParseDict(value, kind())
    return json_format.MessageToJson(message, preserving_proto_field_name=snake, indent=None).encode()


def reads(kind):
    return lambda data: json_format.Parse(data.decode(), kind())


def as_chunks(data):
    for line in data.decode().splitlines():
        json_format.Parse(line, chat_pb2.GetChatCompletionChunk())


def as_response(data):
    """xAI leaves out what the strict model of openai asks for: it is read as that package reads it for its users."""
    if not all(item.type for item in Response.construct(**json.loads(data)).output):
        raise ValueError("another shape")


def as_stream(data):
    """By the client of openai itself, over a wire of our own."""
    reply = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=data)
    wire = httpx2.Client(transport=httpx2.MockTransport(lambda _: reply))
    client = openai.OpenAI(api_key="none", http_client=wire, max_retries=0)
    if not all(event.type for event in client.responses.create(model="grok-4.5", input="go", stream=True)):
        raise ValueError("another shape")


def printed(error=""):
    return json.dumps({"stdout": "42 rows read\n", "stderr": "", "output_files": {}, "error": error, "ret": "'a value'"})


def call(status):
    return {
        "id": "call_01", "type": "TOOL_CALL_TYPE_CODE_EXECUTION_TOOL", "status": f"TOOL_CALL_STATUS_{status}",
        "function": {"name": "code_execution", "arguments": json.dumps({"code": "print(len(rows))"})},
    }


def chat(status, content):
    asked = {"message": {"role": "ROLE_ASSISTANT", "tool_calls": [call(status)]}, "finish_reason": "REASON_TOOL_CALLS"}
    told = {"index": 1, "message": {"role": "ROLE_TOOL", "tool_calls": [call(status)], "content": content}}
    done = {"index": 2, "message": {"role": "ROLE_ASSISTANT", "content": "42 rows."}, "finish_reason": "REASON_STOP"}
    return {"id": "resp_01", "model": "grok-4.5", "created": "2026-11-29T12:00:00Z", "outputs": [asked, told, done]}


def chunks(status, content) -> bytes:
    whole = chat(status, content)
    lines = []
    for output in whole.pop("outputs"):
        output["delta"] = output.pop("message")
        lines.append(written(chat_pb2.GetChatCompletionChunk, {**whole, "outputs": [output]}) + b"\n")
    return b"".join(lines)


def payloads():
    kind = chat_pb2.GetChatCompletionResponse
    for name, status, value in (
        ("ok", "ok", ("COMPLETED", printed())), ("error", "failed", ("COMPLETED", printed("KeyError: 0"))),
        ("failed", "failed", ("FAILED", printed())), ("no JSON", "ok", ("COMPLETED", "42 rows read\n")),
    ):
        for snake in (True, False):
            data = written(kind, chat(*value), snake)
            yield Payload("xai-sdk", f"{name}, {'snake' if snake else 'camel'}", data, "xai", status, reads(kind))
        yield Payload("xai-sdk", f"{name}, chunks", chunks(*value), "xai", status, as_chunks, ".jsonl")
    yield Payload("xai-sdk", "every field", written(kind, filled(kind.DESCRIPTOR)), "xai", None, reads(kind))
    for code, timed_out, status in ((0, False, "ok"), (1, False, "failed"), (0, True, "timed_out")):
        logs = json.dumps({"stdout": "42 rows read\n", "stderr": "a warning\n", "exit_code": code, "command_timed_out": timed_out})
        item = interpreter(outputs=[{"type": "logs", "logs": logs}])
        del item["container_id"]
        data = json.dumps({**response([item]), "model": "grok-4.5"}).encode()
        yield Payload("xai-sdk", f"Responses, {status}", data, "xai", status, as_response, marks=MARKS)


def readers():
    return [
        Reader("GetChatCompletionResponse", "xai", reads(chat_pb2.GetChatCompletionResponse)),
        Reader("Response, lenient", "xai", as_response),
        Reader("client of openai, lenient", "xai", as_stream, ".sse"),
        Reader("GetChatCompletionChunk", "xai", as_chunks, ".jsonl"),
    ]
