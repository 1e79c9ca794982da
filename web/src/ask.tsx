// Asking: the conversation, the box below it, and which collections are asked.
import { useEffect, useRef } from "preact/hooks";
import { choose, chosen, collections, hasDocuments, leftOut, loadProblem } from "./collections";
import { ask, isAsking, startAnew, turns } from "./conversation";
import { Uploads } from "./upload";
import { ProblemView } from "./problem";
import { areKnown, may } from "./rights";
import { count } from "./text";
import { TurnView } from "./turn";

export function AskView() {
  const end = useRef<HTMLDivElement>(null);
  const wasFirstRun = useRef(false);
  const length = turns.value.length;
  useEffect(() => end.current?.scrollIntoView({ block: "end" }), [length]);
  if (loadProblem.value) return <div class="sheet"><ProblemView problem={loadProblem.value} /></div>;
  if (collections.value === null) return <div class="sheet"><p class="waiting">Loading…</p></div>;
  if (!hasDocuments.value && length === 0) {
    wasFirstRun.current = true;
    return <FirstRun />;
  }
  return (
    <div class="sheet ask">
      {length > 0 ? <h1 class="unseen">Conversation</h1> : (
        <div class="welcome">
          <h1>Ask your documents</h1>
          <p>Every claim of an answer carries a number. The service has checked it; select it to see the exact words in the exact document.</p>
        </div>
      )}
      <div class="turns">{turns.value.map((turn) => <TurnView key={turn.id} turn={turn} />)}</div>
      <AskBox takesFocus={wasFirstRun.current} />
      <div ref={end} />
    </div>
  );
}

function AskBox({ takesFocus }: { takesFocus: boolean }) {
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => { if (takesFocus) box.current?.focus(); }, []);
  const restart = () => {
    startAnew();
    box.current?.focus();
  };
  const send = (event: Event) => {
    event.preventDefault();
    const question = box.current?.value.trim();
    if (!box.current || !question || isAsking.value || chosen.value.length === 0) return;
    box.current.value = "";
    void ask(question);
  };
  const isFollowUp = turns.value.length > 0;
  return (
    <form class="ask-box" onSubmit={send}>
      <label class="unseen" for="question">Question</label>
      <textarea id="question" ref={box} rows={2} maxLength={8192} placeholder={isFollowUp ? "Ask a follow-up question…" : "Ask a question…"}
        onKeyDown={(event) => { if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event); }} />
      <div class="row">
        <Choice />
        {isFollowUp && <button type="button" class="link" aria-label="New conversation" onClick={restart}>New<span class="long">&nbsp;conversation</span></button>}
        <button type="submit" class="primary" disabled={isAsking.value || chosen.value.length === 0}>Ask</button>
      </div>
    </form>
  );
}

function Choice() {
  const all = (collections.value ?? []).filter((each) => each.documents > 0);
  const names = chosen.value;
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const closeFor = ({ type, target }: Event) => {
      const menu = details.current;
      if (!menu || !(target instanceof Node) || menu.contains(target)) return;
      // A press on the text of a label moves the focus to what is around the menu and can take it.
      if (type === "focusin" && target.contains(menu)) return;
      menu.open = false;
    };
    addEventListener("pointerdown", closeFor);
    addEventListener("focusin", closeFor);
    return () => {
      removeEventListener("pointerdown", closeFor);
      removeEventListener("focusin", closeFor);
    };
  }, []);
  const closeByKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !details.current?.open) return;
    event.stopPropagation();
    details.current.open = false;
    details.current.querySelector("summary")?.focus();
  };
  const label = names.length === 0 ? "No collection chosen" : names.length === all.length && all.length > 1 ? `All ${all.length} collections` : names.join(", ");
  return (
    <details class="choice" ref={details} onKeyDown={closeByKey}>
      <summary>In <strong>{label}</strong></summary>
      <fieldset>
        <legend class="unseen">Collections to ask</legend>
        {all.map((each) => (
          <label key={each.name}>
            <input type="checkbox" checked={!leftOut.value.has(each.name)} onChange={(event) => choose(each.name, event.currentTarget.checked)} />
            <span><bdi>{each.name}</bdi></span><span class="quiet">{count(each.documents, "document")}</span>
          </label>
        ))}
      </fieldset>
    </details>
  );
}

function FirstRun() {
  return (
    <div class="sheet">
      <div class="welcome">
        <h1>Answers from your own documents</h1>
        <p>Bring some documents in, then ask. Every claim of an answer leads to the exact words it rests on, and what the documents do not say is not answered.</p>
      </div>
      {may("ingest") && <Uploads isFirst />}
      {areKnown() && !may("ingest") && <p>There are no documents yet. A key with the scope <code>ingest</code> brings them in.</p>}
    </div>
  );
}
