// A problem document, for people: what happened, which values are wrong, what was tried.
import type { AskProblem, Finding } from "./api";

export function ProblemView({ problem }: { problem: AskProblem }) {
  return (
    <div class="notice bad" role="alert">
      <h3>{problem.title}</h3>
      {problem.errors?.length ? (
        <ul>{problem.errors.map((error) => <li key={error.pointer}>{error.pointer && <code>{error.pointer}</code>} {error.detail}</li>)}</ul>
      ) : (
        <p>{problem.detail}</p>
      )}
      {problem.attempts && problem.attempts.length > 0 && (
        <details>
          <summary>Models that were tried</summary>
          <ul>{problem.attempts.map((attempt, at) => <li key={at}>{attempt.provider} {attempt.model}: {attempt.kind}. {attempt.detail}</li>)}</ul>
        </details>
      )}
      <p class="facts">
        <a href="/docs" target="_blank" rel="noopener">{problem.status || ""} {problem.code}</a>
        {problem.request_id && <span>request {problem.request_id}</span>}
      </p>
    </div>
  );
}

export function Findings({ errors }: { errors: Finding[] }) {
  return <ul class="findings">{errors.map((error, at) => <li key={at}><code>{error.kind}</code> {error.detail}</li>)}</ul>;
}
