/** Brings a document in, asks about it as a stream, and prints the answer with the words that prove it. */

import { type Answer, Cited, CitationValidationError } from "../src/index.js";

const cited = new Cited();

const content = "# Leave\n\nEveryone has 28 days of paid annual leave a year. It lapses on 31 March.";
const job = await cited.waitForJob(await cited.uploadFiles([{ name: "leave.md", content }], { collection: "example" }));
console.log(`${job.counts.documents} document, ${job.state}`);

let answer: Answer | null = null;
try {
  const question = "How many days of paid annual leave does everyone have?";
  for await (const event of cited.streamAsk({ question, collections: ["example"] })) {
    if (event.event === "claim") console.log(`confirmed, support ${event.data.support.toFixed(2)}`);
    if (event.event === "answer") answer = event.data;
  }
} catch (error) {
  if (!(error instanceof CitationValidationError)) throw error;
  console.log("refused:", error.problem.validation.errors.map((finding) => finding.detail));
}
if (answer) {
  console.log(answer.answer || `no answer: ${answer.reason}`);
  for (const { marker, quote, urn } of answer.citations) console.log(`  [^${marker}] ${quote?.text ?? urn}`);
}
