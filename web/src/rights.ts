// Rights of the caller, which decide what there is to see and to do.
import { signal } from "@preact/signals";
import { call } from "./api";

/** What each right opens. */
const OPENED = {
  ask: "/v1/models",
  read: "/v1/documents?limit=1",
  ingest: "/v1/jobs?limit=1",
  seeAsks: "/v1/audit?limit=1",
  manageKeys: "/v1/keys?limit=1",
};

export type Right = keyof typeof OPENED;

/** The rights; null before they are known. */
const rights = signal<Set<Right> | null>(null);

export const areKnown = () => rights.value !== null;
export const may = (right: Right) => rights.value?.has(right) ?? false;

/** Finds the rights by what is refused; the service judges each request anew. */
export async function loadRights(): Promise<void> {
  const found = Object.entries(OPENED).map(async ([right, path]) => call("GET", path).then(() => [right as Right], () => []));
  rights.value = new Set((await Promise.all(found)).flat());
}
