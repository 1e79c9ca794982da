"""What the scripted server says (tests/it/providers/clients.rs), whatever the dialect."""

TEXT = "Jeder hat 28 Tage Urlaub – 👍 [^1]."
RECORDED = "Die Frist beträgt 28 Tage. [^1]"
RECORDED_STREAM = "Die Frist beträgt 28 Tage – 👍. [^1]"


def expect(error, call):
    """The error of this kind that the call ends with."""
    try:
        call()
    except error as raised:
        return raised
    raise AssertionError(f"no {error.__name__}")
