// Keys of the tenant: which there are, a new one, whose secret is shown once, and taking one back.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type AskProblem, type IssuedKey, type Key, type KeyPage, type NewKey, call, problemFrom } from "./api";
import { confirmed } from "./dialogs";
import { ProblemView } from "./problem";
import { isolated } from "./text";

const SCOPES: [NewKey["scopes"][number], string][] = [
  ["ask", "ask, search and look citations up"],
  ["read", "read stored documents"],
  ["ingest", "bring documents in, replace and delete them"],
  ["admin", "everything, keys and the record of questions too"],
];

const keys = signal<Key[]>([]);
const next = signal<string | null>(null);
const problem = signal<AskProblem | null>(null);
/** The key that was made last; its secret is not stored anywhere. */
const issued = signal<IssuedKey | null>(null);

async function attempt(deed: () => Promise<void>): Promise<void> {
  try {
    await deed();
    problem.value = null;
  } catch (error) {
    problem.value = problemFrom(error);
  }
}

const load = (cursor: string | null) => attempt(async () => {
  const query = new URLSearchParams({ limit: "50", ...(cursor ? { cursor } : {}) });
  const page = await call<KeyPage>("GET", `/v1/keys?${query}`);
  keys.value = cursor ? [...keys.value, ...page.keys] : page.keys;
  next.value = page.next_cursor;
});

const revoke = (key: Key) => attempt(async () => {
  const text = "Whoever sends it is refused from now on. This cannot be taken back; the key stays in the list.";
  if (!(await confirmed({ title: `Revoke the key ${key.name}?`, text, deed: "Revoke" }))) return;
  await call<Key>("DELETE", `/v1/keys/${encodeURIComponent(key.id)}`);
  if (issued.value?.key.id === key.id) issued.value = null;
  await load(null);
});

export function KeysView() {
  useEffect(() => {
    void load(null);
    return () => { issued.value = null; };
  }, []);
  return (
    <div class="sheet wide">
      <h1>Keys</h1>
      <NewKeyForm />
      {issued.value && <IssuedView issued={issued.value} />}
      {problem.value && <ProblemView problem={problem.value} />}
      <h2>Existing keys</h2>
      {keys.value.length === 0 ? <p class="quiet">There are no keys yet.</p> : (
        <div class="scroll" tabIndex={0} role="group" aria-label="Keys">
          <table class="documents">
            <thead><tr><th scope="col">Name</th><th scope="col">Id</th><th scope="col">May</th><th scope="col">Collections</th><th scope="col">State</th><th scope="col">Last used</th><th scope="col">Ends</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
            <tbody>{keys.value.map((each) => <KeyRow key={each.id} of={each} />)}</tbody>
          </table>
        </div>
      )}
      {next.value && <button type="button" onClick={() => void load(next.value)}>More</button>}
    </div>
  );
}

function KeyRow({ of: key }: { of: Key }) {
  const isOver = key.state === "revoked" || key.state === "expired";
  return (
    <tr>
      <td><bdi>{key.name}</bdi>{key.principals.length > 0 && <span class="quiet"> as {key.principals.map(isolated).join(", ")}</span>}</td>
      <td><code>{key.id}</code></td>
      <td>{key.scopes.join(", ")}</td>
      <td>{key.collections ? key.collections.map(isolated).join(", ") : "all"}</td>
      <td><span class={`chip ${isOver ? "deleted" : "current"}`}>{key.state.replaceAll("_", " ")}</span></td>
      <td class="figure">{key.last_used_at ? new Date(key.last_used_at).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" }) : "never"}</td>
      <td>{key.expires_at ? new Date(key.expires_at).toLocaleDateString() : "never"}</td>
      <td>{key.state !== "revoked" && <button type="button" class="link danger" aria-label={`Revoke ${key.name}`} onClick={() => void revoke(key)}>Revoke</button>}</td>
    </tr>
  );
}

/** Names in a text, separated by commas. */
function names(text: FormDataEntryValue | null): string[] {
  return String(text ?? "").split(",").map((name) => name.trim()).filter((name) => name !== "");
}

/** What the form asks for. */
function wanted(form: FormData): NewKey {
  const collections = names(form.get("collections"));
  const day = String(form.get("until") ?? "");
  return {
    name: String(form.get("name") ?? "").trim(),
    scopes: form.getAll("scope") as NewKey["scopes"],
    principals: names(form.get("principals")),
    ...(collections.length > 0 ? { collections } : {}),
    // To the end of the day, where the person is.
    ...(day ? { expires_at: new Date(`${day}T23:59:59`).toISOString() } : {}),
  };
}

function NewKeyForm() {
  const details = useRef<HTMLDetailsElement>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    void attempt(async () => {
      issued.value = await call<IssuedKey>("POST", "/v1/keys", wanted(new FormData(form)));
      form.reset();
      if (details.current) details.current.open = false;
      await load(null);
    });
  };
  return (
    <details ref={details}>
      <summary>Create a key</summary>
      <form class="form" onSubmit={submit}>
        <label class="field">Name <input name="name" required maxLength={200} placeholder="who or what will use it" /></label>
        <fieldset>
          <legend>It may</legend>
          {SCOPES.map(([scope, what]) => <label class="check" key={scope}><input type="checkbox" name="scope" value={scope} defaultChecked={scope === "ask"} /> <span><strong>{scope}</strong> <span class="quiet">{what}</span></span></label>)}
        </fieldset>
        <label class="field">Collections <input name="collections" placeholder="all; or names, separated by commas" /></label>
        <label class="field">Acts as <input name="principals" placeholder="user:ann@example.org, group:staff" /></label>
        <label class="field">Until <input name="until" type="date" /></label>
        <div class="row"><button type="submit" class="primary">Create the key</button></div>
      </form>
    </details>
  );
}

function IssuedView({ issued: { secret, key } }: { issued: IssuedKey }) {
  const label = useRef<HTMLSpanElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [secret]);
  const copy = () => navigator.clipboard.writeText(secret).then(() => { if (label.current) label.current.textContent = "Copied"; }, () => {});
  return (
    <section class="notice" aria-label="New key">
      <h2 tabIndex={-1} ref={heading}>Your new key “{key.name}”</h2>
      <p>Copy it now. It is shown this once, and the service keeps no copy.</p>
      <p><code class="secret">{secret}</code></p>
      <div class="row"><button type="button" onClick={copy}><span ref={label} role="status">Copy the key</span></button><button type="button" class="link" onClick={() => { issued.value = null; }}>Hide it</button></div>
    </section>
  );
}
