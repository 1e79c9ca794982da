"""Measures what the other doors cost over a plain ask: the same questions by each, in turn, from one client.

    python3 tools/bench/doors.py http://127.0.0.1:8080 handbook tools/bench/questions.txt

The service must hold the documents of the questions, and run without a chat model, so that an ask is short.
"""

import http.client
import json
import statistics
import sys
import time
from urllib.parse import urlsplit

server, collection, questions = urlsplit(sys.argv[1]), sys.argv[2], open(sys.argv[3], encoding="utf-8").read().split("\n")
ROUNDS = 8
MCP = {"accept": "application/json, text/event-stream"}


def messages(question):
    return [{"role": "user", "content": question}]


def tool(question):
    arguments = {"question": question, "collections": [collection]}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": arguments}}


#: Path, headers and body of each door.
DOORS = {
    "POST /v1/ask": ("/v1/ask", {}, lambda q: {"question": q, "collections": [collection]}),
    "POST /v1/ask/stream": ("/v1/ask/stream", {}, lambda q: {"question": q, "collections": [collection]}),
    "chat completion": ("/v1/chat/completions", {}, lambda q: {"model": f"cited/{collection}", "messages": messages(q)}),
    "chat completion, streamed": (
        "/v1/chat/completions",
        {},
        lambda q: {"model": f"cited/{collection}", "messages": messages(q), "stream": True},
    ),
    "response": ("/v1/responses", {}, lambda q: {"model": f"cited/{collection}", "input": q}),
    "tool ask (MCP)": ("/mcp", MCP, tool),
}

connection = http.client.HTTPConnection(server.hostname, server.port)
times = {name: [] for name in DOORS}
for _ in range(ROUNDS):
    for question in filter(None, questions):
        for name, (path, headers, body) in DOORS.items():
            started = time.perf_counter()
            connection.request("POST", path, json.dumps(body(question)), {"content-type": "application/json", **headers})
            response = connection.getresponse()
            response.read()
            times[name].append(1000 * (time.perf_counter() - started))
            assert response.status == 200, (name, response.status)

# Of each question and round the difference to its own plain ask: what else the machine does falls on both.
for name, each in times.items():
    extra = statistics.median(own - plain for own, plain in zip(each, times["POST /v1/ask"], strict=True))
    print(f"| {name} | {statistics.median(each):.1f} | {statistics.quantiles(each, n=20)[-1]:.1f} | {extra:+.1f} |")
