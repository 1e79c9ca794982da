/** The client: one method for each operation of the service, and helpers on top of them. */

import { Administration } from "./administration.js";
import { type Body, type Query, asked, data, given, lines, search } from "./calls.js";
import { ConnectionFailed, errorOf } from "./errors.js";
import type { Answer, AskErrorEvent, AskEvent, AskRequest, Collection, Document, Job, JobEvent, NewDocument } from "./schema.js";
import { sleep } from "./transport.js";

/** How documents are ingested. */
export interface IngestOptions extends Query<"stream_documents"> {
  /** Name of the request: sent again with it, nothing is done twice. */
  idempotencyKey?: string;
}

/** How files are ingested. */
export interface UploadOptions extends IngestOptions {
  /** Your own data about every file. */
  metadata?: Record<string, unknown>;
  /** Title, of a single file. */
  title?: string;
}

/** A file to upload: a `File`, or its name with its content. */
export type Upload = File | { name: string; content: Blob | Uint8Array<ArrayBuffer> | string };

/** An event of an ask that is no failure. */
export type ToldEvent = Exclude<AskEvent, AskErrorEvent>;

/**
 * A client of a Cited service.
 *
 * What the service refuses is thrown as an `ApiError`. Requests that were refused with 429 or 503 and a time to come back
 * are sent again.
 */
export class Cited extends Administration {
  // Questions

  /** Answers a question from the documents, with a checked citation for each claim. */
  async ask(request: string | AskRequest): Promise<Answer> {
    return data(await this.api.POST("/v1/ask", { body: { ...asked(request), stream: false } }));
  }

  /**
   * Asks, and yields what happens: sources, words, confirmed claims, and in the end the answer.
   *
   * A failure on the way is thrown. After a `retry`, words and claims so far are void. With `stream: "validated"` no word
   * comes before its claim is confirmed. Leaving the iteration ends the ask.
   */
  async *streamAsk(request: string | AskRequest, init: { signal?: AbortSignal } = {}): AsyncGenerator<ToldEvent, void, void> {
    const body = JSON.stringify(asked(request));
    const sent = { ...init, method: "POST", body, headers: { "content-type": "application/json" } };
    for await (const message of this.transport.events("/v1/ask/stream", sent)) {
      const event = { event: message.event, data: JSON.parse(message.data) as unknown } as AskEvent;
      if (event.event === "error") throw errorOf(event.data, event.data.status);
      yield event;
      if (event.event === "answer") return;
    }
    throw new ConnectionFailed("the stream ended without an answer; ask again");
  }

  /** Finds passages, without an answer. */
  async search(request: Body<"search">) {
    return data(await this.api.POST("/v1/search", { body: request }));
  }

  /** Holds a text against passages, URNs or collections, claim by claim. */
  async check(request: Body<"check">) {
    return data(await this.api.POST("/v1/check", { body: request }));
  }

  /** What became of the passage that a citation refers to. */
  async getCitation(urn: string) {
    return data(await this.api.GET("/v1/citations/{urn}", { params: { path: { urn } } }));
  }

  // Documents in

  /** Ingests documents: texts, or URLs that the service fetches. */
  async createDocuments(documents: NewDocument[], options: IngestOptions = {}): Promise<Job> {
    const { collection, indexing, idempotencyKey, ...query } = options;
    const body = { documents, ...given({ collection, indexing }) };
    const params = { query, header: { "Idempotency-Key": idempotencyKey ?? crypto.randomUUID() } };
    return data(await this.api.POST("/v1/documents", { params, body }));
  }

  /** Ingests files. The name of a file is its source. */
  async uploadFiles(files: Iterable<Upload>, options: UploadOptions = {}): Promise<Job> {
    const { collection, indexing, metadata, title, idempotencyKey, ...query } = options;
    const form = new FormData();
    const fields = given({ collection, indexing, title, metadata: metadata && JSON.stringify(metadata) });
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    for (const file of files) {
      if (file instanceof File) form.append("file", file);
      else form.append("file", new Blob([file.content]), file.name);
    }
    const headers = { "idempotency-key": idempotencyKey ?? crypto.randomUUID() };
    const response = await this.transport.send(`/v1/documents${search(query)}`, { method: "POST", body: form, headers });
    return (await response.json()) as Job;
  }

