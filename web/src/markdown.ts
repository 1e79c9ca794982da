// The part of Markdown that answers are written in, as data. Whatever else a text holds stays text: links, pictures
// and HTML are shown as they were written, so that no text of a model or a document becomes markup.

/** Words within a block; positions are those of the whole text, in UTF-16 units. */
export type Inline =
  | { kind: "text" | "bold" | "code"; text: string; at: number }
  /** Another marker of the same number ends the next sentence of the block. */
  | { kind: "marker"; number: number; goesOn: boolean; text: string; at: number }
  | { kind: "break"; at: number };

export type Block =
  | { kind: "paragraph"; words: Inline[] }
  | { kind: "heading"; words: Inline[] }
  | { kind: "list"; isOrdered: boolean; items: { level: number; words: Inline[] }[] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "code"; text: string; at: number };

type Line = { text: string; at: number };

const FENCE = /^\s*(```+|~~~+)/;
const HEADING = /^#{1,6}\s+/;
const ITEM = /^(\s*)([-*+]|\d+[.)])\s+/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

export function parse(text: string): Block[] {
  const lines: Line[] = [];
  let at = 0;
  for (const line of text.split("\n")) {
    lines.push({ text: line, at });
    at += line.length + 1;
  }
  const blocks: Block[] = [];
  let next = 0;
  while (next < lines.length) {
    const line = lines[next]!;
    if (!line.text.trim()) {
      next++;
      continue;
    }
    const [block, after] = fenced(lines, next) ?? heading(line, next) ?? table(lines, next) ?? list(lines, next) ?? paragraph(lines, next);
    blocks.push(block);
    next = after;
  }
  return blocks;
}

type Parsed = [Block, number];

function fenced(lines: Line[], first: number): Parsed | null {
  const fence = FENCE.exec(lines[first]!.text)?.[1];
  if (!fence) return null;
  let end = first + 1;
  while (end < lines.length && !lines[end]!.text.trim().startsWith(fence)) end++;
  const inside = lines.slice(first + 1, end);
  return [{ kind: "code", text: inside.map((line) => line.text).join("\n"), at: inside[0]?.at ?? 0 }, end + 1];
}

function heading(line: Line, at: number): Parsed | null {
  const sign = HEADING.exec(line.text)?.[0];
  return sign ? [{ kind: "heading", words: inline(line.text.slice(sign.length), line.at + sign.length) }, at + 1] : null;
}

function table(lines: Line[], first: number): Parsed | null {
  const rule = lines[first + 1]?.text;
  if (!lines[first]!.text.includes("|") || !rule?.includes("|") || !TABLE_RULE.test(rule)) return null;
  let end = first + 2;
  while (end < lines.length && lines[end]!.text.includes("|")) end++;
  return [{ kind: "table", head: cells(lines[first]!), rows: lines.slice(first + 2, end).map(cells) }, end];
}

function cells(line: Line): Inline[][] {
  const found: Inline[][] = [];
  const inner = line.text.replace(/\s*\|\s*$/, "");
  let start = /^\s*\|/.exec(inner)?.[0].length ?? 0;
  for (let at = start; at <= inner.length; at++) {
    if (at < inner.length && (inner[at] !== "|" || inner[at - 1] === "\\")) continue;
    const cell = inner.slice(start, at);
    const space = cell.length - cell.trimStart().length;
    found.push(inline(cell.trim(), line.at + start + space));
    start = at + 1;
  }
  return found;
}

function list(lines: Line[], first: number): Parsed | null {
  const sign = ITEM.exec(lines[first]!.text);
  if (!sign) return null;
  const items: { level: number; words: Inline[] }[] = [];
  let next = first;
  while (next < lines.length) {
    const line = lines[next]!;
    const own = ITEM.exec(line.text);
    if (!own) break;
    let end = next + 1;
    while (end < lines.length && /^\s+\S/.test(lines[end]!.text) && !ITEM.test(lines[end]!.text)) end++;
    const text = lines.slice(next, end).map((each) => each.text).join("\n").slice(own[0].length);
    items.push({ level: Math.min(3, Math.floor(own[1]!.length / 2)), words: inline(text, line.at + own[0].length) });
    next = end;
    // One empty line may stand between items.
    if (next + 1 < lines.length && !lines[next]!.text.trim() && ITEM.test(lines[next + 1]!.text)) next++;
  }
  return [{ kind: "list", isOrdered: /\d/.test(sign[2]!), items }, next];
}

function paragraph(lines: Line[], first: number): Parsed {
  let end = first + 1;
  const isOther = (line: string) => !line.trim() || FENCE.test(line) || HEADING.test(line) || ITEM.test(line);
  while (end < lines.length && !isOther(lines[end]!.text)) end++;
  const text = lines.slice(first, end).map((line) => line.text).join("\n");
  return [{ kind: "paragraph", words: inline(text, lines[first]!.at) }, end];
}

const INLINE = /( {2,}|\\)\n|\\([\\`*[\]|#_])|\[\^([1-9]\d*)\]|`([^`\n]+)`|\*\*([^*\n]+)\*\*/g;

function inline(text: string, at: number): Inline[] {
  const words: Inline[] = [];
  let done = 0;
  const plain = (until: number) => {
    if (until > done) words.push({ kind: "text", text: text.slice(done, until), at: at + done });
  };
  for (const match of text.matchAll(INLINE)) {
    plain(match.index);
    const [whole, lineBreak, escaped, marker, code, bold] = match;
    const place = at + match.index;
    if (lineBreak) words.push({ kind: "break", at: place });
    else if (escaped) words.push({ kind: "text", text: escaped, at: place });
    else if (marker) words.push({ kind: "marker", number: Number(marker), goesOn: false, text: whole, at: place });
    else if (code) words.push({ kind: "code", text: code, at: place });
    else if (bold) words.push({ kind: "bold", text: bold, at: place });
    done = match.index + whole.length;
  }
  plain(text.length);
  const markers = words.filter((word) => word.kind === "marker");
  markers.forEach((marker, place) => (marker.goesOn = markers[place + 1]?.number === marker.number));
  return words;
}
