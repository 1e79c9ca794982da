"""Drives the scripted server with OpenAI's own client, which checks the form of every reply.

tests/it/providers/clients.rs starts the server, scripts its replies in the order in which they are taken here, and runs this
with the server's address.
"""

import sys
import time

import openai

from scripted import RECORDED, RECORDED_STREAM, TEXT, expect

MESSAGES = [{"role": "system", "content": "You answer."}, {"role": "user", "content": "How many days?"}]

client = openai.OpenAI(base_url=sys.argv[1], api_key="key", max_retries=0, _strict_response_validation=True)


def ask(client=client, **members):
    return client.chat.completions.create(model="scripted-chat", messages=MESSAGES, **members)


def stream():
    """The text, the reasons to finish, and the usage, as they come."""
    text, reasons, usage = "", [], None
    for chunk in ask(stream=True, stream_options={"include_usage": True}):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            reasons += [choice.finish_reason] if choice.finish_reason else []
        usage = chunk.usage or usage
    return text, reasons, usage


reply = ask()
assert (reply.choices[0].message.content, reply.choices[0].finish_reason) == (TEXT, "stop"), reply
assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.total_tokens) == (100, 20, 120), reply

text, reasons, usage = stream()
assert (text, reasons) == (TEXT, ["stop"]), (text, reasons)
assert (usage.prompt_tokens, usage.completion_tokens) == (100, 20), usage

assert ask().choices[0].finish_reason == "length"

reply = ask()
assert reply.choices[0].message.content == RECORDED, reply
assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (219, 14), reply
text, reasons, usage = stream()
assert (text, reasons, usage.prompt_tokens) == (RECORDED_STREAM, ["stop"], 219), (text, reasons, usage)
reply = ask()
assert reply.choices[0].message.content is None, reply
assert reply.choices[0].message.tool_calls[0].function.name == "search", reply
assert stream()[:2] == ("", ["tool_calls"])

assert "bad model" in str(expect(openai.BadRequestError, ask))
expect(openai.AuthenticationError, ask)
quota = expect(openai.RateLimitError, ask)
assert quota.code == "insufficient_quota", quota
expect(openai.InternalServerError, ask)
expect(openai.APITimeoutError, lambda: ask(timeout=0.3))

# The client waits as long as it is told to, and asks again.
started = time.monotonic()
reply = ask(client.with_options(max_retries=1))
assert reply.choices[0].message.content == TEXT and time.monotonic() - started >= 1, reply

# A stream that breaks off is an error, not an end.
broken = expect(Exception, stream)
assert not isinstance(broken, AssertionError), broken

embeddings = client.embeddings.create(model="scripted-embedding", input=["one", "two"], encoding_format="float")
assert [entry.index for entry in embeddings.data] == [0, 1], embeddings
assert {len(entry.embedding) for entry in embeddings.data} == {64}, embeddings
print(f"openai {openai.__version__}: all replies are what they should be")
