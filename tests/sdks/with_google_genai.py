"""google-genai: generateContent answers and streams, live messages, the Interactions API."""

import json
import warnings

import httpx2
from google import genai
from google.genai import interactions, types
from pydantic import BaseModel, TypeAdapter

from fill import PNG, Filler, few
from payload import Payload, Reader

# Words that the package does not know of an enumeration: it keeps them, and warns.
warnings.filterwarnings("ignore", module="google.genai")
FILL = Filler(skip={"sdkHttpResponse", "parsed", "automaticFunctionCallingHistory", "tools", "httpResponse"})
EVENT = TypeAdapter(interactions.InteractionSSEEvent)
STEP = TypeAdapter(interactions.Step)


def content(parts, finish="STOP"):
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}
    return {"candidates": [candidate], "modelVersion": "gemini-3.7-flash", "responseId": "resp_01"}


def as_content(data):
    types.GenerateContentResponse.model_validate_json(data)


def as_array(data):
    for chunk in json.loads(data):
        types.GenerateContentResponse.model_validate(chunk)


def as_stream(data):
    """By the client itself, over a wire of our own, and by the model of its chunks, which is strict."""
    reply = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=data)
    wire = httpx2.Client(transport=httpx2.MockTransport(lambda _: reply))
    client = genai.Client(api_key="none", http_options=types.HttpOptions(httpx_client=wire))
    chunks = list(client.models.generate_content_stream(model="gemini-3.7-flash", contents="go"))
    lines = [line[5:] for line in data.decode().splitlines() if line.startswith("data:")]
    if not chunks or len(chunks) != len(lines):
        raise ValueError(f"{len(chunks)} chunks of {len(lines)}")
    for line in lines:
        types.GenerateContentResponse.model_validate_json(line)


def as_live(data):
    for line in data.splitlines():
        types.LiveServerMessage.model_validate_json(line)


def as_interaction(data):
    known(interactions.Interaction.model_validate_json(data))


def as_events(data):
    """Event by event: the package has no public decoder of them."""
    for line in data.decode().splitlines():
        if line.startswith("data:") and "[DONE]" not in line:
            known(EVENT.validate_json(line[5:]))


def known(value):
    """Raises when the package did not know a block: it keeps those as they came."""
    if getattr(value, "is_unknown", False):
        raise ValueError(f"unknown to the package: {value}")
    if isinstance(value, BaseModel):
        for _, field in value:
            known(field)
    elif isinstance(value, list):
        for item in value:
            known(item)


def wire(kind, value) -> bytes:
    """In camel case, as the service writes it."""
    return kind.model_validate(value).model_dump_json(by_alias=True, exclude_none=True).encode()


def dumped(kind, value) -> bytes:
    """In snake case and the other alphabet of base64, as the package writes it."""
    return kind.model_validate(value).model_dump_json(exclude_none=True).encode()


CODE = {"executableCode": {"code": "print(len(rows), 'rows read')", "language": "PYTHON", "id": "ce_01"}}


def result(outcome, output="42 rows read\n"):
    return {"codeExecutionResult": {"outcome": outcome, "output": output, "id": "ce_01"}}


def statuses():
    picture = {"inlineData": {"mimeType": "image/png", "data": PNG}}
    yield "ok", "ok", content([CODE, result("OUTCOME_OK"), picture, {"text": "42 rows."}])
    yield "failed", "failed", content([CODE, result("OUTCOME_FAILED", "stderr output: KeyError: 0\n")])
    yield "deadline", "timed_out", content([CODE, result("OUTCOME_DEADLINE_EXCEEDED", "")])
    yield "cut", "truncated", content([CODE], finish="MAX_TOKENS")


def parts():
    """Each kind of part with all its fields."""
    for name, values in FILL.variants(types.Part)[0].items():
        for alternative in FILL.variants(types.Part.model_fields[by_alias(types.Part)[name]].annotation, name):
            yield {name: alternative} if name in ("text", "inlineData") else {name: alternative, "thoughtSignature": SIGNATURE}
        if name == "text":
            yield {name: values, "thought": True}


SIGNATURE = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4v"
BARE = {"thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"}


def by_alias(kind):
    return {field.alias or name: name for name, field in kind.model_fields.items()}


def interaction(steps, status="completed"):
    return {
        "id": "v1_01", "status": status, "model": "gemini-3.7-flash", "object": "interaction",
        "created": "2026-11-29T12:00:00Z", "updated": "2026-11-29T12:00:00Z", "steps": steps,
    }


RUN = {"type": "code_execution_call", "id": "ce_01", "arguments": {"language": "python", "code": "print(len(rows))"}}


