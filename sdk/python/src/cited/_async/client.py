"""The client: one method for each operation of the service, with the operation's name, and helpers on top of them."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Iterable
from datetime import datetime
from typing import Any, Literal

from typing_extensions import Unpack

from .. import _calls, errors, models, requests
from .administration import AsyncAdministration

Id = _calls.Id


class AsyncCited(AsyncAdministration):
    """A client of a Cited service.

    `server` is its address: by default that of `CITED_SERVER`, else the service on this machine. `api_key` is by default
    that of `CITED_API_KEY`. What is refused with 429 or 503 and a time to come back is sent again, `max_retries` times.
    """

    # Questions

    async def ask(self, question: str | None = None, /, **request: Unpack[requests.AskRequest]) -> models.Answer:
        """Answers a question from the documents, with a checked citation for each claim."""
        body: dict[str, Any] = {**_asked(question, request), "stream": False}
        return await self._call(models.Answer, "POST", "/v1/ask", json=body)

    async def stream_ask(
        self, question: str | None = None, /, **request: Unpack[requests.AskRequest]
    ) -> AsyncIterator[models.AskEvent]:
        """Asks, and yields what happens: sources, words, confirmed claims, and in the end the answer.

        A failure on the way is raised. After a `retry`, words and claims so far are void. With `stream="validated"` no
        word comes before its claim is confirmed. Leaving the iteration and closing it ends the ask.
        """
        async with self._events("POST", "/v1/ask/stream", json=_asked(question, request)) as events:
            async for event in events:
                told = _calls.ask_event(event)
                yield told
                if told.event == "answer":
                    return
        raise errors.ConnectionFailed("the stream ended without an answer; ask again")

    async def search(self, **request: Unpack[requests.SearchRequest]) -> models.SearchResults:
        """Finds passages, without an answer."""
        return await self._call(models.SearchResults, "POST", "/v1/search", json=request)

    async def check(self, **request: Unpack[requests.CheckRequest]) -> models.Check:
        """Holds a text against passages, URNs or collections, claim by claim."""
        return await self._call(models.Check, "POST", "/v1/check", json=request)

    async def get_citation(self, urn: str) -> models.CitedState:
        """What became of the passage that a citation refers to."""
        return await self._call(models.CitedState, "GET", f"/v1/citations/{_calls.part(urn)}")

    # Documents in

    async def create_documents(
        self,
        documents: Iterable[requests.NewDocument],
        *,
        collection: str | None = None,
        indexing: Literal["complete", "progressive"] | None = None,
        wait: bool | None = None,
        webhook_url: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.Job:
        """Ingests documents: texts, or URLs that the service fetches."""
        body = _calls.query({"collection": collection, "documents": list(documents), "indexing": indexing})
        return await self._call(
            models.Job,
            "POST",
            "/v1/documents",
            json=body,
            params=_calls.query({"wait": wait, "webhook_url": webhook_url}),
            headers=_calls.named(idempotency_key),
        )

    async def upload_files(
        self,
        files: Iterable[_calls.File],
        *,
        collection: str | None = None,
        indexing: Literal["complete", "progressive"] | None = None,
        metadata: dict[str, Any] | None = None,
        title: str | None = None,
        wait: bool | None = None,
        webhook_url: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.Job:
        """Ingests files: paths, or names with their content. The name of a file is its source."""
        given = None if metadata is None else json.dumps(metadata)
        fields = {"collection": collection, "indexing": indexing, "metadata": given, "title": title}
        return await self._call(
            models.Job,
            "POST",
            "/v1/documents",
            files=_calls.parts_of(files, fields),
            params=_calls.query({"wait": wait, "webhook_url": webhook_url}),
            headers=_calls.named(idempotency_key),
        )

    async def stream_documents(
        self,
        documents: Iterable[requests.NewDocument],
        *,
        collection: str | None = None,
        indexing: Literal["complete", "progressive"] | None = None,
        wait: bool | None = None,
        webhook_url: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.Job:
        """Ingests any number of documents as a stream; none is kept in memory longer than it takes to send it."""

        async def lines() -> AsyncIterator[bytes]:
            for document in documents:
                yield json.dumps(document).encode() + b"\n"

        headers = {"content-type": "application/x-ndjson"}
        if idempotency_key is not None:
            headers["idempotency-key"] = idempotency_key
        params = _calls.query(
            {"collection": collection, "indexing": indexing, "wait": wait, "webhook_url": webhook_url}
        )
        path = "/v1/documents/bulk"
        return await self._call(models.Job, "POST", path, content=lines(), params=params, headers=headers)

    async def list_jobs(
        self,
        *,
        state: str | None = None,
        kind: Literal["ingest", "index"] | None = None,
        collection: str | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        cursor: Id | None = None,
        limit: int | None = None,
    ) -> models.JobPage:
        """A page of jobs, newest first."""
        params = _calls.query(
            {
                "state": state,
                "kind": kind,
                "collection": collection,
                "created_after": created_after,
                "created_before": created_before,
                "cursor": cursor,
                "limit": limit,
            }
        )
        return await self._call(models.JobPage, "GET", "/v1/jobs", params=params)

    async def get_job(
        self,
        id: Id,
        *,
        items_from: int | None = None,
        items_limit: int | None = None,
        items_state: str | None = None,
        items_noted: bool | None = None,
    ) -> models.Job:
        """A job with its items."""
        params = _calls.query(
            {
                "items_from": items_from,
                "items_limit": items_limit,
                "items_state": items_state,
                "items_noted": items_noted,
            }
        )
        return await self._call(models.Job, "GET", f"/v1/jobs/{_calls.part(id)}", params=params)

    async def follow_job(self, id: Id) -> AsyncIterator[models.JobEvent]:
        """Yields the state of a job whenever it changes, until it ends. See also `wait_for_job`."""
        async with self._events("GET", f"/v1/jobs/{_calls.part(id)}/events") as events:
            async for event in events:
                yield _calls.job_event(event)

    async def cancel_job(self, id: Id) -> models.Job:
        """Cancels a job; what it has stored stays."""
        return await self._call(models.Job, "POST", f"/v1/jobs/{_calls.part(id)}/cancel")

    async def retry_job(self, id: Id) -> models.Job:
        """Queues the failed documents of a job again."""
        return await self._call(models.Job, "POST", f"/v1/jobs/{_calls.part(id)}/retry")

    # Stored documents

    async def list_documents(
        self,
        *,
        collection: str | None = None,
        source_prefix: str | None = None,
        cursor: Id | None = None,
        limit: int | None = None,
    ) -> models.DocumentPage:
        """A page of stored documents."""
        params = _calls.query(
            {"collection": collection, "source_prefix": source_prefix, "cursor": cursor, "limit": limit}
        )
        return await self._call(models.DocumentPage, "GET", "/v1/documents", params=params)

    async def get_document(self, id: Id) -> models.Document:
        """A document, without its text."""
        return await self._call(models.Document, "GET", f"/v1/documents/{_calls.part(id)}")

    async def get_document_content(self, id: Id) -> models.DocumentContent:
        """The text of a document."""
        return await self._call(models.DocumentContent, "GET", f"/v1/documents/{_calls.part(id)}/content")

    async def list_document_chunks(
        self, id: Id, *, from_: int | None = None, limit: int | None = None
    ) -> models.ChunkPage:
        """A page of the chunks of a document."""
        params = _calls.query({"from": from_, "limit": limit})
        return await self._call(models.ChunkPage, "GET", f"/v1/documents/{_calls.part(id)}/chunks", params=params)

    async def replace_document(
        self,
        id: Id,
        *,
        wait: bool | None = None,
        webhook_url: str | None = None,
        **request: Unpack[requests.Replacement],
    ) -> models.Job:
        """Replaces the text of a document; what is not given stays."""
        params = _calls.query({"wait": wait, "webhook_url": webhook_url})
        return await self._call(models.Job, "PUT", f"/v1/documents/{_calls.part(id)}", json=request, params=params)

    async def get_document_acl(self, id: Id) -> models.Acl:
        """The users and groups that may see a document, and those that may not."""
        return await self._call(models.Acl, "GET", f"/v1/documents/{_calls.part(id)}/acl")

    async def set_document_acl(self, id: Id, **request: Unpack[requests.NewAcl]) -> models.Acl:
        """Replaces that list."""
        return await self._call(models.Acl, "PUT", f"/v1/documents/{_calls.part(id)}/acl", json=request)

    async def update_document_acl(self, id: Id, **request: Unpack[requests.AclChange]) -> models.Acl:
        """Sets the parts of that list that are given."""
        return await self._call(models.Acl, "PATCH", f"/v1/documents/{_calls.part(id)}/acl", json=request)

    async def delete_document(self, id: Id) -> models.DeleteReceipt:
        """Deletes a document with its chunks and vectors."""
        return await self._call(models.DeleteReceipt, "DELETE", f"/v1/documents/{_calls.part(id)}")

    async def delete_documents(self, *, collection: str, source_prefix: str) -> models.DeleteReceipt:
        """Deletes the documents of a collection whose source begins so."""
        params = {"collection": collection, "source_prefix": source_prefix}
        return await self._call(models.DeleteReceipt, "DELETE", "/v1/documents", params=params)

    # Collections

    async def list_collections(self, *, cursor: str | None = None, limit: int | None = None) -> models.CollectionPage:
        """A page of collections."""
        params = _calls.query({"cursor": cursor, "limit": limit})
        return await self._call(models.CollectionPage, "GET", "/v1/collections", params=params)

    async def create_collection(self, **request: Unpack[requests.NewCollection]) -> models.Collection:
        """Creates a collection; ingest does that too."""
        return await self._call(models.Collection, "POST", "/v1/collections", json=request)

    async def get_collection(self, name: str) -> models.Collection:
        """A collection with its counts."""
        return await self._call(models.Collection, "GET", f"/v1/collections/{_calls.part(name)}")

    async def export_collection(self, name: str) -> AsyncIterator[dict[str, Any]]:
        """Every document of a collection with its text, as `stream_documents` takes them."""
        async with self._lines(f"/v1/collections/{_calls.part(name)}/export") as lines:
            async for line in lines:
                yield json.loads(line)

    async def delete_collection(self, name: str) -> models.DeleteReceipt:
        """Deletes a collection with everything in it."""
        return await self._call(models.DeleteReceipt, "DELETE", f"/v1/collections/{_calls.part(name)}")

    async def get_collection_acl(self, name: str) -> models.Acl:
        """The access control list that new documents of a collection get."""
        return await self._call(models.Acl, "GET", f"/v1/collections/{_calls.part(name)}/acl")

    async def set_collection_acl(self, name: str, **request: Unpack[requests.NewAcl]) -> models.Acl:
        """Replaces that list."""
        return await self._call(models.Acl, "PUT", f"/v1/collections/{_calls.part(name)}/acl", json=request)

    async def update_collection_acl(self, name: str, **request: Unpack[requests.AclChange]) -> models.Acl:
        """Sets the parts of that list that are given."""
        return await self._call(models.Acl, "PATCH", f"/v1/collections/{_calls.part(name)}/acl", json=request)

    async def update_collection(self, name: str, **request: Unpack[requests.CollectionChange]) -> models.Collection:
        """Changes the settings of a collection that are given."""
        return await self._call(models.Collection, "PATCH", f"/v1/collections/{_calls.part(name)}", json=request)

    async def list_indexes(self, name: str) -> models.IndexList:
        """The indexes of a collection."""
        return await self._call(models.IndexList, "GET", f"/v1/collections/{_calls.part(name)}/indexes")

    async def build_index(self, name: str, **request: Unpack[requests.NewIndex]) -> models.IndexBuild:
        """Builds another index beside the active one."""
        return await self._call(models.IndexBuild, "POST", f"/v1/collections/{_calls.part(name)}/indexes", json=request)

    async def activate_index(self, name: str, id: Id) -> models.Collection:
        """Makes an index the active one."""
        path = f"/v1/collections/{_calls.part(name)}/indexes/{_calls.part(id)}/activate"
        return await self._call(models.Collection, "POST", path)

    async def drop_index(self, name: str, id: Id) -> models.DroppedIndex:
        """Drops an index that is not active."""
        path = f"/v1/collections/{_calls.part(name)}/indexes/{_calls.part(id)}"
        return await self._call(models.DroppedIndex, "DELETE", path)

    # Helpers

    async def wait_for_job(
        self,
        job: models.Job | Id,
        *,
        timeout: float | None = None,
        on_progress: Callable[[models.Job], None] | None = None,
    ) -> models.Job:
        """Waits for the end of a job, across broken connections, and returns it with its items.

        Raises `TimeoutError` if it has not ended after `timeout` seconds; the job goes on.
        """
        id = job.id if isinstance(job, models.Job) else job
        ends = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                async with self._events("GET", f"/v1/jobs/{_calls.part(id)}/events") as events:
                    async for event in events:
                        told = _calls.job_event(event)
                        if told.event == "end":
                            return await self.get_job(id)
                        if on_progress is not None:
                            on_progress(told.data)
                        _check_time(ends, id)
            except errors.ConnectionFailed:
                pass
            _check_time(ends, id)
            await _calls.async_sleep(1.0)

    async def iterate_documents(
        self, *, collection: str | None = None, source_prefix: str | None = None
    ) -> AsyncIterator[models.Document]:
        """Every stored document, page after page."""
        cursor: Id | None = None
        while True:
            page = await self.list_documents(collection=collection, source_prefix=source_prefix, cursor=cursor)
            for document in page.documents:
                yield document
            if (cursor := page.next_cursor) is None:
                return

    async def iterate_jobs(
        self, *, state: str | None = None, collection: str | None = None
    ) -> AsyncIterator[models.Job]:
        """Every job, newest first, page after page."""
        cursor: Id | None = None
        while True:
            page = await self.list_jobs(state=state, collection=collection, cursor=cursor)
            for job in page.jobs:
                yield job
            if (cursor := page.next_cursor) is None:
                return

    async def iterate_collections(self) -> AsyncIterator[models.Collection]:
        """Every collection, page after page."""
        cursor: str | None = None
        while True:
            page = await self.list_collections(cursor=cursor)
            for collection in page.collections:
                yield collection
            if (cursor := page.next_cursor) is None:
                return


def _asked(question: str | None, request: requests.AskRequest) -> requests.AskRequest:
    return request if question is None else {**request, "question": question}


def _check_time(ends: float | None, id: Id) -> None:
    if ends is not None and time.monotonic() > ends:
        raise TimeoutError(f"the job {id} has not ended yet; it goes on")
