/**
 * Holds the SDK against the OpenAPI document: each native operation is a method, named in camel case, that sends what the
 * document says. Nothing is sent anywhere: each request is answered with 501.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { ApiError, Cited } from "../src/index.js";

interface Operation {
  operationId: string;
  tags: string[];
  parameters?: { name: string; in: string }[];
  requestBody?: unknown;
  responses: Record<string, { content?: Record<string, unknown> }>;
}

const path = new URL("../../../../openapi/openapi.json", import.meta.url);
const document = JSON.parse(readFileSync(path, "utf8")) as { paths: Record<string, Record<string, Operation>> };

let sent: Request | undefined;
const fetch: typeof globalThis.fetch = (input) => {
  sent = input as Request;
  return Promise.resolve(Response.json({}, { status: 501 }));
};
const client = new Cited({ server: "http://service", fetch }) as unknown as Record<string, (...given: unknown[]) => unknown>;

/** What each method takes as its body, where that is not an object of members. */
const BODIES: Record<string, unknown> = { create_documents: [{ text: "x" }], stream_documents: [{ text: "x" }] };

/** Whether the operation is called by this API's own clients: see sdk/native_document.py. */
function isNative({ tags, responses }: Operation): boolean {
  const types = Object.values(responses).flatMap(({ content }) => Object.keys(content ?? {}));
  return !tags.includes("openai") && !tags.includes("mcp") && !types.includes("text/html");
}

let count = 0;
for (const [template, methods] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    if (!isNative(operation)) continue;
    count++;
    const name = operation.operationId;
    const parameters = operation.parameters ?? [];
    const inPath = parameters.filter((parameter) => parameter.in === "path");
    const inQuery = parameters.filter((parameter) => parameter.in === "query").map((parameter) => parameter.name);
    const query = Object.fromEntries(inQuery.map((parameter) => [parameter, "x"]));
    const body = operation.requestBody ? [BODIES[name] ?? { question: "x" }] : [];
    const call = client[name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())];
    assert.ok(call, `there is no method for ${name}`);
    const result = call.call(client, ...inPath.map(() => "x/y"), ...body, ...(inQuery.length ? [query] : []));
    const ended = Symbol.asyncIterator in (result as object) ? (result as AsyncGenerator).next() : (result as Promise<unknown>);
    const error: unknown = await ended.then(
      () => null,
      (error: unknown) => error,
    );
    assert.ok(error instanceof ApiError && error.status === 501, `${name}: ${String(error)}`);
    assert.ok(sent);
    const url = new URL(sent.url);
    assert.equal(url.pathname, template.replace(/\{\w+\}/g, "x%2Fy"), name);
    assert.equal(sent.method, method.toUpperCase(), name);
    assert.deepEqual([...url.searchParams.keys()].sort(), inQuery.sort(), name);
  }
}
console.log(`the TypeScript client has the ${count} operations of the document`);
