"""langchain-core: tool messages and the calls they answer, in the three ways in which the package writes messages."""

import json
import warnings

from langchain_core.load import dumps, loads
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, message_to_dict, messages_from_dict

from fill import PNG
from payload import Payload, Reader


# `loads` is called beta.
warnings.filterwarnings("ignore", module="with_langchain_core")


def as_dump(data):
    value = json.loads(data)
    kinds = {"tool": ToolMessage, "ai": AIMessage, "human": HumanMessage}
    for message in value if isinstance(value, list) else [value]:
        kinds[message["type"]].model_validate(message)


def as_dict(data):
    messages_from_dict(json.loads(data))


def as_constructor(data):
    loads(data.decode(), allowed_objects="messages")


def messages():
    def told(content, **more):
        return ToolMessage(content=content, tool_call_id="call_01", name="python", id="run-01", **more)

    artifact = {"stdout": "42 rows read\n", "files": [{"name": "a.csv", "note": "a note"}]}
    picture = {"type": "image", "base64": PNG, "mime_type": "image/png"}
    yield "text", "ok", told("42 rows read", artifact=artifact)
    yield "error", "failed", told("KeyError: 0", status="error")
    yield "blocks", "ok", told([{"type": "text", "text": "42 rows read"}, picture])
    yield "call", "pending", AIMessage(
        content="Running.", tool_calls=[{"id": "call_01", "name": "python", "args": {"code": "print(len(rows))"}}],
        additional_kwargs={"note": "a note"}, response_metadata={"model_name": "a model"},
    )


def payloads():
    for name, status, message in messages():
        data = message.model_dump_json().encode()
        yield Payload("langchain-core", f"{name}, dump", data, "langchain", status, as_dump)
        data = json.dumps([message_to_dict(message)]).encode()
        yield Payload("langchain-core", f"{name}, dict", data, "langchain", status, as_dict)
        data = dumps(message).encode()
        yield Payload("langchain-core", f"{name}, constructor", data, "langchain", status, as_constructor)


def readers():
    return []
