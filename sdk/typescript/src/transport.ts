/** Sends requests, again where the service asks for it, and turns failures into errors. */

import { EventSourceParserStream, type EventSourceMessage } from "eventsource-parser/stream";

import { type ApiError, ConnectionFailed, errorOf } from "./errors.js";
import type { Problem } from "./schema.js";

/** Options of a client. */
export interface Options {
  /** Address of the service; by default that of `CITED_SERVER`, else the service on this machine. */
  server?: string;
  /** Key; by default that of `CITED_API_KEY`. */
  apiKey?: string;
  /** Longest time until a response begins, in milliseconds. */
  timeout?: number;
  /** How often a request is sent again that was refused with 429 or 503 and a time to come back. */
  maxRetries?: number;
  /** Sends requests in place of the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

const DEFAULT_SERVER = "http://127.0.0.1:8080";
/** A little more than the service's own time limit of a request. */
const DEFAULT_TIMEOUT = 310_000;
/** Longest pause before a request is sent again, in seconds. */
const LONGEST_PAUSE = 30;

/** A connection to one service. */
export class Transport {
  readonly server: string;
  readonly #apiKey: string | undefined;
  readonly #timeout: number;
  readonly #maxRetries: number;
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: Options = {}) {
    this.server = (options.server ?? environment("CITED_SERVER") ?? DEFAULT_SERVER).replace(/\/+$/, "");
    this.#apiKey = options.apiKey ?? environment("CITED_API_KEY");
    this.#timeout = options.timeout ?? DEFAULT_TIMEOUT;
    this.#maxRetries = options.maxRetries ?? 2;
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  /** Sends a request to a path of the service; a failure is thrown. */
  send(path: string, init: RequestInit & { duplex?: "half" } = {}): Promise<Response> {
    return this.sendRequest(new Request(this.server + path, init));
  }

  /** Sends a request; a failure is thrown. */
  async sendRequest(request: Request): Promise<Response> {
    if (this.#apiKey) request.headers.set("authorization", `Bearer ${this.#apiKey}`);
    // A stream that has been sent in part cannot be sent again.
    const isStream = request.headers.get("content-type") === "application/x-ndjson";
    const maxRetries = isStream ? 0 : this.#maxRetries;
    for (let attempt = 0; ; attempt++) {
      const response = await this.#attempt(isStream ? request : request.clone(), attempt < maxRetries);
      const seconds = response === null ? 0.5 * 2 ** attempt : attempt < maxRetries ? pause(response, attempt) : null;
      if (seconds === null && response?.ok) return response;
      if (seconds === null && response) throw await failure(response);
      await sleep((seconds ?? 0) * 1000);
    }
  }

  /** The response; `null` if the service did not answer a request that may be sent again. */
  async #attempt(request: Request, hasMore: boolean): Promise<Response | null> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), this.#timeout);
    try {
      return await this.#fetch(request, { signal: AbortSignal.any([request.signal, limit.signal]) });
    } catch (error) {
      if (request.signal.aborted) throw error;
      const mayRepeat = request.method === "GET" || request.headers.has("idempotency-key");
      if (hasMore && mayRepeat) return null;
      throw new ConnectionFailed(`${this.server} does not answer: ${String(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** The lines of a response that are not empty; leaving the iteration closes it. */
  async *lines(path: string): AsyncGenerator<string, void, void> {
    const response = await this.send(path);
    let rest = "";
    try {
      for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const lines = (rest + part).split("\n");
        rest = lines.pop() ?? "";
        yield* lines.filter(Boolean);
      }
    } catch (error) {
      throw new ConnectionFailed(`the response of ${this.server} broke off: ${String(error)}`, { cause: error });
    }
    if (rest) yield rest;
  }

  /** The events of a stream; leaving the iteration closes it. */
  async *events(path: string, init: RequestInit = {}): AsyncGenerator<EventSourceMessage, void, void> {
    const headers = { accept: "text/event-stream", ...(init.headers as Record<string, string> | undefined) };
    const response = await this.send(path, { ...init, headers });
    if (!response.body) return;
    const messages = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    try {
      for await (const message of messages) yield message;
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new ConnectionFailed(`the stream of ${this.server} broke off: ${String(error)}`, { cause: error });
    }
  }
}

async function failure(response: Response): Promise<ApiError<Problem>> {
  const body: unknown = await response.json().catch(() => null);
  return errorOf(body, response.status, retryAfter(response));
}

function retryAfter(response: Response): number | null {
  const seconds = Number.parseFloat(response.headers.get("retry-after") ?? "");
  return Number.isFinite(seconds) ? seconds : null;
}

/** Seconds before the request is sent again; `null` if that makes no sense. */
function pause(response: Response, attempt: number): number | null {
  if (response.status !== 429 && response.status !== 503) return null;
  const seconds = retryAfter(response);
  return seconds === null || seconds > LONGEST_PAUSE ? null : Math.max(seconds, 0.5 * 2 ** attempt);
}

/** Waits. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** A variable of the environment, where there is one: browsers have none. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env: Record<string, string | undefined> } };
  return process?.env[name];
}
