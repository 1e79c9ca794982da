// The questions that were asked and how they ended, from the audit.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type AskProblem, type AuditPage, call, problemFrom } from "./api";
import { ProblemView } from "./problem";
import { count, milliseconds } from "./text";

const asks = signal<AuditPage["asks"]>([]);
const next = signal<string | null>(null);
const problem = signal<AskProblem | null>(null);

async function load(cursor: string | null): Promise<void> {
  try {
    const query = new URLSearchParams({ limit: "50", ...(cursor ? { cursor } : {}) });
    const page = await call<AuditPage>("GET", `/v1/audit?${query}`);
    asks.value = cursor ? [...asks.value, ...page.asks] : page.asks;
    next.value = page.next_cursor;
    problem.value = null;
  } catch (error) {
    problem.value = problemFrom(error);
  }
}

export function ActivityView() {
  useEffect(() => void load(null), []);
  const tokens = asks.value.reduce((sum, each) => sum + each.usage.prompt_tokens + each.usage.completion_tokens, 0);
  const cost = asks.value.reduce((sum, each) => sum + each.usage.cost_usd, 0);
  return (
    <div class="sheet wide">
      <h1>Activity</h1>
      {problem.value && <ProblemView problem={problem.value} />}
      <p class="facts"><span>{count(asks.value.length, "question")}{next.value && ", the newest"}</span><span>{count(tokens, "token")}</span><span>{cost.toFixed(4)} USD</span></p>
      <div class="scroll" tabIndex={0} role="group" aria-label="Questions">
        <table>
          <thead><tr><th scope="col">When</th><th scope="col">Question</th><th scope="col">Outcome</th><th scope="col">Model</th><th scope="col">Tokens</th><th scope="col">Time</th></tr></thead>
          <tbody>
            {asks.value.map((each) => (
              <tr key={each.id}>
                <td><time dateTime={each.asked_at}>{new Date(each.asked_at).toLocaleString()}</time></td>
                <td>{each.question ?? <span class="quiet">not kept</span>}</td>
                <td><span class={`chip ${each.outcome}`}>{each.outcome.replaceAll("_", " ")}</span> <span class="quiet">{each.reason?.replaceAll("_", " ")}</span></td>
                <td>{each.model ?? "–"}</td>
                <td>{each.usage.prompt_tokens + each.usage.completion_tokens}</td>
                <td>{milliseconds(Number((each.timings_ms as { total?: number }).total ?? 0))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {next.value && <button type="button" onClick={() => void load(next.value)}>More</button>}
    </div>
  );
}
