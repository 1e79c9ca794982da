"""Calls the tools of a running Cited with the official client of the Model Context Protocol.

tests/it/providers/clients.rs starts the service, brings in a document, and runs this with the service's address. The
client holds each result against the schema of its tool.
"""

import asyncio
import json
import sys

from mcp import Client, MCPError

URL, QUESTION = sys.argv[1] + "/mcp", "How many days of paid annual leave does everyone have?"


async def call(mode):
    async with Client(URL, mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["search", "fetch", "ask", "check", "collections", "ingest"], tools
        assert [tool.annotations.read_only_hint for tool in tools] == [True] * 4 + [False], tools

        found = await client.call_tool("search", {"query": "annual leave"})
        first = found.structured_content["results"][0]
        assert json.loads(found.content[0].text) == found.structured_content and first["url"], found
        fetched = await client.call_tool("fetch", {"id": first["id"]})
        assert "28 days" in fetched.structured_content["text"], fetched
        read = await client.read_resource(first["id"])
        assert read.contents[0].text in fetched.structured_content["text"], read

        answer = await client.call_tool("ask", {"question": QUESTION})
        citation = answer.structured_content["citations"][0]
        assert "28 days" in citation["quote"] and citation["url"] in answer.content[0].text, answer
        assert (answer.content[1].type, str(answer.content[1].uri)) == ("resource_link", citation["id"]), answer
        nothing = await client.call_tool("ask", {"question": "Who won the chess cup of 1913?"})
        assert nothing.structured_content["outcome"] == "abstained" and not nothing.is_error, nothing

        claim = {"text": "Everyone has 40 days of paid annual leave.", "collections": ["handbook"]}
        checked = await client.call_tool("check", claim)
        assert checked.structured_content["ok"] is False, checked
        documents = [{"source": "cars.md", "text": "A company car is ordered from the fleet desk in Bern."}]
        stored = await client.call_tool("ingest", {"collection": "travel", "documents": documents})
        assert stored.structured_content["documents"][0]["state"] in ("succeeded", "unchanged"), stored

        wrong = await client.call_tool("ask", {"query": QUESTION})
        assert wrong.is_error and "/query" in wrong.content[0].text, wrong
        try:
            await client.call_tool("answer", {})
        except MCPError as error:
            assert "search, fetch, ask, check, ingest" in str(error), error
        else:
            raise AssertionError("there is no such tool")


for mode in ("auto", "legacy"):
    asyncio.run(call(mode))
print("The client of MCP calls Cited: tools, resources, abstentions, failures")
