"""Uses a running Cited by the Python SDK, with and without async: documents in, ask, stream, search, pages, errors.

tests/it/providers/clients.rs starts two services and runs this with their addresses: one with the built-in answerer, and
one whose model cites what is not there and which takes few requests a minute.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

import cited
from scripted import expect

BASE, STRICT = sys.argv[1:3]
QUESTION = "How many days of paid annual leave does everyone have?"

with cited.Cited(BASE) as client:
    seen = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "leave.md")
        path.write_text("Everyone has 28 days of paid annual leave a year. It lapses on 31 March.")
        job = client.upload_files([path, ("pay.txt", b"Pay day is the 25th.")], collection="sdk", metadata={"team": "people"})
    job = client.wait_for_job(job, timeout=60, on_progress=lambda job: seen.append(job.state))
    assert job.state == "succeeded" and job.counts.documents == 2, job
    assert all(state in ("queued", "running") for state in seen), seen
    sent = client.create_documents([{"source": "a.md", "text": "Desks are booked a day ahead."}], collection="sdk", wait=True)
    assert sent.counts.documents == 1, sent
    lines = ({"source": f"{number}.md", "text": f"Room {number} has {number} chairs."} for number in range(60))
    assert client.wait_for_job(client.stream_documents(lines, collection="sdk")).counts.documents == 60

    answer = client.ask(QUESTION, collections=["sdk"], filter={"metadata": {"team": "people"}})
    quote = answer.citations[0].quote
    assert answer.outcome == "answered" and quote and "28 days" in quote.text, answer
    assert client.get_citation(answer.citations[0].urn).status == "current"
    events = list(client.stream_ask(QUESTION, collections=["sdk"], stream="validated"))
    assert [event.event for event in events][0] == "sources" and events[-1].event == "answer", events
    assert events[-1].data.answer == answer.answer, events
    assert "28 days" in client.search(query="annual leave", collections=["sdk"]).results[0].text
    assert client.check(text="Everyone has 28 days of leave.", collections=["sdk"]).claims[0].verdict == "supported"

    documents = list(client.iterate_documents(collection="sdk"))
    assert len(documents) == len({document.source for document in documents}) == 63, len(documents)
    assert "28 days" in client.get_document_content(next(one.id for one in documents if one.source == "leave.md")).text
    assert "sdk" in [collection.name for collection in client.iterate_collections()]

    missing = expect(cited.NotFoundError, lambda: client.ask(QUESTION, collections=["nowhere"]))
    assert (missing.status, missing.code) == (404, "not_found"), missing
    expect(cited.NotFoundError, lambda: list(client.stream_ask(QUESTION, collections=["nowhere"])))
    wrong = expect(cited.InvalidRequestError, lambda: client.ask("  "))
    assert wrong.errors[0].pointer == "/question", wrong
    expect(cited.ConnectionFailed, lambda: cited.Cited("http://127.0.0.1:1", max_retries=0).livez())

with cited.Cited(STRICT, max_retries=0) as client:
    for ask in (client.ask, lambda *given, **named: list(client.stream_ask(*given, **named))):
        refused = expect(cited.CitationValidationError, lambda: ask(QUESTION, collections=["handbook"]))
        assert refused.status == 422 and refused.problem.validation.errors[0].kind == "out_of_range", refused
        assert refused.problem.sources and refused.problem.drafts, refused
    limited = expect(cited.RateLimitedError, lambda: [client.list_collections() for _ in range(100)])
    assert limited.code == "rate_limited" and limited.retry_after, limited


async def with_async():
    async with cited.AsyncCited(BASE) as client:
        job = await client.create_documents([{"source": "b.md", "text": "The office opens at nine."}], collection="async")
        assert (await client.wait_for_job(job, timeout=60)).state == "succeeded"
        answer = await client.ask("When does the office open?", collections=["async"])
        events = [event async for event in client.stream_ask("When does the office open?", collections=["async"])]
        assert events[-1].event == "answer" and events[-1].data.answer == answer.answer, events
        assert [document.source async for document in client.iterate_documents(collection="async")] == ["b.md"]
        assert (await client.delete_collection("async")).documents == 1


asyncio.run(with_async())
print("the Python SDK: documents in, ask, stream, search, check, pages, 404, 422, 429; with and without async")
