// A question and what became of it: every end of an ask has a form of its own.
import type { Answer, AskProblem, Grade, Source } from "./api";
import { CitedText, trail } from "./cited";
import { type Turn, askAgain, isAsking, stop } from "./conversation";
import { openPane } from "./pane";
import { Findings, ProblemView } from "./problem";
import { count, excerpt, milliseconds, untold } from "./text";
import { Why } from "./why";

const REASONS: Record<NonNullable<Answer["reason"]>, [string, string]> = {
  no_relevant_content: ["No answer found in these documents", "None of the passages that were found answers it."],
  low_support: ["No sure answer in these documents", "Some passages may be relevant, but none surely answers the question."],
  model_declined: ["Not in these passages", "The answering model found no answer in the passages."],
  empty_collection: ["There is nothing to search yet", "The collections that were asked hold no documents."],
  out_of_budget: ["The budget of this question is used up", "More model calls would have been needed than are allowed."],
  no_question: ["", ""],
};

const RETRIES: Record<string, string> = {
  citation_validation: "Withdrawn: its citations did not hold.",
  provider_failed: "Withdrawn: the model failed on its way.",
  ignorance: "Withdrawn: it said only that the sources do not tell.",
  not_confirmed: "Withdrawn: it was begun early, and its passages were not confirmed.",
};

export function TurnView({ turn }: { turn: Turn }) {
  const { answer, problem } = turn;
  return (
    <article class="turn" aria-label={turn.question}>
      <h2 class="question">{turn.question}</h2>
      {answer?.standalone_question && answer.standalone_question !== turn.question && <p class="read-as">Read as: {answer.standalone_question}</p>}
      {answer?.corrected?.map((each) => <p class="read-as" key={each.from}>Read “{each.from}” as “{each.to}”.</p>)}
      {turn.voided.map((draft, at) => (
        <details class="voided" key={at} open={!answer && !problem}>
          <summary>{RETRIES[draft.reason] ?? "Withdrawn: the citations of this draft did not hold."}</summary>
          <del class="prose">{draft.text}</del>
          <Findings errors={draft.errors} />
        </details>
      ))}
      {!turn.draft && (turn.phase === "searching" || turn.phase === "writing") && <p class="waiting"><span class="pulse" aria-hidden="true" />{turn.phase === "searching" ? "Searching the documents…" : `Reading ${count(turn.sources.length, "passage")}…`}</p>}
      {answer?.outcome === "partial" && <Unanswered parts={untold(answer.answer, answer.missing)} />}
      {answer?.outcome === "passages" && <p class="notice">No sentence of these documents surely answers this. These passages say most about it, word for word.</p>}
      {turn.draft && <CitedText text={turn.draft} citations={turn.citations} sources={turn.sources} confirmed={turn.confirmed} />}
      {answer?.outcome === "abstained" && <Abstained answer={answer} />}
      {answer?.outcome === "clarify" && <Missing title="What is meant?" parts={answer.missing} hint="Say it in your next message." />}
      {problem?.code === "citation_validation" ? <Refused problem={problem} /> : problem && <ProblemView problem={problem} />}
      {turn.phase === "stopped" && <p class="notice">Stopped. What was written is not an answer.</p>}
      {(problem || turn.phase === "stopped") && <p class="actions"><button type="button" disabled={isAsking.value} onClick={() => askAgain(turn)}>Ask again</button></p>}
      {turn.phase !== "ended" && turn.phase !== "stopped" && <p class="actions"><button type="button" class="link" onClick={stop}>Stop</button></p>}
      {answer && answer.reason !== "no_question" && <Footer answer={answer} />}
      {problem?.trace && <Why trace={problem.trace} sources={problem.sources ?? []} />}
    </article>
  );
}

function Unanswered({ parts }: { parts: string[] }) {
  return parts.length > 0 && <Missing title="Part of the question has no answer in these documents" parts={parts} />;
}

function Missing({ title, parts, hint }: { title: string; parts: string[]; hint?: string }) {
  return (
    <div class="notice">
      <h3>{title}</h3>
      {parts.length > 0 && <ul>{parts.map((part) => <li key={part}>{part}</li>)}</ul>}
      {hint && <p>{hint}</p>}
    </div>
  );
}

