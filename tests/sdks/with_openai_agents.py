"""openai-agents: the items of a run, around the raw items of openai."""

import json

from agents import Agent
from agents.items import MessageOutputItem, ToolCallItem, ToolCallOutputItem
from openai.types.responses import ResponseCodeInterpreterToolCall, ResponseOutputMessage
from pydantic import TypeAdapter

from payload import Payload
from with_openai import INPUT, interpreter

RAW = TypeAdapter(ResponseCodeInterpreterToolCall | ResponseOutputMessage)


def as_items(data):
    """The package writes items and never reads them back: each raw item goes where a next run would send it."""
    for item in json.loads(data)["new_items"]:
        raw = item["raw_item"]
        if item["type"] == "tool_call_output_item":
            INPUT.validate_python([raw])
        else:
            RAW.validate_python(raw)


def written(items) -> bytes:
    def one(item):
        raw = item.raw_item if isinstance(item.raw_item, dict) else item.raw_item.model_dump(mode="json", exclude_unset=True)
        made = {"type": item.type, "agent": {"name": item.agent.name}, "raw_item": raw}
        return {**made, "output": item.output} if hasattr(item, "output") else made

    return json.dumps({"new_items": [one(item) for item in items], "final_output": "42 rows."}).encode()


def payloads():
    agent = Agent(name="Analyst")
    for state, status in (("completed", "ok"), ("failed", "failed")):
        call = ResponseCodeInterpreterToolCall.model_validate(interpreter(state))
        output = {"type": "function_call_output", "call_id": "call_01", "output": "42 rows read"}
        part = {"type": "output_text", "text": "42 rows.", "annotations": []}
        said = ResponseOutputMessage.model_validate(
            {"id": "msg_01", "type": "message", "role": "assistant", "status": "completed", "content": [part]},
        )
        items = [
            ToolCallItem(agent=agent, raw_item=call), ToolCallOutputItem(agent=agent, raw_item=output, output="42 rows read"),
            MessageOutputItem(agent=agent, raw_item=said),
        ]
        yield Payload("openai-agents", f"items, {state}", written(items), "openai-agents", status, as_items)


def readers():
    return []
