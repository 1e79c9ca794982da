// Questions and what became of them: the events of the stream, folded into turns.
import { computed, effect, signal } from "@preact/signals";
import { type Answer, type AskEvent, type AskProblem, type AskRequest, type Citation, type Finding, type Message, type Source, events, mayKeepAnswers, problemFrom } from "./api";
import { chosen } from "./collections";
import { slice } from "./text";

/** A draft that does not stand, and why. */
export interface Voided {
  text: string;
  reason: string;
  errors: Finding[];
}

export interface Turn {
  id: number;
  question: string;
  phase: "searching" | "writing" | "ended" | "stopped";
  /** The words so far; those after `confirmed` may still be refused. */
  draft: string;
  /** Code points of the draft that passed the check. */
  confirmed: number;
  citations: Citation[];
  sources: Source[];
  voided: Voided[];
  answer: Answer | null;
  problem: AskProblem | null;
}

const STORED_TURNS = "cited-conversation";

/** The turns of before the page was loaded anew in this tab. */
function storedTurns(): Turn[] {
  try {
    const stored = JSON.parse(sessionStorage.getItem(STORED_TURNS) ?? "[]") as Turn[];
    // JSON has no infinity.
    return stored.map((turn) => ({ ...turn, confirmed: Infinity }));
  } catch {
    return [];
  }
}

export const turns = signal<Turn[]>(storedTurns());
export const isAsking = computed(() => turns.value.some((turn) => turn.phase === "searching" || turn.phase === "writing"));
/** For screen readers: finished claims and ends, never words that may be refused. */
export const announced = signal("");

let running: AbortController | null = null;
let lastId = Math.max(0, ...turns.value.map((turn) => turn.id));

/** Keeps the turns for when the page is loaded anew; one under way is stopped by that. */
function keep(): void {
  const kept = turns.value.map((turn): Turn => (turn.phase === "ended" ? turn : { ...turn, phase: "stopped", draft: "" }));
  try {
    if (kept.length > 0 && mayKeepAnswers()) sessionStorage.setItem(STORED_TURNS, JSON.stringify(kept));
    else sessionStorage.removeItem(STORED_TURNS);
  } catch {
    // A long conversation may not fit; it is there until the page is left.
  }
}

effect(() => { if (!isAsking.value) keep(); });
addEventListener("pagehide", keep);

export function stop(): void {
  running?.abort();
}

export function startAnew(): void {
  stop();
  turns.value = [];
}

function change(id: number, by: (turn: Turn) => Partial<Turn>): void {
  turns.value = turns.value.map((turn) => (turn.id === id ? { ...turn, ...by(turn) } : turn));
}

/** What was said before, for a question that leans on it. Drafts and failures were never said. */
function history(): Message[] {
  return turns.value.flatMap((turn) => {
    const said = turn.answer?.answer ?? turn.answer?.reply;
    if (!said) return [];
    return [{ role: "user" as const, content: turn.question }, { role: "assistant" as const, content: said }];
  });
}

/** Asks the question of a turn that came to no answer once more, in its place. */
export function askAgain(turn: Turn): void {
  turns.value = turns.value.filter((each) => each.id !== turn.id);
  void ask(turn.question);
}

export async function ask(question: string): Promise<void> {
  const before = history();
  const id = ++lastId;
  const asked = before.length ? { messages: [...before, { role: "user" as const, content: question }] } : { question };
  const body: AskRequest = { ...asked, collections: chosen.value, stream: true, include: ["trace"] };
  const fresh: Turn = { id, question, phase: "searching", draft: "", confirmed: 0, citations: [], sources: [], voided: [], answer: null, problem: null };
  turns.value = [...turns.value, fresh];
  running = new AbortController();
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal: running.signal };
  const { signal: aborted } = running;
  try {
    for await (const event of events<AskEvent>("/v1/ask", init)) change(id, (turn) => after(turn, event));
    change(id, (turn) => (turn.answer || turn.problem ? {} : { phase: "ended", problem: problemFrom(new Error("The stream ended without an answer. Ask again.")) }));
  } catch (error) {
    change(id, () => (aborted.aborted ? { phase: "stopped" } : { phase: "ended", problem: problemFrom(error) }));
  }
  const ended = turns.value.find((turn) => turn.id === id);
  if (ended?.problem) announced.value = `${ended.problem.title}. ${ended.problem.detail}`;
  else if (ended?.answer && !ended.answer.answer) announced.value = "The documents do not answer this.";
}

function after(turn: Turn, { event, data }: AskEvent): Partial<Turn> {
  switch (event) {
    case "sources":
      return { sources: data.sources, phase: "writing" };
    case "token":
      return { draft: turn.draft + data.text, phase: "writing" };
    case "claim": {
      const [start, end] = data.span as [number, number];
      announced.value = slice(turn.draft, start, end);
      const ends = data.citations.map((citation) => citation.span[1] ?? 0);
      return { citations: [...turn.citations, ...data.citations], confirmed: Math.max(turn.confirmed, end, ...ends) };
    }
    case "retry": {
      const voided = turn.draft.trim() && data.reason !== "read_anew" ? [{ text: turn.draft, reason: data.reason, errors: data.errors }] : [];
      return { voided: [...turn.voided, ...voided], draft: "", citations: [], confirmed: 0 };
    }
    case "answer":
      return { phase: "ended", answer: data, sources: data.sources, citations: data.citations, draft: data.answer ?? "", confirmed: Infinity };
    case "error": {
      const problem = data as AskProblem;
      const voided = turn.draft.trim() ? [{ text: turn.draft, reason: "", errors: problem.validation?.errors ?? [] }] : [];
      return { phase: "ended", problem, voided: [...turn.voided, ...voided], draft: "", citations: [], confirmed: 0 };
    }
  }
}
