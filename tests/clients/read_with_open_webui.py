"""Has Open WebUI's own handlers read streams and whole replies of a running Cited.

tests/it/providers/clients.rs starts the service, brings in a document, and runs this with its address and that of a service
whose model cites what is not there. `OPEN_WEBUI` is its package as it is published. Of this the handlers of
replies and what they read them with are imported; models, settings, routers and the database are stand-ins, so that none
of its hundreds of dependencies is needed.
"""

import asyncio
import copy
import importlib.abc
import importlib.machinery
import os
import sys
import types
from unittest.mock import AsyncMock, MagicMock

import httpx
from starlette.responses import JSONResponse, StreamingResponse

SERVER, STRICT, PACKAGE = *sys.argv[1:], os.environ["OPEN_WEBUI"]
QUESTION = "How many days of paid annual leave does everyone have?"
OWN = ["constants", *(f"utils.{name}" for name in ["middleware", "misc", "response", "json_codec", "chat_id"])]
SETTINGS = {"GLOBAL_LOG_LEVEL": "CRITICAL", "CHAT_RESPONSE_STREAM_DELTA_CHUNK_SIZE": 1}
SYNCHRONOUS = ["log_model_usage", "get_sorted_filters"]


class StandIn(types.ModuleType):
    """A module that has whatever is imported from it; settings are off."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__ == "open_webui.env":
            return SETTINGS.get(name, False)
        if name.endswith("Model"):
            return type(name, (), {})
        return MagicMock(return_value=None) if name in SYNCHRONOUS else AsyncMock(return_value=None)


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds stand-ins for the modules of Open WebUI that are not read themselves."""

    def find_spec(self, name, path, target=None):
        if name.startswith("open_webui.") and name.removeprefix("open_webui.") not in OWN:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return StandIn(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, StandIns())
for name in ["open_webui", "open_webui.utils"]:
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [f"{PACKAGE}/{name.replace('.', '/')}"]

from open_webui.utils import middleware  # noqa: E402
from open_webui.utils.misc import stream_chunks_handler  # noqa: E402


class Connection:
    """The body of a reply as the connection to a provider hands it over: in chunks that end anywhere."""

    def __init__(self, body):
        self.body = body

    async def iter_chunks(self):
        for start in range(0, len(self.body), 50):
            yield self.body[start : start + 50], True


async def read(path, members, stream=True, server=SERVER):
    """Has a reply read; returns it, and what Open WebUI sends to its page meanwhile."""
    body = {"model": "cited/handbook", "stream": stream, **members}
    async with httpx.AsyncClient(timeout=60) as client:
        reply = await client.post(f"{server}/v1/{path}", json=body)
    sent = []

    async def emit(event):
        # The handlers go on writing to what they have sent.
        sent.append(copy.deepcopy(event))

    context = {
        "request": MagicMock(state=types.SimpleNamespace(direct=False)),
        "form_data": {"model": "cited/handbook", "messages": [{"role": "user", "content": QUESTION}]},
        "user": MagicMock(id="user"),
        "model": {"id": "cited/handbook"},
        "metadata": {"chat_id": "local:1", "message_id": "1", "session_id": "1"},
        "events": [],
        "tasks": None,
        "event_emitter": emit,
        "event_caller": None,
        "assistant_message": None,
    }
    if stream:
        lines = stream_chunks_handler(Connection(reply.content))
        answer = StreamingResponse(lines, headers={"Content-Type": reply.headers["content-type"]})
    else:
        answer = JSONResponse(reply.json(), reply.status_code)
    await middleware.process_chat_response(answer, context)
    return reply, sent


def data_of(sent, kind):
    return [event["data"] for event in sent if event["type"] == kind]


def shown(sent):
    """The text that the page shows at the end, and the sources beside it."""
    end = data_of(sent, "chat:completion")[-1]
    assert end["done"], end
    text = "".join(part["text"] for item in end["output"] for part in item["content"])
    return text, data_of(sent, "source")


def conversations(question):
    """A question to each route."""
    return [
        ("chat/completions", {"messages": [{"role": "user", "content": question}]}),
        ("responses", {"input": question}),
    ]


async def main():
    texts = []
    for path, members in conversations(QUESTION):
        _, sent = await read(path, members)
        text, sources = shown(sent)
        assert "28 days" in text and "[1]" in text, text
        url = sources[0]["source"]["url"]
        assert url.startswith(SERVER + "/c/") and httpx.get(url).status_code == 200, sources
        assert all(source["document"] == [source["source"]["name"]] for source in sources), sources
        words = [data["delta"] for data in data_of(sent, "response:completion") if data.get("type", "").endswith("text.delta")]
        assert "".join(words).strip() == text, words
        texts.append(text)
    assert texts[0] == texts[1], texts

    for path, members in conversations("Who won the chess cup of 1913?"):
        _, sent = await read(path, members)
        text, sources = shown(sent)
        assert text and not sources, (text, sources)

    for path, members in conversations(QUESTION):
        _, sent = await read(path, members, server=STRICT)
        errors = [data["error"] for data in data_of(sent, "chat:completion") if "error" in data]
        assert len(errors) == 1 and errors[0]["message"], errors

    path, members = conversations(QUESTION)[0]
    reply, sent = await read(path, members, stream=False)
    text, _ = shown(sent)
    assert text == texts[0] == reply.json()["choices"][0]["message"]["content"], text

    reply, sent = await read("chat/completions", {"messages": []}, stream=False)
    [error] = data_of(sent, "chat:message:error")
    assert reply.json()["error"]["message"] in error["error"]["content"]["message"], error


asyncio.run(main())
print("Open WebUI's handlers read Cited: streams of both routes, sources, abstentions, refusals, whole replies, errors")
