// Requests to the service: keys, problem documents, server-sent events.
import { signal } from "@preact/signals";
import type { components } from "./openapi";

type Schemas = components["schemas"];
export type Answer = Schemas["Answer"];
export type AskEvent = Schemas["AskEvent"];
/** The problem of an ask; wrong citations add what was rejected. */
export type AskProblem = Schemas["AskProblem"] & Partial<Schemas["RejectedAnswer"]>;
export type AskRequest = Schemas["AskRequest"];
export type AuditPage = Schemas["AuditPage"];
export type Citation = Schemas["Citation"];
export type CitedState = Schemas["CitedState"];
export type Collection = Schemas["Collection"];
export type CollectionPage = Schemas["CollectionPage"];
export type IssuedKey = Schemas["IssuedKey"];
export type Key = Schemas["Key"];
export type KeyPage = Schemas["KeyPage"];
export type NewKey = Schemas["NewKey"];
export type DeleteReceipt = Schemas["DeleteReceipt"];
export type Document = Schemas["Document"];
export type DocumentContent = Schemas["DocumentContent"];
export type DocumentPage = Schemas["DocumentPage"];
export type Finding = Schemas["Finding"];
export type Grade = Schemas["Grade"];
export type Job = Schemas["Job"];
export type JobEvent = Schemas["JobEvent"];
export type JobItem = Schemas["JobItem"];
export type Message = Schemas["Message"];
export type Problem = Schemas["Problem"];
export type Source = Schemas["Source"];

/** An error of the service, as a problem document, or of the connection to it. */
export class ServiceError extends Error {
  constructor(readonly problem: AskProblem) {
    super(problem.detail);
  }
}

/** What requests are sent with: a key, or the token of somebody who logged in. */
export interface Credential {
  kind: "key" | "token";
  secret: string;
}

const STORED_KEY = "cited-key";
const storedKey = sessionStorage.getItem(STORED_KEY);

/** A question for a key or a log-in that is open, with its two ends; null if none is. */
export const keyQuestion = signal<{ refused: Credential | null; end: (entered: boolean) => void } | null>(null);
export const credential = signal<Credential | null>(storedKey ? { kind: "key", secret: storedKey } : null);

/** Uses a key or a token from now on, in memory, and keeps a key until the tab is closed if asked to. Null forgets the former. */
export function useCredential(next: Credential | null, isKept = false): void {
  if (isKept && next?.kind === "key") sessionStorage.setItem(STORED_KEY, next.secret);
  else sessionStorage.removeItem(STORED_KEY);
  credential.value = next;
}

/** Whether what was answered may be kept until the tab is closed: as the key is that it was answered to, where one is needed. */
export function mayKeepAnswers(): boolean {
  return credential.value === null || sessionStorage.getItem(STORED_KEY) !== null;
}

let asking: Promise<boolean> | null = null;

/** Asks for a key once, however many requests need one. */
export function askForKey(refused: Credential | null = null): Promise<boolean> {
  asking ??= new Promise<boolean>((resolve) => {
    keyQuestion.value = { refused, end: resolve };
  }).finally(() => {
    keyQuestion.value = null;
    asking = null;
  });
  return asking;
}

/** Sends a request with the key, and again with another one as long as the service knows none. */
async function send(path: string, init: RequestInit): Promise<Response> {
  for (;;) {
    const used = credential.value;
    const headers = new Headers(init.headers);
    if (used) headers.set("Authorization", `Bearer ${used.secret}`);
    let response: Response;
    try {
      response = await fetch(path, { ...init, headers });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new ServiceError(unreachable());
    }
    if (response.ok) return response;
    const problem = await problemOf(response);
    // Another request may have been given a key meanwhile.
    if (response.status === 401 && (used !== credential.value || (await askForKey(used)))) continue;
    throw new ServiceError(problem);
  }
}

async function problemOf(response: Response): Promise<AskProblem> {
  try {
    return (await response.json()) as AskProblem;
  } catch {
    const detail = `The reply has status ${response.status} and no description. A proxy may have sent it.`;
    return { type: "about:blank", code: "unknown", status: response.status, title: "The request failed", detail };
  }
}

function unreachable(): AskProblem {
  const detail = "No connection to the service, or it ended early. Check that it runs, then try again.";
  return { type: "about:blank", code: "unreachable", status: 0, title: "The service cannot be reached", detail };
}

/** What the service answers, read as JSON. */
export async function call<T>(method: string, path: string, body?: FormData | object): Promise<T> {
  const isForm = body instanceof FormData;
  const headers: Record<string, string> = body && !isForm ? { "Content-Type": "application/json" } : {};
  const sent = body === undefined || isForm ? body : JSON.stringify(body);
  const response = await send(path, { method, headers, body: sent ?? null });
  return (await response.json()) as T;
}

/** The server-sent events of a route, until its stream ends. */
export async function* events<T>(path: string, init: RequestInit): AsyncGenerator<T> {
  const response = await send(path, init);
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      if (init.signal?.aborted) throw error;
      throw new ServiceError(unreachable());
    });
    if (done) return;
    buffer += value;
    const frames = buffer.split("\n\n");
    buffer = frames.pop() ?? "";
    for (const frame of frames) {
      const event = eventOf(frame);
      if (event) yield event as T;
    }
  }
}

function eventOf(frame: string): { event: string; data: unknown } | null {
  let event = "";
  const data: string[] = [];
  for (const line of frame.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { event, data: JSON.parse(data.join("\n")) } : null;
}

/** The problem behind any error. */
export function problemFrom(error: unknown): AskProblem {
  if (error instanceof ServiceError) return error.problem;
  const detail = error instanceof Error ? error.message : String(error);
  return { type: "about:blank", code: "unknown", status: 0, title: "Something failed in this page", detail };
}
