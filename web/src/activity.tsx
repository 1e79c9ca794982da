// The questions that were asked, how they ended and what they cost, from the audit.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type AskProblem, type AuditPage, call, problemFrom } from "./api";
import { ProblemView } from "./problem";
import { count, milliseconds } from "./text";

type Ask = AuditPage["asks"][number];

const PERIODS = [["1", "Today and yesterday"], ["7", "Seven days"], ["30", "Thirty days"]] as const;
/** Pages of the audit that are read for the sums. */
const MOST_PAGES = 10;
/** Rows that the list shows at first, and more with each request. */
const STEP = 50;

const days = signal("7");
const asks = signal<Ask[]>([]);
/** Whether there are more questions in the period than were read. */
const isCut = signal(false);
const shown = signal(STEP);
const problem = signal<AskProblem | null>(null);

/** Reads the questions of the period, newest first. */
async function load(): Promise<void> {
  const period = days.value;
  const after = new Date();
  after.setHours(0, 0, 0, 0);
  after.setDate(after.getDate() - Number(period));
  try {
    const read: Ask[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < MOST_PAGES && (page === 0 || cursor); page++) {
      const query: string = new URLSearchParams({ limit: "200", asked_after: after.toISOString(), ...(cursor ? { cursor } : {}) }).toString();
      const found: AuditPage = await call("GET", `/v1/audit?${query}`);
      if (days.value !== period) return;
      read.push(...found.asks);
      cursor = found.next_cursor;
    }
    [asks.value, isCut.value, shown.value, problem.value] = [read, cursor !== null, STEP, null];
  } catch (error) {
    problem.value = problemFrom(error);
  }
}

export function ActivityView() {
  useEffect(() => void load(), [days.value]);
  return (
    <div class="sheet wide">
      <h1>Activity</h1>
      <div class="tabs" role="group" aria-label="Period">
        {PERIODS.map(([value, name]) => <button type="button" key={value} aria-pressed={days.value === value} onClick={() => { days.value = value; }}>{name}</button>)}
      </div>
      {problem.value && <ProblemView problem={problem.value} />}
      <UsageTable />
      <h2>Questions</h2>
      <AskTable />
      {asks.value.length > shown.value && <button type="button" onClick={() => { shown.value += STEP; }}>More</button>}
    </div>
  );
}

interface Usage {
  key: string;
  questions: number;
  answered: number;
  calls: number;
  tokens: number;
  cost: number;
}

function used(key: string, of: Ask[]): Usage {
  const sum = (part: (ask: Ask) => number) => of.reduce((total, ask) => total + part(ask), 0);
  return {
    key,
    questions: of.length,
    answered: of.filter((ask) => ask.outcome === "answered" || ask.outcome === "partial").length,
    calls: sum((ask) => ask.usage.llm_calls),
    tokens: sum((ask) => ask.usage.prompt_tokens + ask.usage.completion_tokens),
    cost: sum((ask) => ask.usage.cost_usd),
  };
}

/** What each key used, the most first, and all together. */
function UsageTable() {
  const byKey = new Map<string, Ask[]>();
  for (const ask of asks.value) byKey.set(ask.key_id ?? "no key", [...(byKey.get(ask.key_id ?? "no key") ?? []), ask]);
  const rows = [...byKey].map(([key, of]) => used(key, of)).sort((one, other) => other.questions - one.questions);
  const all = used(isCut.value ? `The newest ${count(asks.value.length, "question")}` : "All", asks.value);
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Usage">
      <table>
        <thead><tr><th scope="col">Key</th><th scope="col">Questions</th><th scope="col">Answered</th><th scope="col">Model calls</th><th scope="col">Tokens</th><th scope="col">Cost</th></tr></thead>
        <tbody>{rows.map((row) => <UsageRow key={row.key} of={row} />)}</tbody>
        <tfoot><UsageRow of={all} /></tfoot>
      </table>
    </div>
  );
}

function UsageRow({ of: { key, questions, answered, calls, tokens, cost } }: { of: Usage }) {
  return <tr><th scope="row">{key}</th><td>{questions}</td><td>{answered}</td><td>{calls}</td><td>{tokens.toLocaleString("en")}</td><td>{cost.toFixed(4)} USD</td></tr>;
}

function AskTable() {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Questions">
      <table>
        <thead><tr><th scope="col">When</th><th scope="col">Question</th><th scope="col">Outcome</th><th scope="col">Model</th><th scope="col">Tokens</th><th scope="col">Time</th></tr></thead>
        <tbody>
          {asks.value.slice(0, shown.value).map((each) => (
            <tr key={each.id}>
              <td><time dateTime={each.asked_at}>{new Date(each.asked_at).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" })}</time></td>
              <td class="words">{each.question ?? <span class="quiet">not kept</span>}</td>
              <td><span class={`chip ${each.outcome}`}>{each.outcome.replaceAll("_", " ")}</span> <span class="quiet">{each.reason?.replaceAll("_", " ")}</span></td>
              <td>{each.model ?? "–"}</td>
              <td>{each.usage.prompt_tokens + each.usage.completion_tokens}</td>
              <td class="figure">{milliseconds(Number((each.timings_ms as { total?: number }).total ?? 0))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
