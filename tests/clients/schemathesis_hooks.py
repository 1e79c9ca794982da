"""What Schemathesis has to be told about the OpenAPI document of Cited."""

import json

import schemathesis
from jsonschema_rs import Draft202012Validator

EVENTS = "text/event-stream"
events_of: dict[str, Draft202012Validator] = {}


def without_widths(part):
    """The schema without the widths of integers, which are for generators: the service takes the numbers beyond them."""
    if isinstance(part, list):
        return [without_widths(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {name: without_widths(each) for name, each in part.items() if (name, each) not in [("format", "int32"), ("format", "int64")]}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    raw_schema["components"] = without_widths(raw_schema["components"])
    for operations in raw_schema["paths"].values():
        for operation in operations.values():
            media = operation["responses"].get("200", {}).get("content", {}).get(EVENTS)
            if media:
                # A stream is described as the list of its events, each with the name and the data that it is sent with.
                schema = media.pop("schema")
                schema = schema.get("items", schema)
                whole = schema | {"components": raw_schema["components"]}
                events_of[operation["operationId"]] = Draft202012Validator(whole)


@schemathesis.serializer("application/x-ndjson")
def ndjson(context, value):
    return value if isinstance(value, bytes) else json.dumps(value).encode()


@schemathesis.check
def events_have_their_schema(context, response, case):
    operation = case.operation.definition.raw["operationId"]
    if operation not in events_of or not response.headers.get("content-type", [""])[0].startswith(EVENTS):
        return
    for frame in response.content.decode().split("\n\n"):
        lines = [line.partition(":") for line in frame.splitlines()]
        fields = {name: value.strip() for name, _, value in lines if name}
        if fields.get("data") in (None, "[DONE]"):
            continue
        data = json.loads(fields["data"])
        # Streams of OpenAI's protocols have the name of the event in its data, or none.
        event = {"event": fields["event"], "data": data} if "event" in fields and data.get("type") != fields["event"] else data
        events_of[operation].validate(event)
