"""pydantic-ai: message histories with every kind of part, as its own adapter writes them."""

from pydantic_ai import messages as m
from pydantic_ai.messages import ModelMessagesTypeAdapter

from fill import png
from payload import Payload


def as_history(data):
    ModelMessagesTypeAdapter.validate_json(data)


def written(parts, kind) -> bytes:
    return ModelMessagesTypeAdapter.dump_json([kind(parts=parts)])


def payloads():
    told = {"stdout": "42 rows read\n", "stderr": "", "note": "a note"}
    native = {"tool_name": "code_execution", "tool_call_id": "call_01", "provider_name": "anthropic"}
    call = m.NativeToolCallPart(args={"code": "print(len(rows))"}, **native)
    picture = m.BinaryContent(data=png(), media_type="image/png")
    for name, status, parts in (
        ("native, ok", "ok", [call, m.NativeToolReturnPart(content={**told, "return_code": 0}, **native)]),
        ("native, failed", "failed", [call, m.NativeToolReturnPart(content={**told, "return_code": 1}, **native)]),
        ("native, text", None, [call, m.NativeToolReturnPart(content="42 rows read\n", **native)]),
        ("every part", None, [
            m.TextPart("42 rows."), m.ThinkingPart("a thought"), m.FilePart(picture), m.ToolCallPart("run", {"code": "1"}, "call_02"),
        ]),
    ):
        yield Payload("pydantic-ai-slim", name, written(parts, m.ModelResponse), "pydantic-ai", status, as_history)
    own = {"tool_name": "run", "tool_call_id": "call_01"}
    for name, status, parts in (
        ("return, text", "ok", [m.ToolReturnPart(content="42 rows read", **own)]),
        ("return, JSON", "ok", [m.ToolReturnPart(content=told, **own)]),
        ("return, picture", "ok", [m.ToolReturnPart(content=["a chart", picture], **own)]),
        ("return, failed", "failed", [m.ToolReturnPart(content="KeyError: 0", outcome="failed", **own)]),
        ("return, retried", "failed", [m.ToolReturnPart(content="try again", outcome="retried", **own)]),
        ("return, denied", "cancelled", [m.ToolReturnPart(content="not allowed", outcome="denied", **own)]),
        ("return, interrupted", "cancelled", [m.ToolReturnPart(content="stopped", outcome="interrupted", **own)]),
        ("prompts", None, [
            m.ToolReturnPart(content="42", **own), m.SystemPromptPart("a system prompt"), m.UserPromptPart(["a prompt", picture]),
        ]),
    ):
        yield Payload("pydantic-ai-slim", name, written(parts, m.ModelRequest), "pydantic-ai", status, as_history)


def readers():
    return []
