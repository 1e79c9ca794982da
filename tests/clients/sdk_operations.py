"""Holds both clients of the Python SDK against the OpenAPI document: each native operation is a method that sends what the
document says.

sdk/native_document.py tells which operations are native. The transport answers everything with 501, so no service runs.
"""

import asyncio
import inspect
import json
import sys
import tempfile
from pathlib import Path

import httpx

import cited

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "sdk"))
from native_document import write  # noqa: E402

SENT: list[httpx.Request] = []
SAMPLES = {"string": "x", "integer": 1, "boolean": True}
#: The methods that send a body other than keyword arguments.
POSITIONAL = {"create_documents": [[{"text": "x"}]], "stream_documents": [[{"text": "x"}]]}
#: Each event of a job has its whole state, so nothing is gained from the last one's id.
LEFT_OUT = {"Last-Event-ID"}


def answer(request: httpx.Request) -> httpx.Response:
    SENT.append(request)
    return httpx.Response(501, json={})


def arguments(name, operation):
    """Positional and keyword arguments of a call with every parameter."""
    parameters = [one for one in operation.get("parameters", []) if one["name"] not in LEFT_OUT]
    positional = ["x/y" for one in parameters if one["in"] == "path"] + POSITIONAL.get(name, [])
    named = {}
    for one in parameters:
        key = one["name"].lower().replace("-", "_")
        key = f"{key}_" if key == "from" else key
        if one["in"] != "path":
            named[key] = SAMPLES[one["schema"]["type"]]
    if operation.get("requestBody") and name not in POSITIONAL:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[-1]
        named |= {member: "x" for member in getattr(cited.requests, schema).__annotations__ if member not in named}
        # The methods that ask decide this themselves.
        named.pop("stream", None)
    return positional, named, parameters


async def call(client, name, positional, named):
    """Calls a method of either client to its failure."""
    try:
        result = getattr(client, name)(*positional, **named)
        if inspect.isawaitable(result):
            await result
        elif hasattr(result, "__aiter__"):
            await anext(aiter(result))
        else:
            next(iter(result))
    except cited.ApiError as error:
        assert error.status == 501, error
        return
    raise AssertionError(f"{name} took the failure for an answer")


async def main():
    with tempfile.TemporaryDirectory() as folder:
        write(json.loads((ROOT / "openapi" / "openapi.json").read_text()), Path(folder))
        document = json.loads((Path(folder) / "native.json").read_text())
    transport = httpx.MockTransport(answer)
    clients = [
        cited.Cited("http://service", http_client=httpx.Client(transport=transport)),
        cited.AsyncCited("http://service", http_client=httpx.AsyncClient(transport=transport)),
    ]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            name = operation["operationId"]
            positional, named, parameters = arguments(name, operation)
            for client in clients:
                await call(client, name, positional, named)
                request = SENT.pop()
                place = path
                for one in parameters:
                    place = place.replace("{" + one["name"] + "}", "x%2Fy")
                assert request.url.raw_path.decode().split("?")[0] == place, (name, request.url)
                assert request.method == method.upper(), (name, request.method)
                expected = {one["name"] for one in parameters if one["in"] == "query"}
                assert set(request.url.params) == expected, (name, request.url)
                for one in parameters:
                    assert one["in"] != "header" or one["name"] in request.headers, (name, request.headers)
    print(f"both Python clients have the {sum(map(len, document['paths'].values()))} operations of the document")


asyncio.run(main())