function Abstained({ answer }: { answer: Answer }) {
  if (answer.reply) return <p class="prose">{answer.reply}</p>;
  const [title, detail] = REASONS[answer.reason ?? "no_relevant_content"];
  const unknown = answer.unknown_terms ?? [];
  const { correct, ambiguous, incorrect } = answer.evidence;
  return (
    <div class="abstention">
      <div class="notice">
        <h3>{title}</h3>
        <p>{detail} {correct + ambiguous + incorrect > 0 && `${count(correct + ambiguous + incorrect, "passage")} ${correct + ambiguous + incorrect === 1 ? "was" : "were"} read.`} Nothing was made up.</p>
        {unknown.length > 0 && <p>No document holds {unknown.length === 1 ? "the word" : "the words"} {unknown.map((term, at) => <>{at > 0 && ", "}<strong>{term}</strong></>)}.</p>}
      </div>
      {answer.sources.length > 0 && (
        <>
          <h3 class="label">The closest passages</h3>
          <SourceList sources={answer.sources.slice(0, 3)} />
        </>
      )}
    </div>
  );
}

function Refused({ problem }: { problem: AskProblem }) {
  return (
    <div class="notice bad" role="alert">
      <h3>Refused: the citations did not hold, twice</h3>
      <p>The model wrote two drafts, and the service could not confirm either. No unchecked answer is shown.</p>
      {problem.drafts?.map((draft) => (
        <details key={draft.attempt} open>
          <summary>Draft {draft.attempt}: {count(draft.errors.length, "error")}</summary>
          <Findings errors={draft.errors} />
        </details>
      )) ?? <Findings errors={problem.validation?.errors ?? []} />}
    </div>
  );
}

const GRADES: Record<Grade, string> = { correct: "answers", ambiguous: "may answer", incorrect: "unlikely to answer" };

export function SourceList({ sources }: { sources: Source[] }) {
  return (
    <ul class="sources">
      {sources.map((source) => (
        <li key={source.urn}>
          <button type="button" onClick={(event) => openPane({ urn: source.urn, source, quotes: [], focus: null }, event.currentTarget)}>
            <span class="title">{trail(source.title, source.heading)}{source.page ? `, page ${source.page}` : ""}</span>
            {source.grade && <span class={`chip ${source.grade}`}>{GRADES[source.grade]}</span>}
            <span class="excerpt">{excerpt([source.table_header, source.text].filter(Boolean).join("\n"))}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Footer({ answer }: { answer: Answer }) {
  const cited = new Set(answer.citations.map((each) => each.source_index));
  const citedSources = answer.sources.filter((_, at) => cited.has(at));
  const others = answer.sources.filter((_, at) => !cited.has(at));
  const { validation, usage, timings_ms: timings } = answer;
  const level = { off: "not checked", structural: "markers checked", cited: "every claim cited", supported: "every claim supported" }[validation.effective_level];
  return (
    <>
      {citedSources.length > 0 && (
        <p class="facts verdict">
          <span class="chip correct">✓ {level}</span>
          <span>{count(answer.citations.length, "citation")} from {count(new Set(citedSources.map((each) => each.document_id)).size, "document")}</span>
          <span>{answer.model && answer.provider !== "built-in" ? `${answer.provider} ${answer.model}` : "quoted, no model"}</span>
          {usage.llm_calls > 0 && <span>{count(usage.llm_calls, "call")}, {count(usage.prompt_tokens + usage.completion_tokens, "token")}</span>}
          <span>{answer.cache_hit ? "from the cache, " : ""}{milliseconds(timings.total)}</span>
        </p>
      )}
      {validation.warnings.length > 0 && <details><summary>{count(validation.warnings.length, "warning")}</summary><Findings errors={validation.warnings} /></details>}
      {citedSources.length > 0 && <details><summary>Cited passages ({citedSources.length})</summary><SourceList sources={citedSources} /></details>}
      {citedSources.length > 0 && others.length > 0 && <details><summary>Found and not cited ({others.length})</summary><SourceList sources={others} /></details>}
      {answer.trace && <Why trace={answer.trace} sources={answer.sources} timings={timings} />}
    </>
  );
}

