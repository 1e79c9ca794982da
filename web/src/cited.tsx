// Text with markers: what stands behind a marker on hover and focus, and the pane that opens on a click.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Citation, Source } from "./api";
import { type Inline, parse } from "./markdown";
import { openPane } from "./pane";
import { isolated, unitAt } from "./text";

interface Hovered {
  source: Source;
  citation: Citation;
  of: HTMLElement;
}

const hovered = signal<Hovered | null>(null);

export function hideCard(): void {
  hovered.value = null;
}

/** Support in a word: the validator refuses less than half at its strictest level. */
export function supportWord(support: number): string {
  if (support >= 0.85) return "well supported";
  return support >= 0.5 ? "supported" : "weakly supported";
}

interface CitedTextProps {
  text: string;
  citations: Citation[];
  sources: Source[];
  /** Code points that passed the check; the rest is provisional. */
  confirmed: number;
}

export function CitedText({ text, citations, sources, confirmed }: CitedTextProps) {
  const blocks = useMemo(() => parse(text), [text]);
  const byPlace = useMemo(() => new Map(citations.map((each) => [unitAt(text, each.span[0] ?? 0), each])), [text, citations]);
  const until = confirmed === Infinity ? Infinity : unitAt(text, confirmed);

  const piece = (word: Inline, key: number): ComponentChildren => {
    if (word.kind === "break") return <br key={key} />;
    if (word.kind === "marker") {
      const citation = byPlace.get(word.at) ?? citations.find((each) => each.marker === word.number);
      const source = citation && sources[citation.source_index];
      return source ? <Marker key={key} citation={citation} source={source} all={citations} goesOn={word.goesOn} /> : <sup key={key} class="draft">[{word.number}]</sup>;
    }
    const cut = Math.max(0, Math.min(word.text.length, until - word.at));
    const wrap = (part: string) => (word.kind === "bold" ? <strong>{part}</strong> : word.kind === "code" ? <code>{part}</code> : part);
    const [firm, rest] = [word.text.slice(0, cut), word.text.slice(cut)];
    return [firm && wrap(firm), rest && <span class="draft">{wrap(rest)}</span>];
  };
  const pieces = (words: Inline[]) => words.map(piece);

  return (
    <div class="prose">
      {blocks.map((block, key) => {
        switch (block.kind) {
          case "heading":
            return <h3 key={key}>{pieces(block.words)}</h3>;
          case "code":
            return <pre key={key} tabIndex={0}><code class={block.at >= until ? "draft" : ""}>{block.text}</code></pre>;
          case "list": {
            const items = block.items.map((item, place) => <li key={place} class={`level-${item.level}`}>{pieces(item.words)}</li>);
            return block.isOrdered ? <ol key={key}>{items}</ol> : <ul key={key}>{items}</ul>;
          }
          case "table":
            return (
              <div key={key} class="scroll" tabIndex={0} role="group" aria-label="Table">
                <table>
                  <thead><tr>{block.head.map((cell, at) => <th key={at} scope="col">{pieces(cell)}</th>)}</tr></thead>
                  <tbody>{block.rows.map((row, at) => <tr key={at}>{row.map((cell, column) => <td key={column}>{pieces(cell)}</td>)}</tr>)}</tbody>
                </table>
              </div>
            );
          default:
            return <p key={key}>{pieces(block.words)}</p>;
        }
      })}
    </div>
  );
}

/** A marker; a dot where the next sentence of the paragraph has the same one. */
function Marker({ citation, source, all, goesOn }: { citation: Citation; source: Source; all: Citation[]; goesOn: boolean }) {
  const show = (event: { currentTarget: EventTarget | null }) => {
    hovered.value = { source, citation, of: event.currentTarget as HTMLElement };
  };
  const focus = (event: { currentTarget: EventTarget | null }) => {
    lastMarker = event.currentTarget as HTMLButtonElement;
    show(event);
  };
  const open = (event: { currentTarget: EventTarget | null }) => {
    hideCard();
    lastMarker = event.currentTarget as HTMLButtonElement;
    const quotes = all.filter((each) => each.urn === citation.urn).flatMap((each) => each.quote ?? []);
    openPane({ urn: citation.urn, source, quotes, focus: citation.quote }, event.currentTarget as HTMLElement);
  };
  return (
    <button type="button" class={goesOn ? "marker goes-on" : "marker"} aria-label={`Citation ${citation.marker}: ${isolated(source.title)}`} aria-describedby="card"
      onMouseEnter={show} onMouseLeave={hideCard} onFocus={focus} onBlur={hideCard} onClick={open}>
      {citation.marker}
    </button>
  );
}

/** Title and headings of a passage; the first heading is often the title itself. */
export function trail(title: string, heading: string[]): string {
  return [title, ...heading.filter((each, at) => at > 0 || each !== title)].map(isolated).join(" › ");
}

/** The card of the marker under the pointer or the focus. */
export function Card() {
  const card = useRef<HTMLDivElement>(null);
  const shown = hovered.value;
  useLayoutEffect(() => {
    if (!card.current || !shown) return;
    const [marker, own] = [shown.of.getBoundingClientRect(), card.current.getBoundingClientRect()];
    const left = Math.max(8, Math.min(marker.left - 24, document.documentElement.clientWidth - own.width - 8));
    const below = marker.bottom + 8;
    const top = below + own.height > window.innerHeight ? Math.max(8, marker.top - own.height - 8) : below;
    card.current.style.transform = `translate(${left}px, ${top}px)`;
  }, [shown]);
  return (
    <div id="card" role="tooltip" ref={card} class={shown ? "card shown" : "card"}>
      {shown && (
        <>
          <p class="crumbs">{trail(shown.source.title, shown.source.heading)}{shown.source.page ? `, page ${shown.source.page}` : ""}</p>
          {shown.citation.quote && <blockquote>{shown.citation.quote.text}</blockquote>}
          <p class="facts"><span class="support">{supportWord(shown.citation.support)}</span><span>{shown.source.origin === "web" ? "from the web, not stored" : "checked by the service"}</span></p>
        </>
      )}
    </div>
  );
}

/** The marker that was last focused or opened; stepping goes on from it. */
let lastMarker: HTMLButtonElement | null = null;

/** Moves the focus to the next or the former marker, and the pane along with it if it is open. */
export function step(by: 1 | -1): void {
  const markers = [...document.querySelectorAll<HTMLButtonElement>(".marker")];
  const at = lastMarker ? markers.indexOf(lastMarker) : -1;
  const next = markers[at < 0 ? (by > 0 ? 0 : markers.length - 1) : (at + by + markers.length) % markers.length];
  if (!next) return;
  next.focus();
  if (document.querySelector(".pane")) next.click();
}

