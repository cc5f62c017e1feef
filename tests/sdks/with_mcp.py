"""mcp: results of tools/call in all protocol versions of the package, in JSON-RPC and over streamable HTTP."""

import importlib
import json
import pkgutil

import mcp_types
from pydantic import TypeAdapter

from fill import PNG, Filler, few
from payload import Payload, Reader

FILL = Filler(skip={"_meta"})


def revisions():
    """CallToolResult of the package itself and of each revision of the protocol that it ships."""
    yield "", mcp_types.CallToolResult
    for module in pkgutil.iter_modules(mcp_types.__path__):
        if module.name.startswith(("v20", "_v20")):
            yield module.name, importlib.import_module(f"mcp_types.{module.name}").CallToolResult


def inner(data):
    return json.dumps(json.loads(data)["result"])


def as_answer(kind):
    def accept(data):
        if error := json.loads(data).get("error"):
            mcp_types.ErrorData.model_validate(error)
            mcp_types.JSONRPCError.model_validate_json(data)
        else:
            mcp_types.JSONRPCResponse.model_validate_json(data)
            kind.model_validate_json(inner(data))
    return accept


def as_events(data):
    for line in data.decode().splitlines():
        if line.startswith("data:") and line[5:].strip():
            MESSAGE.validate_json(line[5:])
            if "result" in json.loads(line[5:]):
                mcp_types.CallToolResult.model_validate_json(inner(line[5:]))


MESSAGE = TypeAdapter(mcp_types.JSONRPCMessage)


def rpc(kind, value) -> bytes:
    result = kind.model_validate(value).model_dump(by_alias=True, exclude_none=True, mode="json")
    answer = mcp_types.JSONRPCResponse(jsonrpc="2.0", id=7, result=result)
    return answer.model_dump_json(by_alias=True, exclude_none=True).encode()


def payloads():
    text = {"type": "text", "text": "42 rows read"}
    for revision, kind in revisions():
        extra = {"resultType": "complete"} if revision.endswith("2026_07_28") else {}
        for is_error, status in ((False, "ok"), (True, "failed")):
            value = {"content": [text], "isError": is_error, **extra}
            name = f"{revision} isError {is_error}".strip()
            yield Payload("mcp", name, rpc(kind, value), "mcp", status, as_answer(kind))
        for index, value in enumerate(few(FILL.variants(kind), 40)):
            name = f"{revision} content {value['content'][0]['type']} {index}".strip()
            # Any JSON is allowed there, what a program printed too.
            value["structuredContent"] = {"stdout": "42 rows read\n", "table": [{"name": "a row", "note": "a note"}]}
            yield Payload("mcp", name, rpc(kind, {**value, **extra}), "mcp", None, as_answer(kind), inside=("result",))
    picture = {"type": "image", "data": PNG, "mimeType": "image/png"}
    bare = mcp_types.CallToolResult.model_validate({"content": [text, picture]}).model_dump_json(by_alias=True, exclude_none=True)
    yield Payload("mcp", "bare result", bare.encode(), "mcp", "ok", mcp_types.CallToolResult.model_validate_json)
    error = {"code": -32602, "message": "no tool of that name", "data": {"tool": "a tool", "known": ["run"]}}
    answer = mcp_types.JSONRPCError.model_validate({"jsonrpc": "2.0", "id": 7, "error": error})
    data = answer.model_dump_json(by_alias=True, exclude_none=True).encode()
    yield Payload("mcp", "JSON-RPC error", data, "mcp", "failed", as_answer(None))
    note = {"progressToken": "1", "progress": 0.5, "total": 1.0, "message": "half of the rows read"}
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": note}
    logged = {"level": "info", "logger": "a logger", "data": {"note": "a note"}}
    told = {"jsonrpc": "2.0", "method": "notifications/message", "params": logged}
    lines = [json.dumps(progress), json.dumps(told), rpc(mcp_types.CallToolResult, {"content": [text]}).decode()]
    events = "".join(f"event: message\nid: {i}\ndata: {line}\n\n" for i, line in enumerate(lines)).encode()
    yield Payload("mcp", "streamable HTTP", events, "mcp", "ok", as_events, ".sse")


def readers():
    own = [Reader(f"CallToolResult {revision}".strip(), "mcp", as_answer(kind)) for revision, kind in revisions()]
    return own + [Reader("JSONRPCMessage", "mcp", as_events, ".sse")]
