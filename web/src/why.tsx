// How an answer, or none, came about: plan, rounds with their grades, drafts, calls, times.
import type { Answer, Finding, Grade, Source } from "./api";
import { trail } from "./cited";
import { Findings } from "./problem";
import { milliseconds } from "./text";

/** The members of a trace that are shown. The API describes it as an object without more. */
interface Trace {
  plan?: { type: string; strategy: string; by: string; sub_questions: string[]; reasoning?: string } | null;
  rounds?: Round[];
  planned?: Round[];
  attempts?: { attempt: number; errors: Finding[] }[];
  calls?: { role: string; provider: string; model: string; prompt_tokens: number; completion_tokens: number; duration_ms: number; discarded: boolean }[];
}

interface Round {
  query: string;
  new: number;
  answerability: number | null;
  missing: string[];
  verdicts: { urn: string; grade: Grade; reason: string; by: string }[];
}

export function Why({ trace, sources, timings }: { trace: object; sources: Source[]; timings?: Answer["timings_ms"] }) {
  const { plan, rounds = [], planned = [], attempts = [], calls = [] } = trace as Trace;
  const named = new Map(sources.map((source) => [source.urn, trail(source.title, source.heading)]));
  return (
    <details class="why">
      <summary>How this came about</summary>
      {plan && (
        <p>Planned by {plan.by === "built_in" ? "rule" : "a model"}: a {plan.type.replaceAll("_", " ")} question, searched by the strategy <em>{plan.strategy.replaceAll("_", " ")}</em>. {plan.reasoning}</p>
      )}
      {plan && plan.sub_questions.length > 0 && <ul>{plan.sub_questions.map((each) => <li key={each}>{each}</li>)}</ul>}
      {[...planned, ...rounds].map((round, at) => <RoundView key={at} round={round} number={at + 1} named={named} />)}
      {attempts.map((attempt) => (
        <section key={attempt.attempt}>
          <h3 class="label">Draft {attempt.attempt}</h3>
          {attempt.errors.length > 0 ? <Findings errors={attempt.errors} /> : <p>Every check passed.</p>}
        </section>
      ))}
      {calls.length > 0 && (
        <section>
          <h3 class="label">Model calls</h3>
          <ul>{calls.map((call, at) => <li key={at}>{call.role}: {call.provider} {call.model}, {call.prompt_tokens} + {call.completion_tokens} tokens, {milliseconds(call.duration_ms)}{call.discarded && ", discarded"}</li>)}</ul>
        </section>
      )}
      {timings && <p class="facts">{Object.entries(timings).filter(([, time]) => time >= 0.5).map(([stage, time]) => <span key={stage}>{stage} {milliseconds(time)}</span>)}</p>}
    </details>
  );
}

function RoundView({ round, number, named }: { round: Round; number: number; named: Map<string, string> }) {
  return (
    <section>
      <h3 class="label">Round {number}: “{round.query}”</h3>
      <p class="facts">
        {round.answerability !== null && <span>answers the question with probability {round.answerability.toFixed(2)}</span>}
        {round.missing.length > 0 && <span>missing: {round.missing.join(", ")}</span>}
      </p>
      <div class="scroll" tabIndex={0} role="group" aria-label={`Grades of round ${number}`}>
        <table>
          <thead><tr><th scope="col">Passage</th><th scope="col">Grade</th><th scope="col">Reason</th></tr></thead>
          <tbody>
            {round.verdicts.map((verdict) => (
              <tr key={verdict.urn}>
                <td>{named.get(verdict.urn) ?? verdict.urn.slice(verdict.urn.lastIndexOf("#"))}</td>
                <td><span class={`chip ${verdict.grade}`}>{verdict.grade}</span></td>
                <td>{verdict.reason}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
