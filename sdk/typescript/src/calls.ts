/** The parts that calls of several operations have in common. */

import type { AskRequest, NewDocument, operations } from "./schema.js";

type Operation = keyof operations;
/** The query of an operation. */
export type Query<Name extends Operation> = NonNullable<operations[Name]["parameters"]["query"]>;
/** The JSON body of an operation. */
export type Body<Name extends Operation> = NonNullable<operations[Name]["requestBody"]> extends { content: { "application/json": infer Json } } ? Json : never;

/** The body of a response: failures have been thrown. */
export function data<T>(result: { data?: T }): T {
  return result.data as T;
}

/** The request of a question. */
export function asked(request: string | AskRequest): AskRequest {
  return typeof request === "string" ? { question: request } : request;
}

/** The members that have a value. */
export function given<T extends Record<string, unknown>>(members: T): { [Name in keyof T]: NonNullable<T[Name]> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(entries) as { [Name in keyof T]: NonNullable<T[Name]> };
}

/** The query of a URL. */
export function search(query: Record<string, unknown>): string {
  const pairs = Object.entries(given(query)).map(([name, value]): [string, string] => [name, String(value)]);
  return pairs.length ? `?${new URLSearchParams(pairs).toString()}` : "";
}

/** Documents as lines of JSON. */
export function lines(documents: Iterable<NewDocument> | AsyncIterable<NewDocument>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = (async function* () {
    for await (const document of documents) yield encoder.encode(`${JSON.stringify(document)}\n`);
  })();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}