  /** Ingests any number of documents as a stream; none is kept in memory longer than it takes to send it. */
  async streamDocuments(documents: Iterable<NewDocument> | AsyncIterable<NewDocument>, options: IngestOptions = {}): Promise<Job> {
    const { idempotencyKey, ...query } = options;
    const headers = { "content-type": "application/x-ndjson", ...given({ "idempotency-key": idempotencyKey }) };
    const sent = { method: "POST", body: lines(documents), headers, duplex: "half" } as const;
    const response = await this.transport.send(`/v1/documents/bulk${search(query)}`, sent);
    return (await response.json()) as Job;
  }

  /** A page of jobs, newest first. */
  async listJobs(query: Query<"list_jobs"> = {}) {
    return data(await this.api.GET("/v1/jobs", { params: { query } }));
  }

  /** A job with its items. */
  async getJob(id: string, query: Query<"get_job"> = {}) {
    return data(await this.api.GET("/v1/jobs/{id}", { params: { path: { id }, query } }));
  }

  /** Yields the state of a job whenever it changes, until it ends. See also `waitForJob`. */
  async *followJob(id: string, init: { signal?: AbortSignal } = {}): AsyncGenerator<JobEvent, void, void> {
    for await (const message of this.transport.events(`/v1/jobs/${encodeURIComponent(id)}/events`, init)) {
      yield { event: message.event, data: JSON.parse(message.data) as unknown } as JobEvent;
    }
  }

  /** Cancels a job; what it has stored stays. */
  async cancelJob(id: string): Promise<Job> {
    return data(await this.api.POST("/v1/jobs/{id}/cancel", { params: { path: { id } } }));
  }

  /** Queues the failed documents of a job again. */
  async retryJob(id: string) {
    return data(await this.api.POST("/v1/jobs/{id}/retry", { params: { path: { id } } }));
  }

  // Stored documents

  /** A page of stored documents. */
  async listDocuments(query: Query<"list_documents"> = {}) {
    return data(await this.api.GET("/v1/documents", { params: { query } }));
  }

  /** A document, without its text. */
  async getDocument(id: string) {
    return data(await this.api.GET("/v1/documents/{id}", { params: { path: { id } } }));
  }

  /** The text of a document. */
  async getDocumentContent(id: string) {
    return data(await this.api.GET("/v1/documents/{id}/content", { params: { path: { id } } }));
  }

  /** A page of the chunks of a document. */
  async listDocumentChunks(id: string, query: Query<"list_document_chunks"> = {}) {
    return data(await this.api.GET("/v1/documents/{id}/chunks", { params: { path: { id }, query } }));
  }

  /** Replaces the text of a document; what is not given stays. */
  async replaceDocument(id: string, body: Body<"replace_document">, query: Query<"replace_document"> = {}): Promise<Job> {
    return data(await this.api.PUT("/v1/documents/{id}", { params: { path: { id }, query }, body }));
  }

  /** The users and groups that may see a document, and those that may not. */
  async getDocumentAcl(id: string) {
    return data(await this.api.GET("/v1/documents/{id}/acl", { params: { path: { id } } }));
  }

  /** Replaces that list. */
  async setDocumentAcl(id: string, body: Body<"set_document_acl">) {
    return data(await this.api.PUT("/v1/documents/{id}/acl", { params: { path: { id } }, body }));
  }

  /** Sets the parts of that list that are given. */
  async updateDocumentAcl(id: string, body: Body<"update_document_acl">) {
    return data(await this.api.PATCH("/v1/documents/{id}/acl", { params: { path: { id } }, body }));
  }

  /** Deletes a document with its chunks and vectors. */
  async deleteDocument(id: string) {
    return data(await this.api.DELETE("/v1/documents/{id}", { params: { path: { id } } }));
  }

  /** Deletes the documents of a collection whose source begins so. */
  async deleteDocuments(query: Query<"delete_documents">) {
    return data(await this.api.DELETE("/v1/documents", { params: { query } }));
  }

  // Collections

  /** A page of collections. */
  async listCollections(query: Query<"list_collections"> = {}) {
    return data(await this.api.GET("/v1/collections", { params: { query } }));
  }

  /** Creates a collection; ingest does that too. */
  async createCollection(body: Body<"create_collection">) {
    return data(await this.api.POST("/v1/collections", { body }));
  }

