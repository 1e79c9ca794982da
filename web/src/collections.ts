// The collections of the service, and which of them are asked.
import { computed, signal } from "@preact/signals";
import { type AskProblem, type Collection, type CollectionPage, call, problemFrom } from "./api";

/** All collections; null until they are known. */
export const collections = signal<Collection[] | null>(null);
export const loadProblem = signal<AskProblem | null>(null);
/** Collections that the user has taken out. */
export const leftOut = signal<ReadonlySet<string>>(new Set());

export const chosen = computed(() => {
  const names = (collections.value ?? []).filter((each) => each.documents > 0).map((each) => each.name);
  return names.filter((name) => !leftOut.value.has(name));
});
export const hasDocuments = computed(() => (collections.value ?? []).some((each) => each.documents > 0));

export function choose(name: string, isChosen: boolean): void {
  const out = new Set(leftOut.value);
  if (isChosen) out.delete(name);
  else out.add(name);
  leftOut.value = out;
}

export async function loadCollections(): Promise<void> {
  try {
    const found: Collection[] = [];
    let cursor: string | null = null;
    do {
      const after: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
      const page: CollectionPage = await call("GET", `/v1/collections?limit=100${after}`);
      found.push(...page.collections);
      cursor = page.next_cursor;
    } while (cursor);
    collections.value = found.sort((one, other) => one.name.localeCompare(other.name));
    loadProblem.value = null;
  } catch (error) {
    loadProblem.value = problemFrom(error);
  }
}
