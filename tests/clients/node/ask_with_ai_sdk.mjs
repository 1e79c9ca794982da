// Asks a running Cited with the AI SDK of Vercel: chat and responses, whole and streamed; citations arrive as its sources.
import assert from "node:assert/strict";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText, streamText } from "ai";

const [, , server] = process.argv;
const prompt = "How many days of paid annual leave does everyone have?";
const openai = createOpenAI({ baseURL: `${server}/v1`, apiKey: "none" });

for (const model of [openai.chat("cited/handbook"), openai.responses("cited/handbook")]) {
  const whole = await generateText({ model, prompt });
  assert.match(whole.text, /28 days.*\[1\]/s);
  assert.equal(whole.sources.length, 1);
  assert.equal(whole.sources[0].sourceType, "url");
  assert.equal((await fetch(whole.sources[0].url, { headers: { accept: "text/html" } })).status, 200);

  const faults = [];
  const streamed = streamText({ model, prompt, onError: ({ error }) => faults.push(error) });
  assert.equal(await streamed.text, whole.text);
  assert.deepEqual((await streamed.sources).map((source) => source.url), whole.sources.map((source) => source.url));
  assert.deepEqual(faults, []);

  const nothing = await generateText({ model, prompt: "Who won the chess cup of 1913?" });
  assert.equal(nothing.sources.length, 0);
}
await assert.rejects(generateText({ model: openai.chat("cited/x"), prompt }), (error) => APICallError.isInstance(error) && error.statusCode === 404 && !error.isRetryable);
console.log("the AI SDK asks Cited");
