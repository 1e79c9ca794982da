"""Holds a running Cited against the published schema of Open Responses, with the requests of its compliance run.

tests/it/providers/clients.rs starts the service, brings in a document, and runs this with the service's address.
"""

import importlib.resources
import json
import sys

import httpx
import jsonschema

URL, MODEL = sys.argv[1] + "/v1/responses", "cited/handbook"
QUESTION = "How many days of paid annual leave does everyone have?"
DOCUMENT = json.loads(importlib.resources.files("openresponses").joinpath("openapi/2026-04-24.json").read_text())
SCHEMAS = DOCUMENT["components"]["schemas"]
SUCCESS = DOCUMENT["paths"]["/responses"]["post"]["responses"]["200"]["content"]


def validator(schema):
    return jsonschema.Draft202012Validator({**schema, "components": DOCUMENT["components"]})


def kind_of(reference):
    """The type of the event that a schema describes."""
    [kind] = SCHEMAS[reference["$ref"].rsplit("/", 1)[1]]["properties"]["type"]["enum"]
    return kind


REQUEST = validator({"$ref": "#/components/schemas/CreateResponseBody"})
RESPONSE = validator(SUCCESS["application/json"]["schema"])
EVENTS = {kind_of(event): validator(event) for event in SUCCESS["text/event-stream"]["schema"]["oneOf"]}


def message(role, content):
    return {"type": "message", "role": role, "content": content}


def send(members):
    body = {"model": MODEL, **members}
    REQUEST.validate(body)
    return httpx.post(URL, json=body, timeout=60)


def text_of(response):
    """The text of a response that has all that the specification wants of a completed one."""
    RESPONSE.validate(response)
    assert response["status"] == "completed" and response["completed_at"] >= response["created_at"], response
    [item] = response["output"]
    [part] = item["content"]
    assert (item["type"], item["status"], part["type"]) == ("message", "completed", "output_text"), item
    return part["text"]


def streamed(question):
    """The events of a stream, each held against the schema of its type."""
    events = []
    body = {"model": MODEL, "input": question, "stream": True}
    with httpx.stream("POST", URL, json=body, timeout=60) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream"), reply.headers
        blocks = "".join(reply.iter_text()).strip().split("\n\n")
    assert blocks.pop() == "data: [DONE]"
    for block in blocks:
        name, data = block.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == "event: " + event["type"], block
        EVENTS[event["type"]].validate(event)
        events.append(event)
    return events


answered = {
    "a question": QUESTION,
    "a greeting": [message("user", "Say hello in exactly 3 words.")],
    "instructions": [message("system", "Talk like a pirate."), message("user", "Say hello.")],
    "a conversation": [
        message("user", "My name is Alice."),
        message("assistant", "Hello Alice, how can I help you?"),
        message("user", "What is my name?"),
    ],
}
function = {"type": "function", "name": "get_weather", "parameters": {"type": "object", "properties": {}}}
for name, conversation in answered.items():
    reply = send({"input": conversation, "tools": [function]})
    assert reply.status_code == 200 and text_of(reply.json()), (name, reply.text)

for question in [QUESTION, "Count from 1 to 5."]:
    events = streamed(question)
    assert [event["sequence_number"] for event in events] == list(range(len(events))), events
    kinds = [event["type"] for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"] and kinds[-1] == "response.completed", kinds
    words = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    assert words == text_of(events[-1]["response"]) != "", words

image = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
file = {"type": "input_file", "filename": "leave.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjEK"}
refused = {
    "a call": {"input": QUESTION, "tools": [function], "tool_choice": {"type": "function", "name": "get_weather"}},
    "previous_response_id": {"input": QUESTION, "previous_response_id": "resp_1"},
    "background": {"input": QUESTION, "background": True},
    "an image": {"input": [message("user", [{"type": "input_text", "text": QUESTION}, image])]},
    "a file": {"input": [message("user", [{"type": "input_text", "text": QUESTION}, file])]},
}
for name, members in refused.items():
    reply = send(members)
    error = reply.json()["error"]
    assert reply.status_code == 400 and error["message"] and error["param"], (name, reply.text)
print(f"Open Responses: {len(answered)} conversations and 2 streams hold its schema; {', '.join(refused)} are refused")