  /** A collection with its counts. */
  async getCollection(name: string) {
    return data(await this.api.GET("/v1/collections/{name}", { params: { path: { name } } }));
  }

  /** Deletes a collection with everything in it. */
  async deleteCollection(name: string) {
    return data(await this.api.DELETE("/v1/collections/{name}", { params: { path: { name } } }));
  }

  /** Every document of a collection with its text, as `streamDocuments` takes them. Leaving the iteration ends the export. */
  async *exportCollection(name: string): AsyncGenerator<NewDocument, void, void> {
    for await (const line of this.transport.lines(`/v1/collections/${encodeURIComponent(name)}/export`)) {
      yield JSON.parse(line) as NewDocument;
    }
  }

  /** The access control list that new documents of a collection get. */
  async getCollectionAcl(name: string) {
    return data(await this.api.GET("/v1/collections/{name}/acl", { params: { path: { name } } }));
  }

  /** Changes the settings of a collection that are given. */
  async updateCollection(name: string, body: Body<"update_collection">) {
    return data(await this.api.PATCH("/v1/collections/{name}", { params: { path: { name } }, body }));
  }

  /** Replaces that list. */
  async setCollectionAcl(name: string, body: Body<"set_collection_acl">) {
    return data(await this.api.PUT("/v1/collections/{name}/acl", { params: { path: { name } }, body }));
  }

  /** Sets the parts of that list that are given. */
  async updateCollectionAcl(name: string, body: Body<"update_collection_acl">) {
    return data(await this.api.PATCH("/v1/collections/{name}/acl", { params: { path: { name } }, body }));
  }

  /** The indexes of a collection. */
  async listIndexes(name: string) {
    return data(await this.api.GET("/v1/collections/{name}/indexes", { params: { path: { name } } }));
  }

  /** Builds another index beside the active one. */
  async buildIndex(name: string, body: Body<"build_index"> = {}) {
    return data(await this.api.POST("/v1/collections/{name}/indexes", { params: { path: { name } }, body }));
  }

  /** Makes an index the active one. */
  async activateIndex(name: string, id: string) {
    return data(await this.api.POST("/v1/collections/{name}/indexes/{id}/activate", { params: { path: { name, id } } }));
  }

  /** Drops an index that is not active. */
  async dropIndex(name: string, id: string) {
    return data(await this.api.DELETE("/v1/collections/{name}/indexes/{id}", { params: { path: { name, id } } }));
  }

  // Helpers

  /** Waits for the end of a job, across broken connections, and returns it with its items. */
  async waitForJob(job: Job | string, options: { signal?: AbortSignal; onProgress?: (job: Job) => void } = {}): Promise<Job> {
    const id = typeof job === "string" ? job : job.id;
    const { signal, onProgress } = options;
    for (;;) {
      try {
        for await (const { event, data } of this.followJob(id, signal ? { signal } : {})) {
          if (event === "end") return await this.getJob(id);
          onProgress?.(data);
        }
      } catch (error) {
        if (!(error instanceof ConnectionFailed)) throw error;
      }
      signal?.throwIfAborted();
      await sleep(1000);
    }
  }

  /** Every stored document, page after page. */
  async *iterateDocuments(query: Omit<Query<"list_documents">, "cursor"> = {}): AsyncGenerator<Document, void, void> {
    let page = await this.listDocuments(query);
    for (;;) {
      yield* page.documents;
      if (page.next_cursor === null) return;
      page = await this.listDocuments({ ...query, cursor: page.next_cursor });
    }
  }

  /** Every job, newest first, page after page. */
  async *iterateJobs(query: Omit<Query<"list_jobs">, "cursor"> = {}): AsyncGenerator<Job, void, void> {
    let page = await this.listJobs(query);
    for (;;) {
      yield* page.jobs;
      if (page.next_cursor === null) return;
      page = await this.listJobs({ ...query, cursor: page.next_cursor });
    }
  }

  /** Every collection, page after page. */
  async *iterateCollections(): AsyncGenerator<Collection, void, void> {
    let page = await this.listCollections();
    for (;;) {
      yield* page.collections;
      if (page.next_cursor === null) return;
      page = await this.listCollections({ cursor: page.next_cursor });
    }
  }
}
