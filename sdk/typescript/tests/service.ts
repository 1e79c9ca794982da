/**
 * Uses a running Cited by the TypeScript SDK: documents in, ask, stream, search, pages, errors.
 *
 * The integration tests start two services and run this with their addresses: one with the built-in answerer, and one
 * whose model cites what is not there and which takes few requests a minute.
 */

import assert from "node:assert/strict";

import { type Document, CitationValidationError, Cited, ConnectionFailed, InvalidRequestError, NotFoundError, RateLimitedError, type ToldEvent } from "../src/index.js";

const [base, strictBase] = process.argv.slice(2) as [string, string];
const QUESTION = "How many days of paid annual leave does everyone have?";
const client = new Cited({ server: base });

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function thrown<E extends Error>(kind: abstract new (...given: never[]) => E, call: () => Promise<unknown>): Promise<E> {
  const error: unknown = await call().then(
    () => assert.fail("nothing was thrown"),
    (error: unknown) => error,
  );
  assert.ok(error instanceof kind, String(error));
  return error;
}

const leave = "Everyone has 28 days of paid annual leave a year. It lapses on 31 March.";
const uploads = [new File([leave], "leave.md"), { name: "pay.txt", content: "Pay day is the 25th." }];
const uploaded = await client.uploadFiles(uploads, { collection: "sdk", metadata: { team: "people" } });
const done = await client.waitForJob(uploaded, { signal: AbortSignal.timeout(60_000) });
assert.equal(done.state, "succeeded");
assert.equal(done.counts.documents, 2);
const sent = await client.createDocuments([{ source: "a.md", text: "Desks are booked a day ahead." }], { collection: "sdk", wait: true });
assert.equal(sent.counts.documents, 1);
function* rooms() {
  for (let room = 0; room < 60; room++) yield { source: `${room}.md`, text: `Room ${room} has ${room} chairs.` };
}
const streamed = await client.waitForJob(await client.streamDocuments(rooms(), { collection: "sdk" }));
assert.equal(streamed.counts.documents, 60);

const asked = { question: QUESTION, collections: ["sdk"], filter: { metadata: { team: "people" } } };
const answer = await client.ask(asked);
const [citation] = answer.citations;
assert.equal(answer.outcome, "answered");
assert.ok(citation?.quote?.text.includes("28 days"));
assert.equal((await client.getCitation(citation?.urn ?? "")).status, "current");
const events: ToldEvent[] = await all(client.streamAsk({ ...asked, stream: "validated" }));
const last = events.at(-1);
assert.equal(events[0]?.event, "sources");
assert.ok(last?.event === "answer" && last.data.answer === answer.answer);
assert.ok((await client.search({ query: "annual leave", collections: ["sdk"] })).results[0]?.text.includes("28 days"));
const checked = await client.check({ text: "Everyone has 28 days of leave.", collections: ["sdk"] });
assert.equal(checked.claims[0]?.verdict, "supported");

const documents: Document[] = await all(client.iterateDocuments({ collection: "sdk" }));
assert.equal(new Set(documents.map((document) => document.source)).size, 63);
assert.equal(documents.length, 63);
const stored = documents.find((document) => document.source === "leave.md");
assert.ok((await client.getDocumentContent(stored?.id ?? "")).text.includes("28 days"));
assert.ok((await all(client.iterateCollections())).some((collection) => collection.name === "sdk"));

const missing = await thrown(NotFoundError, () => client.ask({ question: QUESTION, collections: ["nowhere"] }));
assert.deepEqual([missing.status, missing.code], [404, "not_found"]);
await thrown(NotFoundError, () => all(client.streamAsk({ question: QUESTION, collections: ["nowhere"] })));
const wrong = await thrown(InvalidRequestError, () => client.ask("  "));
assert.equal(wrong.errors[0]?.pointer, "/question");
await thrown(ConnectionFailed, () => new Cited({ server: "http://127.0.0.1:1", maxRetries: 0 }).livez());
const stopped = new AbortController();
await thrown(DOMException, async () => {
  for await (const _ of client.streamAsk(asked, { signal: stopped.signal })) stopped.abort();
});

const strict = new Cited({ server: strictBase, maxRetries: 0 });
const refusedAsk = { question: QUESTION, collections: ["handbook"] };
for (const ask of [() => strict.ask(refusedAsk), () => all(strict.streamAsk(refusedAsk))]) {
  const refused = await thrown(CitationValidationError, ask);
  assert.equal(refused.status, 422);
  assert.equal(refused.problem.validation.errors[0]?.kind, "out_of_range");
  assert.ok(refused.problem.sources.length && refused.problem.drafts.length);
}
const limited = await thrown(RateLimitedError, async () => {
  for (let call = 0; call < 100; call++) await strict.listCollections();
});
assert.equal(limited.code, "rate_limited");
assert.ok(limited.retryAfter);
console.log("the TypeScript SDK: documents in, ask, stream, search, check, pages, 404, 422, 429");
