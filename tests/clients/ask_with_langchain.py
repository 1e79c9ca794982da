"""Asks a running Cited with LangChain: chat models over completions and over responses, whole and streamed.

tests/it/providers/clients.rs starts the service, brings in a document, and runs this with the service's address.
"""

import sys

from langchain_openai import ChatOpenAI

BASE, QUESTION = sys.argv[1] + "/v1", "How many days of paid annual leave does everyone have?"

for with_responses in (False, True):
    model = ChatOpenAI(model="cited/handbook", base_url=BASE, api_key="none", use_responses_api=with_responses)
    whole = model.invoke(QUESTION)
    assert "28 days" in whole.text and "[1]" in whole.text, whole
    pieces = list(model.stream(QUESTION))
    assert "".join(piece.text for piece in pieces) == whole.text, pieces
    nothing = model.invoke([("user", "Who won the chess cup of 1913?")])
    assert "28 days" not in nothing.text.split(".")[0], nothing
    if with_responses:
        # LangChain keeps citations of responses only, with what Cited adds to them.
        (citation,) = whole.content_blocks[0]["annotations"]
        assert citation["type"] == "citation" and "/c/cited" in citation["url"], citation
        assert whole.text[citation["start_index"] : citation["end_index"]] == "[1]", citation
        assert "28 days" in str(citation["extras"]), citation
print("LangChain asks Cited: completions, responses, streams")