def ran(is_error, value="42 rows read\n"):
    return {"type": "code_execution_result", "call_id": "ce_01", "result": value, "is_error": is_error}


def interaction_json(value) -> bytes:
    return interactions.Interaction.model_validate(value).to_json(indent=None).encode()


def events(events_of_steps) -> bytes:
    started = {"event_type": "interaction.created", "interaction": {"id": "v1_01", "status": "in_progress", "object": "interaction"}}
    ended = {"event_type": "interaction.completed", "interaction": {"id": "v1_01", "status": "completed", "object": "interaction"}}
    lines = []
    for event in [started, *events_of_steps, ended]:
        data = EVENT.dump_json(EVENT.validate_python(event), by_alias=True, exclude_unset=True).decode()
        lines.append(f"event: {event['event_type']}\ndata: {data}\n\n")
    return "".join(lines).encode()


def step_events(is_error):
    yield {"event_type": "step.start", "index": 0, "step": {"type": "code_execution_call", "id": "ce_01", "arguments": {}}}
    yield {"event_type": "step.delta", "index": 0, "delta": {"type": "code_execution_call", "arguments": RUN["arguments"]}}
    yield {"event_type": "step.stop", "index": 0}
    yield {"event_type": "step.start", "index": 1, "step": {"type": "code_execution_result", "call_id": "ce_01", "result": ""}}
    told = {"type": "code_execution_result", "result": "42 rows read\n", "is_error": is_error}
    yield {"event_type": "step.delta", "index": 1, "delta": told}
    yield {"event_type": "step.stop", "index": 1}


def payloads():
    kind = types.GenerateContentResponse
    for name, status, value in statuses():
        yield Payload("google-genai", name, wire(kind, value), "gemini", status, as_content)
        yield Payload("google-genai", f"{name}, dumped", dumped(kind, value), "gemini", status, as_content)
        chunks = [wire(kind, content([part])) for part in value["candidates"][0]["content"]["parts"]]
        if status in ("ok", "failed"):
            stream = b"".join(b"data: " + chunk + b"\r\n\r\n" for chunk in chunks)
            yield Payload("google-genai", f"{name}, stream", stream, "gemini", status, as_stream, ".sse")
            array = b"[" + b",\r\n".join(chunks) + b"]"
            yield Payload("google-genai", f"{name}, array", array, "gemini", status, as_array)
    for index, part in enumerate(p for p in parts() if not BARE & set(list(p)[:1])):
        for writer in (wire, dumped):
            name = f"part {'/'.join(part)} {index}, {writer.__name__}"
            inside = ("candidates",) if writer is wire else ("candidates", 0, "content")
            yield Payload("google-genai", name, writer(kind, content([CODE, part])), "gemini", None, as_content, inside=inside)
    for index, value in enumerate(FILL.variants(kind)[:1]):
        yield Payload("google-genai", f"every field {index}", wire(kind, value), "gemini", None, as_content)
    turn = {"serverContent": {"modelTurn": {"role": "model", "parts": [CODE, result("OUTCOME_OK")]}}}
    lines = [turn, {"serverContent": {"turnComplete": True}}]
    data = b"".join(wire(types.LiveServerMessage, line) + b"\n" for line in lines)
    yield Payload("google-genai", "live", data, "gemini", "ok", as_live, ".jsonl")
    for is_error, status in ((False, "ok"), (True, "failed")):
        data = interaction_json(interaction([RUN, ran(is_error)]))
        yield Payload("google-genai", f"interaction, is_error {is_error}", data, "gemini", status, as_interaction)
        data = events(step_events(is_error))
        yield Payload("google-genai", f"events, is_error {is_error}", data, "gemini", status, as_events, ".sse")
    for index, step in enumerate(few(FILL.variants(interactions.Step))):
        data = interaction_json(interaction([RUN, step]))
        yield Payload("google-genai", f"step {step['type']} {index}", data, "gemini", None, as_interaction, inside=("steps", 1))
    for index, delta in enumerate(few(FILL.variants(interactions.StepDelta), 60)):
        data = events([{**delta, "event_type": "step.delta", "index": 0}])
        name = f"delta {delta['delta']['type']} {index}"
        yield Payload("google-genai", name, data, "gemini", None, as_events, ".sse", inside=("delta",))


def readers():
    return [
        Reader("GenerateContentResponse", "gemini", as_content),
        Reader("list[GenerateContentResponse]", "gemini", as_array),
        Reader("Interaction", "gemini", as_interaction),
        Reader("client", "gemini", as_stream, ".sse"),
        Reader("InteractionSSEEvent", "gemini", as_events, ".sse"),
        Reader("LiveServerMessage", "gemini", as_live, ".jsonl"),
    ]
