// The pane beside the answer: the document around a passage, with the exact words marked.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type AskProblem, type CitedState, type DocumentContent, type Source, call, problemFrom } from "./api";
import { trail } from "./cited";
import { ProblemView } from "./problem";
import { seen, slice, webAddress } from "./text";

type Quote = { text: string; start: number; end: number };

interface Wanted {
  urn: string;
  /** The passage, if an answer brought it along. */
  source: Source | null;
  quotes: Quote[];
  /** The quote to show first. */
  focus: Quote | null;
}

interface Shown extends Wanted {
  state: CitedState | null;
  content: DocumentContent | null;
  problem: AskProblem | null;
  isWhole: boolean;
}

/** Code points shown on each side of the passage. */
const AROUND = 3000;

export const pane = signal<Shown | null>(null);
let opener: HTMLElement | null = null;

export function closePane(): void {
  if (!pane.value) return;
  pane.value = null;
  if (location.hash.startsWith("#/c/")) history.replaceState(null, "", "#/");
}

export function openPane(wanted: Wanted, from: HTMLElement | null): void {
  opener = from;
  const former = pane.value?.content;
  const isSame = former && wanted.source && former.id === wanted.source.document_id;
  pane.value = { ...wanted, state: null, content: isSame ? former : null, problem: null, isWhole: false };
  if (wanted.source?.origin !== "web") void load(wanted.urn);
}

async function load(urn: string): Promise<void> {
  const set = (part: Partial<Shown>) => {
    if (pane.value?.urn === urn) pane.value = { ...pane.value, ...part };
  };
  try {
    const state = await call<CitedState>("GET", `/v1/citations/${encodeURIComponent(urn)}`);
    set({ state });
    if (state.status !== "current") return set({ content: null });
    // A key that may not read documents sees the passage alone.
    const content = await call<DocumentContent>("GET", `/v1/documents/${encodeURIComponent(state.document_id)}/content`).catch((error) => {
      if (problemFrom(error).status === 403) return null;
      throw error;
    });
    // The document may have been replaced between the two.
    set({ content: content?.version === state.version ? content : null });
  } catch (error) {
    set({ problem: problemFrom(error) });
  }
}

const STATES = {
  current: "The document still has this version.",
  superseded: "The document was replaced since.",
  deleted: "The document was deleted. Nothing of its text is kept.",
};

export function Pane() {
  const close = useRef<HTMLButtonElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const shown = pane.value;
  const focus = shown?.focus?.start ?? -1;
  // Both by the same effect: one that is still to come when the pane is closed would take the focus from the opener.
  useEffect(() => {
    if (shown) return close.current?.focus({ preventScroll: true });
    opener?.focus();
    opener = null;
  }, [shown?.urn, focus]);
  useEffect(() => {
    body.current?.querySelector("mark.focus, mark, .passage")?.scrollIntoView({ block: "center" });
  }, [shown?.urn, focus, shown?.content]);
  if (!shown) return null;
  const passage = shown.state?.passage ?? shown.source;
  const status = shown.state?.status;
  const isStillSaid = status === "superseded" && shown.state?.still_said != null;
  const original = passage && webAddress(passage.uri, passage.page);
  const page = `/c/${encodeURIComponent(shown.urn)}`;
  return (
    <aside class="pane" aria-label="Cited document">
      <header>
        <div>
          <h2><bdi>{passage ? seen(passage.title) : "Citation"}</bdi></h2>
          {passage && <p class="crumbs">{trail(passage.title, passage.heading).split(" › ").slice(1).join(" › ")}</p>}
          {passage && (
            <p class="facts">
              <span><bdi>{seen(passage.source)}</bdi></span>
              {passage.page && <span>page {passage.page}</span>}
              {status && <span class={`chip ${status}`}>{status}</span>}
            </p>
          )}
        </div>
        <button type="button" ref={close} class="plain" onClick={closePane} aria-label="Close the document">✕</button>
      </header>
      <div class="actions">
        <CopyLink url={location.origin + page} key={shown.urn} />
        {original && <a href={original} target="_blank" rel="noopener noreferrer">Open the original</a>}
        {shown.content && !shown.isWhole && <button type="button" class="link" onClick={() => { pane.value = { ...shown, isWhole: true }; }}>Show the whole document</button>}
      </div>
      {status && status !== "current" && (
        <p class={`status ${status}`}>
          {STATES[status]} {isStillSaid && (shown.state?.still_said ? "The passage still stands in it word for word." : "The passage no longer stands in it word for word.")}
          {status === "superseded" && <> <a href={page}>Compare both texts</a></>}
        </p>
      )}
      {shown.problem && <ProblemView problem={shown.problem} />}
      <div class="document" ref={body} tabIndex={0} role="region" aria-label="Text of the document">{passage && textOf(shown, passage)}</div>
    </aside>
  );
}

function textOf({ content, quotes, focus, isWhole }: Shown, passage: { text: string; start: number; end: number }): ComponentChildren {
  const inside = marked(passage.text, passage.start, quotes, focus);
  if (!content) return <span class="passage">{inside}</span>;
  const from = isWhole ? 0 : Math.max(0, passage.start - AROUND);
  const before = slice(content.text, from, passage.start);
  const after = isWhole ? slice(content.text, passage.end, Infinity) : slice(content.text, passage.end, passage.end + AROUND);
  return [from > 0 && "… ", before, <span class="passage">{inside}</span>, after, !isWhole && after.length >= AROUND && " …"];
}

/** The passage with its quotes marked; without a quote nothing is marked, since a wrong mark is worse than none. */
function marked(text: string, start: number, quotes: Quote[], focus: Quote | null): ComponentChildren {
  const sorted = [...new Map(quotes.map((quote) => [quote.start, quote])).values()].sort((one, other) => one.start - other.start);
  const pieces: ComponentChildren[] = [];
  let at = 0;
  for (const quote of sorted) {
    const [from, to] = [quote.start - start, quote.end - start];
    if (from < at || slice(text, from, to) !== quote.text) continue;
    pieces.push(slice(text, at, from), <mark key={from} class={quote.start === focus?.start ? "focus" : ""}>{quote.text}</mark>);
    at = to;
  }
  return [...pieces, slice(text, at, Infinity)];
}

function CopyLink({ url }: { url: string }) {
  const label = useRef<HTMLSpanElement>(null);
  const say = (text: string) => {
    if (label.current) label.current.textContent = text;
  };
  const copy = () => navigator.clipboard.writeText(url).then(() => say("Link copied"), () => say(url));
  return <button type="button" class="link" onClick={copy}><span ref={label} role="status">Copy link</span></button>;
}
