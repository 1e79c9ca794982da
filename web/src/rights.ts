// Rights of the caller that decide which views there are.
import { signal } from "@preact/signals";
import { call } from "./api";

export const mayManageKeys = signal(false);
export const maySeeAsks = signal(false);

async function may(path: string): Promise<boolean> {
  return call("GET", path).then(() => true, () => false);
}

/** Finds the rights by what is refused; the service judges each request anew. */
export async function loadRights(): Promise<void> {
  const [keys, asks] = await Promise.all([may("/v1/keys?limit=1"), may("/v1/audit?limit=1")]);
  mayManageKeys.value = keys;
  maySeeAsks.value = asks;
}
