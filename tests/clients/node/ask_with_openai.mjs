// Asks a running Cited with OpenAI's own client for Node: completions, responses, streams, models, errors.
import assert from "node:assert/strict";
import OpenAI, { BadRequestError, NotFoundError } from "openai";

const [, , server] = process.argv;
const QUESTION = "How many days of paid annual leave does everyone have?";
const model = "cited/handbook";
const messages = [{ role: "user", content: QUESTION }];
let requests = 0;
const counting = (...sent) => { requests++; return fetch(...sent); };
const client = new OpenAI({ baseURL: `${server}/v1`, apiKey: "none", fetch: counting });

const models = [];
for await (const each of client.models.list()) models.push(each.id);
assert.deepEqual(models, ["cited", model]);

const { message } = (await client.chat.completions.create({ model, messages })).choices[0];
const citation = message.annotations[0].url_citation;
assert.equal(message.content.slice(citation.start_index, citation.end_index), "[1]");
assert.match(message.content, /28 days/);
assert.equal((await fetch(citation.url, { headers: { accept: "text/html" } })).status, 200);

const streamed = client.chat.completions.stream({ model, messages });
let annotations = [];
for await (const chunk of streamed) annotations.push(...(chunk.choices[0]?.delta.annotations ?? []));
assert.equal(await streamed.finalContent(), message.content);
assert.equal(annotations[0].url_citation.url, citation.url);

const response = await client.responses.create({ model, input: QUESTION });
assert.equal(response.output_text, message.content);
assert.equal(response.output[0].content[0].annotations[0].url, citation.url);
const events = client.responses.stream({ model, input: QUESTION });
const kinds = [];
for await (const event of events) kinds.push(event.type);
assert.equal((await events.finalResponse()).output_text, message.content);
assert.deepEqual([kinds[0], kinds.at(-1)], ["response.created", "response.completed"]);

const abstained = await client.chat.completions.create({ model, messages: [{ role: "user", content: "Who won the chess cup of 1913?" }] });
assert.equal(abstained.cited.outcome, "abstained");

requests = 0;
await assert.rejects(client.chat.completions.create({ model: "cited/x", messages }), (error) => error instanceof NotFoundError && error.code === "model_not_found");
await assert.rejects(client.chat.completions.create({ model, messages, n: 2 }), (error) => error instanceof BadRequestError && error.param === "n");
assert.equal(requests, 2, "neither is repeated");
console.log("OpenAI's client for Node asks Cited");
