"""botocore: AgentCore events, Converse messages and Agents traces, made from and checked against its service models."""

import base64
import json

import botocore.session
from botocore.validate import ParamValidator

from fill import OPAQUE, PNG, plain
from payload import Payload, Reader

# Ciphertext, sound and guarded pictures are not looked into: no run code makes them.
NOT_SEEN = {"redactedContent", "AudioBlock", "GuardrailConverseImageBlock"}
SESSION = botocore.session.get_session()


def shape(service, name):
    return SESSION.get_service_model(service).shape_for(name)


def filled(of, name="text", seen=()):
    """Values of a shape: the first with every member; of a union, each member in turn."""
    if of.name in seen or len(seen) > 12:
        return []
    seen = (*seen, of.name)
    if of.type_name == "structure":
        members = {}
        for key, member in of.members.items():
            is_any = getattr(member, "is_document_type", False)
            values = [{"note": "a note of any kind"}] if is_any else filled(member, key, seen)
            if values:
                members[key] = values
        if getattr(of, "is_tagged_union", False):
            return [{key: value} for key, values in members.items() for value in values]
        first = {key: values[0] for key, values in members.items()}
        return [first] + [{**first, key: value} for key, values in members.items() for value in values[1:]]
    if of.type_name == "list":
        return [[value] for value in filled(of.member, name, seen)]
    if of.type_name == "map":
        return [{"key": value} for value in filled(of.value, name, seen)]
    if of.type_name == "blob":
        return [OPAQUE if NOT_SEEN & {name, *seen} else PNG]
    if of.type_name == "string":
        if of.enum:
            return ["png" if "png" in of.enum else of.enum[0]]
        return ["image/png" if name == "mimeType" else plain(name)]
    numbers = {"boolean": [False], "integer": [0], "long": [0], "float": [0.5], "double": [0.5]}
    return numbers.get(of.type_name, ["2026-11-29T12:00:00Z"])


def native(value, of):
    """With bytes where the package hands over bytes."""
    if value is None or getattr(of, "is_document_type", False):
        return value
    if of.type_name == "structure" and isinstance(value, dict):
        return {key: native(item, of.members[key]) if key in of.members else item for key, item in value.items()}
    if of.type_name == "list" and isinstance(value, list):
        return [native(item, of.member) for item in value]
    if of.type_name == "map" and isinstance(value, dict):
        return {key: native(item, of.value) for key, item in value.items()}
    return base64.b64decode(value, validate=True) if of.type_name == "blob" else value


def check(value, of):
    report = ParamValidator().validate(native(value, of), of)
    if report.has_errors():
        raise ValueError(report.generate_report())
    enums(value, of)


def enums(value, of):
    """Words outside an enumeration: the package does not look at those."""
    if isinstance(value, dict) and of.type_name == "structure" and not getattr(of, "is_document_type", False):
        for key, item in value.items():
            if key not in of.members:
                raise ValueError(f"no member {key}")
            enums(item, of.members[key])
    elif isinstance(value, list) and of.type_name == "list":
        for item in value:
            enums(item, of.member)
    elif isinstance(value, str) and of.type_name == "string" and of.enum and value not in of.enum:
        raise ValueError(f"{value} is not of {of.enum}")


EVENT = shape("bedrock-agentcore", "CodeInterpreterStreamOutput")
CONVERSE = shape("bedrock-runtime", "ConverseResponse")
TRACE = shape("bedrock-agent-runtime", "CodeInterpreterInvocationOutput")
BLOCK = shape("bedrock-runtime", "ContentBlock")


def as_event(data):
    check(json.loads(data), EVENT)


def as_events(data):
    for event in json.loads(data):
        check(event, EVENT)


def as_converse(data):
    check(json.loads(data), CONVERSE)


def as_traces(data):
    for trace in json.loads(data):
        check(trace["codeInterpreterInvocationOutput"], TRACE)


def converse(blocks):
    return {
        "output": {"message": {"role": "assistant", "content": blocks}}, "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}, "metrics": {"latencyMs": 1},
    }


def nova(status, code, is_error):
    told = {"stdOut": "42 rows read\n", "stdErr": "", "exitCode": code, "isError": is_error}
    called = {"toolUseId": "tooluse_01", "name": "nova_code_interpreter", "input": {"snippet": "print(42)"}, "type": "server_tool_use"}
    result = {"toolUseId": "tooluse_01", "content": [{"json": told}], "status": status, "type": "nova_code_interpreter_result"}
    return converse([{"toolUse": called}, {"toolResult": result}, {"text": "42 rows."}])


def event(code, is_error, **more):
    told = {"stdout": "42 rows read\n", "stderr": "", "exitCode": code, "executionTime": 0.5}
    return {"result": {"content": [{"type": "text", "text": "42 rows read\n"}], "structuredContent": told, "isError": is_error, **more}}


def payloads():
    def payload(name, value, provider, status, accept, **more):
        return Payload("botocore", name, json.dumps(value).encode(), provider, status, accept, **more)

    for code, is_error, status in ((0, False, "ok"), (1, False, "failed"), (0, True, "failed")):
        yield payload(f"event, {code} {is_error}", event(code, is_error), "agentcore", status, as_event)
    cut = [event(0, False), {"throttlingException": {"message": "too many requests"}}]
    yield payload("event stream, cut", cut, "agentcore", "truncated", as_events)
    kinds = {
        "text": {"text"}, "image": {"data", "mimeType"}, "resource": {"resource"},
        "resource_link": {"uri", "name", "description", "mimeType", "size"},
    }
    for kind, keys in kinds.items():
        for index, value in enumerate(filled(EVENT.members["result"].members["content"].member)):
            block = {"type": kind, **{key: item for key, item in value.items() if key in keys}}
            if kind == "resource":
                is_text = index % 2 == 0
                held = {"text": "the text of it", "mimeType": "text/plain"} if is_text else {"blob": PNG, "mimeType": "image/png"}
                block["resource"] = {"type": "text" if is_text else "blob", "uri": "file:///a", **held}
            yield payload(f"event, {kind} {index}", event(0, False, content=[block]), "agentcore", None, as_event)
    for status, code, is_error, wanted in (("success", 0, False, "ok"), ("error", 1, True, "failed")):
        yield payload(f"Converse, {status}", nova(status, code, is_error), "bedrock", wanted, as_converse)
    for index, block in enumerate(filled(BLOCK)):
        more = [*nova("success", 0, False)["output"]["message"]["content"][:2], block]
        inside = ("output", "message", "content", 2)
        yield payload(f"Converse, {next(iter(block))} {index}", converse(more), "bedrock", None, as_converse, inside=inside)
    for name, status, output in (
        ("ok", "ok", {"executionOutput": "42 rows read\n", "executionTimeout": False, "files": ["chart.png"]}),
        ("error", "failed", {"executionError": "KeyError: 0"}),
        ("timeout", "timed_out", {"executionError": "took too long", "executionTimeout": True}),
    ):
        yield payload(f"trace, {name}", [{"codeInterpreterInvocationOutput": output}], "bedrock", status, as_traces)


def readers():
    return [
        Reader("CodeInterpreterStreamOutput", "agentcore", as_event), Reader("its list", "agentcore", as_events),
        Reader("ConverseResponse", "bedrock", as_converse), Reader("CodeInterpreterInvocationOutput", "bedrock", as_traces),
    ]
