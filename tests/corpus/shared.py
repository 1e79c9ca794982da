"""The folder of the files, and the sentences that stand in many of them."""

from pathlib import Path

FILES = Path(__file__).resolve().parent / "files"

LEAVE = "Everyone has 28 days of paid leave a year, from the first day on."
CARRY = "Up to five unused days may be carried over; they lapse on 31 March."
SICK = "Whoever falls ill stays at home and reports it before nine o'clock."


def write(name, content):
    (FILES / name).write_bytes(content.encode() if isinstance(content, str) else content)
