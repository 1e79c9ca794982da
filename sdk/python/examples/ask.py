"""Brings a document in, asks about it as a stream, and prints the answer with the words that prove it."""

from cited import CitationValidationError, Cited, models

with Cited() as cited:
    job = cited.upload_files(
        [("leave.md", b"# Leave\n\nEveryone has 28 days of paid annual leave a year. It lapses on 31 March.")],
        collection="example",
    )
    job = cited.wait_for_job(job)
    print(f"{job.counts.documents} document, {job.state}")

    answer: models.Answer | None = None
    try:
        for event in cited.stream_ask(
            "How many days of paid annual leave does everyone have?", collections=["example"]
        ):
            if event.event == "claim":
                print(f"confirmed, support {event.data.support:.2f}")
            elif event.event == "answer":
                answer = event.data
    except CitationValidationError as error:
        print("refused:", [finding.detail for finding in error.problem.validation.errors])
    if answer is not None:
        print(answer.answer or f"no answer: {answer.reason}")
        for citation in answer.citations:
            print(f"  [^{citation.marker}] {citation.quote.text if citation.quote else citation.urn}")
