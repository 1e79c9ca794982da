"""Drives the scripted server with Anthropic's own client, which checks the form of every reply.

tests/it/providers/clients.rs starts the server, scripts its replies in the order in which they are taken here, and runs this
with the server's address.
"""

import sys
import time

import anthropic

from scripted import RECORDED, RECORDED_STREAM, TEXT, expect


# This client adds the version to the address itself.
address = sys.argv[1].removesuffix("/v1")
client = anthropic.Anthropic(base_url=address, api_key="key", max_retries=0, _strict_response_validation=True)


def question():
    messages = [{"role": "user", "content": "How many days?"}]
    return {"model": "scripted-chat", "max_tokens": 100, "system": "You answer.", "messages": messages}


def ask(client=client, **members):
    return client.messages.create(**question(), **members)


def stream(client=client):
    """The text as it came, and the message that the client makes of all events."""
    with client.messages.stream(**question()) as events:
        text = "".join(events.text_stream)
        return text, events.get_final_message()


reply = ask()
assert (reply.content[0].text, reply.stop_reason) == (TEXT, "end_turn"), reply
usage = reply.usage
assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (60, 40, 20), reply

text, message = stream()
assert (text, message.stop_reason) == (TEXT, "end_turn"), message
assert (message.usage.input_tokens, message.usage.output_tokens) == (60, 20), message

assert ask().stop_reason == "max_tokens"

reply = ask()
assert reply.content[0].text == RECORDED, reply
assert (reply.usage.input_tokens, reply.usage.output_tokens) == (195, 14), reply
# The recorded stream holds an event that is not in the documentation, as there may be at any time.
lenient = anthropic.Anthropic(base_url=address, api_key="key", max_retries=0)
text, message = stream(lenient)
assert (text, message.stop_reason, message.usage.output_tokens) == (RECORDED_STREAM, "end_turn", 14), message
text, message = stream()
assert (text, message.stop_reason, message.content[0].name) == ("", "tool_use", "search"), message
overloaded = expect(anthropic.APIStatusError, stream)
assert "Overloaded" in str(overloaded), overloaded

assert "bad model" in str(expect(anthropic.BadRequestError, ask))
expect(anthropic.AuthenticationError, ask)
expect(anthropic.RateLimitError, ask)
expect(anthropic.InternalServerError, ask)
expect(anthropic.APITimeoutError, lambda: ask(timeout=0.3))

# The client waits as long as it is told to, and asks again.
started = time.monotonic()
reply = ask(client.with_options(max_retries=1))
assert reply.content[0].text == TEXT and time.monotonic() - started >= 1, reply

# A stream that breaks off is an error, not an end.
broken = expect(Exception, stream)
assert not isinstance(broken, AssertionError), broken
print(f"anthropic {anthropic.__version__}: all replies are what they should be")
