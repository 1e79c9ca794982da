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

/** A number of things in words: "1 document", "2 documents". */
export function count(number: number, thing: string): string {
  return `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
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
