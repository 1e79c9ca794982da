"""Asks a running Cited with OpenAI's own client: completions, responses, streams, models, errors.

tests/it/providers/clients.rs starts the service, brings in a document, and runs this with the service's address.
"""

import sys

import openai

from scripted import expect

BASE, QUESTION = sys.argv[1] + "/v1", "How many days of paid annual leave does everyone have?"
MODEL = "cited/handbook"
ASKED = {"model": MODEL, "messages": [{"role": "user", "content": QUESTION}]}

client = openai.OpenAI(base_url=BASE, api_key="none", max_retries=2, _strict_response_validation=True)

assert [model.id for model in client.models.list()] == ["cited", MODEL]
assert client.models.retrieve(MODEL).id == MODEL

completion = client.chat.completions.create(**ASKED)
message = completion.choices[0].message
citation = message.annotations[0].url_citation
assert message.content[citation.start_index : citation.end_index] == "[1]", message
assert "28 days" in message.content and "28 days" in citation.content, message
assert client._client.get(citation.url, headers={"accept": "text/html"}).status_code == 200

text, annotations, reasons, usage = "", [], [], None
for chunk in client.chat.completions.create(**ASKED, stream=True, stream_options={"include_usage": True}):
    for choice in chunk.choices:
        text += choice.delta.content or ""
        annotations += getattr(choice.delta, "annotations", None) or []
        reasons += [choice.finish_reason] if choice.finish_reason else []
    usage = chunk.usage or usage
assert (text, reasons) == (message.content, ["stop"]), (text, reasons)
assert annotations[0]["url_citation"]["url"] == citation.url and usage.total_tokens == 0, (annotations, usage)

response = client.responses.create(model=MODEL, input=QUESTION)
assert response.output_text == message.content, response
assert response.output[0].content[0].annotations[0].url == citation.url, response
with client.responses.stream(model=MODEL, input=[{"role": "user", "content": QUESTION}]) as events:
    kinds = [event.type for event in events]
    assert events.get_final_response().output_text == message.content
assert kinds[0] == "response.created" and kinds[-1] == "response.completed", kinds

nothing = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "Who won the chess cup of 1913?"}])
assert nothing.choices[0].message.annotations == [] and nothing.cited["outcome"] == "abstained", nothing

calls = []
counted = openai.OpenAI(
    base_url=BASE,
    api_key="none",
    http_client=openai.DefaultHttpxClient(event_hooks={"request": [calls.append]}),
)
unknown = expect(openai.NotFoundError, lambda: counted.chat.completions.create(model="cited/x", messages=ASKED["messages"]))
assert unknown.code == "model_not_found", unknown
wrong = expect(openai.BadRequestError, lambda: counted.chat.completions.create(**ASKED, n=2))
assert (wrong.code, wrong.param) == ("unsupported_parameter", "n"), wrong
assert len(calls) == 2, "neither is repeated"
print("OpenAI's client asks Cited: completions, responses, streams, models, errors")
