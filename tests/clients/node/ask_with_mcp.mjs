// Calls the tools of a running Cited with the client of the Model Context Protocol for TypeScript.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [, , server] = process.argv;
const client = new Client({ name: "tests", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(`${server}/mcp`)));

const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), ["search", "fetch", "ask", "check", "collections", "ingest"]);
// The client holds structured content against the schema of the tool.
const found = await client.callTool({ name: "search", arguments: { query: "annual leave" } });
const first = found.structuredContent.results[0];
const fetched = await client.callTool({ name: "fetch", arguments: { id: first.id } });
assert.match(fetched.structuredContent.text, /28 days/);
const read = await client.readResource({ uri: first.id });
assert.ok(fetched.structuredContent.text.includes(read.contents[0].text));
const answer = await client.callTool({ name: "ask", arguments: { question: "How many days of paid annual leave does everyone have?" } });
const [citation] = answer.structuredContent.citations;
assert.match(citation.quote, /28 days/);
assert.equal(answer.content[1].type, "resource_link");
const wrong = await client.callTool({ name: "ask", arguments: { query: "?" } });
assert.ok(wrong.isError && wrong.content[0].text.includes("/query"));
await client.close();
console.log("the MCP client for TypeScript calls Cited");
