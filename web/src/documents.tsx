// Collections and their documents: what there is, what it is made of, and deleting it.
import { signal } from "@preact/signals";
import { createRef } from "preact";
import { useEffect } from "preact/hooks";
import { type AskProblem, type Collection, type DeleteReceipt, type Document, type DocumentPage, call, problemFrom } from "./api";
import { collections, loadCollections, loadProblem } from "./collections";
import { confirmed } from "./dialogs";
import { ProblemView } from "./problem";
import { may } from "./rights";
import { count, isolated, seen } from "./text";
import { Uploads, changes } from "./upload";

const open = signal<string | null>(null);
const documents = signal<Document[]>([]);
const next = signal<string | null>(null);
const problem = signal<AskProblem | null>(null);
const said = signal("");
const receiptView = createRef<HTMLParagraphElement>();

async function load(collection: string, cursor: string | null): Promise<void> {
  try {
    const query = new URLSearchParams({ collection, limit: "50", ...(cursor ? { cursor } : {}) });
    const page = await call<DocumentPage>("GET", `/v1/documents?${query}`);
    if (open.value !== collection) return;
    documents.value = cursor ? [...documents.value, ...page.documents] : page.documents;
    next.value = page.next_cursor;
    problem.value = null;
  } catch (error) {
    problem.value = problemFrom(error);
  }
}

async function remove(path: string, what: string, warning: string): Promise<void> {
  if (!(await confirmed({ title: `Delete ${what}?`, text: warning, deed: "Delete" }))) return;
  try {
    const receipt = await call<DeleteReceipt>("DELETE", path);
    said.value = `Deleted: ${count(receipt.documents, "document")}, ${count(receipt.chunks, "passage")}, ${count(receipt.vectors, "vector")}, ${count(receipt.answers, "kept answer")}.`;
    problem.value = null;
  } catch (error) {
    problem.value = problemFrom(error);
  }
  await loadCollections();
  // Only now: a collection that was deleted has no documents to load.
  changes.value++;
  // The button that was pressed may be gone with its row.
  receiptView.current?.focus();
}

export function DocumentsView() {
  const all = collections.value ?? [];
  const shown = all.find((each) => each.name === open.value) ?? all[0];
  useEffect(() => {
    open.value = shown?.name ?? null;
    documents.value = [];
    next.value = null;
    if (shown) void load(shown.name, null);
  }, [shown?.name, changes.value]);
  if (loadProblem.value) return <div class="sheet"><ProblemView problem={loadProblem.value} /></div>;
  if (!collections.value) return <div class="sheet wide"><p class="waiting">Loading…</p></div>;
  return (
    <div class="sheet wide">
      <h1>Documents</h1>
      {may("ingest") && <Uploads isFirst={all.length === 0} collection={shown?.name} key={shown?.name} />}
      {all.length > 0 && (
        <div class="tabs" role="group" aria-label="Collections">
          {all.map((each) => <button type="button" key={each.name} aria-pressed={each === shown} onClick={() => { open.value = each.name; }}><bdi>{each.name}</bdi> <span class="quiet">{each.documents}</span></button>)}
        </div>
      )}
      {problem.value && <ProblemView problem={problem.value} />}
      <p class="quiet" role="status" tabIndex={-1} ref={receiptView}>{said.value}</p>
      {shown && <CollectionView collection={shown} />}
    </div>
  );
}

function CollectionView({ collection }: { collection: Collection }) {
  const { name, embedding, chunks, embedded_chunks: embedded } = collection;
  const path = `/v1/collections/${encodeURIComponent(name)}`;
  return (
    <section aria-label={`Collection ${name}`}>
      <p class="facts">
        <span>{count(collection.documents, "document")}</span><span>{count(chunks, "passage")}</span><span>{embedding.model}</span>
        {embedded < chunks && <span>{Math.round((100 * embedded) / chunks)} % have vectors</span>}
        {may("ingest") && <button type="button" class="link danger" onClick={() => void remove(path, `the collection ${name}`, `Its ${count(collection.documents, "document")} go with it, and citations of them will say that they were deleted.`)}>Delete the collection</button>}
      </p>
      <div class="scroll" tabIndex={0} role="group" aria-label="Documents">
        <table class="documents">
          <thead><tr><th scope="col">Title</th><th scope="col">Source</th><th scope="col" class="optional">Passages</th><th scope="col" class="optional">Version</th><th scope="col" class="optional">Changed</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
          <tbody>
            {documents.value.map((each) => (
              <tr key={each.id}>
                <td><bdi>{seen(each.title)}</bdi></td><td><bdi>{seen(each.source)}</bdi></td><td class="optional">{each.chunks}</td><td class="optional">{each.version}</td>
                <td class="optional"><time dateTime={each.updated_at}>{new Date(each.updated_at).toLocaleDateString()}</time></td>
                <td>{may("ingest") && <button type="button" class="link danger" aria-label={`Delete ${isolated(each.title)}`} onClick={() => void remove(`/v1/documents/${each.id}`, isolated(each.title), "Citations of it will say that it was deleted. Nothing of its text is kept.")}>Delete</button>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {next.value && <button type="button" onClick={() => void load(name, next.value)}>More</button>}
    </section>
  );
}
