// Bringing documents in: files by drag and drop or choice, the sample, and the jobs that read them.
import { signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { type AskProblem, type Job, type JobEvent, type JobItem, call, events, problemFrom } from "./api";
import { collections, loadCollections } from "./collections";
import { ProblemView } from "./problem";
import { count, isolated, seen } from "./text";

interface Upload {
  id: number;
  name: string;
  job: Job | null;
  failed: JobItem[];
  /** Documents that were read with a loss. */
  noted: JobItem[];
  problem: AskProblem | null;
}

const uploads = signal<Upload[]>([]);
/** Grows when a job has ended, so that lists of documents are read anew. */
export const changes = signal(0);
let lastId = 0;

function change(id: number, part: Partial<Upload>): void {
  uploads.value = uploads.value.map((each) => (each.id === id ? { ...each, ...part } : each));
}

async function upload(name: string, body: FormData | object): Promise<void> {
  const id = ++lastId;
  uploads.value = [{ id, name, job: null, failed: [], noted: [], problem: null }, ...uploads.value];
  try {
    let job = await call<Job>("POST", "/v1/documents", body);
    change(id, { job });
    for await (const event of events<JobEvent>(`/v1/jobs/${job.id}/events`, {})) {
      job = event.data;
      change(id, { job });
    }
    const ended = await call<Job>("GET", `/v1/jobs/${job.id}?items_state=failed`);
    const noted = await call<Job>("GET", `/v1/jobs/${job.id}?items_noted=true`);
    change(id, { job: ended, failed: ended.items ?? [], noted: noted.items ?? [] });
  } catch (error) {
    change(id, { problem: problemFrom(error) });
  }
  changes.value++;
  await loadCollections();
}

function uploadFiles(files: File[], collection: string): void {
  if (files.length === 0) return;
  const form = new FormData();
  form.set("collection", collection);
  for (const file of files) form.append("file", file, file.name);
  void upload(files.length === 1 ? files[0]!.name : count(files.length, "file"), form);
}

async function uploadSample(): Promise<void> {
  const { documents } = await import("./sample");
  await upload("the sample handbook", { collection: "handbook", documents });
}

export function Uploads({ isFirst = false, collection }: { isFirst?: boolean; collection?: string }) {
  const name = useRef<HTMLInputElement>(null);
  const zone = useRef<HTMLDivElement>(null);
  const into = () => name.current?.value.trim() || "default";
  const drop = (event: DragEvent) => {
    event.preventDefault();
    zone.current?.classList.remove("over");
    uploadFiles([...(event.dataTransfer?.files ?? [])], into());
  };
  const over = (event: DragEvent) => {
    event.preventDefault();
    zone.current?.classList.add("over");
  };
  return (
    <section class="uploads" aria-label="Upload">
      <div class="zone" ref={zone} onDrop={drop} onDragOver={over} onDragLeave={() => zone.current?.classList.remove("over")}>
        <p><strong>Drop files here</strong>, or choose them</p>
        <p class="quiet">PDF, Word, Markdown, HTML, spreadsheets, mail, text and more</p>
        <div class="row">
          <label class="field">Collection <input ref={name} list="collection-names" defaultValue={collection ?? ""} placeholder="default" maxLength={128} /></label>
          <datalist id="collection-names">{(collections.value ?? []).map((each) => <option key={each.name} value={each.name} />)}</datalist>
          <label class="button primary">Choose files
            <input type="file" multiple class="unseen" onChange={(event) => { uploadFiles([...(event.currentTarget.files ?? [])], into()); event.currentTarget.value = ""; }} />
          </label>
          {isFirst && <button type="button" onClick={() => void uploadSample()}>Load a small sample handbook</button>}
        </div>
      </div>
      {uploads.value.map((each) => <UploadView key={each.id} upload={each} />)}
    </section>
  );
}

const STATES: Record<Job["state"], string> = {
  queued: "waiting", running: "reading", succeeded: "done", partial: "done in part", failed: "failed", cancelled: "cancelled",
};

function UploadView({ upload: { name, job, failed, noted, problem } }: { upload: Upload }) {
  const counts = job?.counts;
  const settled = counts ? counts.documents + counts.unchanged + counts.failed + counts.cancelled : 0;
  return (
    <div class="job" role="status">
      <p class="facts">
        <strong><bdi>{seen(name)}</bdi></strong>
        <span class={`chip ${job?.state ?? ""}`}>{problem ? "not accepted" : job ? STATES[job.state] : "sending"}</span>
        {counts && <span>{count(counts.documents, "document")}, {count(counts.chunks, "passage")}{counts.unchanged > 0 && `, ${counts.unchanged} unchanged`}{counts.failed > 0 && `, ${counts.failed} failed`}</span>}
      </p>
      {job && !job.finished_at && <progress max={Math.max(1, counts?.items ?? 1)} value={settled} aria-label={`Progress of ${isolated(name)}`} />}
      {failed.map((item) => <p class="failure" key={item.source}><strong><bdi>{seen(item.source)}</bdi></strong> <code>{item.cause}</code> {item.message}</p>)}
      {noted.map((item) => item.reading && <p class="quiet" key={item.source}><strong><bdi>{seen(item.source)}</bdi></strong> {losses(item.reading).join("; ")}</p>)}
      {problem && <ProblemView problem={problem} />}
    </div>
  );
}

function losses({ pages_without_text: pages, recognised_pages: recognised, unread_attachments: attachments, dropped_characters: dropped, repaired_characters: repaired }: NonNullable<JobItem["reading"]>): string[] {
  return [
    pages.length > 0 && `without text: ${pages.length === 1 ? "page" : "pages"} ${pages.join(", ")}`,
    recognised.length > 0 && `text recognised in pictures: ${recognised.length === 1 ? "page" : "pages"} ${recognised.join(", ")}`,
    attachments.length > 0 && `attachments not read: ${attachments.map(isolated).join(", ")}`,
    dropped > 0 && `${count(dropped, "character")} left out`,
    repaired > 0 && `${count(repaired, "character")} repaired`,
  ].filter((loss) => loss !== false);
}
