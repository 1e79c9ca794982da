// Positions in text: the service counts code points, JavaScript counts UTF-16 units.

/** The UTF-16 position of a code point. */
export function unitAt(text: string, codePoint: number): number {
  let unit = 0;
  for (let seen = 0; seen < codePoint && unit < text.length; seen++) {
    unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return unit;
}

/** The part of a text between two code points. */
export function slice(text: string, start: number, end: number): string {
  const from = unitAt(text, start);
  const rest = text.slice(from);
  return rest.slice(0, unitAt(rest, end - start));
}

/** The parts of a question without an answer that the answer itself does not name, as in crates/domain/src/notices.rs. */
export function untold(answer: string | null, parts: string[]): string[] {
  const said = (answer ?? "").toLowerCase();
  return parts.filter((part) => !said.includes(part.replace(/[?.]+$/, "").toLowerCase()));
}

/** A number of things in words: "1 document", "2 documents". */
export function count(number: number, thing: string): string {
  return `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
}

/** Words between the marks of Markdown's strong emphasis. */
const STRONG = /(?<![\w*])\*\*(\S|\S.*?\S)\*\*(?![\w*])/g;

/** A passage in one line, without its heading and without the marks of Markdown's headings, tables and strong emphasis. */
export function excerpt(text: string): string {
  return text
    .replace(/^#+\s.*\n+/, "")
    .split("\n")
    .filter((line) => !/^\s*\|[\s:|-]+$/.test(line))
    .map((line) => (/^\s*\|.*\|\s*$/.test(line) ? `${cells(line).join(" · ")};` : line.replace(/^#+\s+/, "")))
    .join(" ")
    .replace(STRONG, "$1")
    .replace(/;$/, "");
}

/** The cells of a row of a Markdown table that hold something. */
function cells(row: string): string[] {
  return row.split("|").map((cell) => cell.trim()).filter((cell) => cell !== "");
}

export function milliseconds(time: number): string {
  return time < 1000 ? `${Math.round(time)} ms` : `${(time / 1000).toFixed(1)} s`;
}

/** The address, if it is one of the web: a document may name anything as its origin. */
export function webAddress(uri: string, page: number | null): string | null {
  if (!URL.canParse(uri)) return null;
  const url = new URL(uri);
  if (url.protocol !== "http:" && url.protocol !== "https:") return null;
  if (page && url.pathname.toLowerCase().endsWith(".pdf")) url.hash = `page=${page}`;
  return url.href;
}

/** What nobody sees, but for joiners, which some scripts are spelt with: as in crates/domain/src/unseen.rs. */
const UNSEEN = /[\0-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
/** Letters that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A title, source or name of others in one line, without what nobody sees. */
export function seen(text: string): string {
  return text.replace(/[\t\n\r\u2028\u2029]/g, " ").replace(UNSEEN, "");
}

/** The same among other words, which it does not reorder. */
export function isolated(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${seen(text)}\u2069` : seen(text);
}
