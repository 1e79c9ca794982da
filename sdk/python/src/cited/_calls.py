"""The parts of calls that are the same with and without `async`."""

from __future__ import annotations

import asyncio
import json
import mimetypes
import os
import time
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Union
from urllib.parse import quote

import httpx
from httpx_sse import ServerSentEvent
from pydantic import TypeAdapter

from . import errors, models

DEFAULT_SERVER = "http://127.0.0.1:8080"
#: A little more than the service's own time limit of a request.
DEFAULT_TIMEOUT = 310.0
#: Longest pause before a request is sent again, in seconds.
LONGEST_PAUSE = 30.0
#: Statuses of which the service says when to send the request again, and before which it has done nothing.
RETRIED = {429, 503}

#: Name that the service has given to something.
Id = uuid.UUID | str
#: A file to upload: its path, or its name with its content.
File = Union[str, Path, "tuple[str, bytes | BinaryIO]"]
Parts = list[tuple[str, tuple[Any, ...]]]

_ASK_EVENT: TypeAdapter[models.AskEvent] = TypeAdapter(models.AskEvent)
_JOB_EVENT: TypeAdapter[models.JobEvent] = TypeAdapter(models.JobEvent)


def server_of(server: str | None) -> str:
    """The address of the service: as given, else of `CITED_SERVER`, else on this machine."""
    return (server or os.environ.get("CITED_SERVER") or DEFAULT_SERVER).rstrip("/")


def headers_of(api_key: str | None) -> dict[str, str]:
    """Headers of every request; the key is the one given, else that of `CITED_API_KEY`."""
    key = api_key or os.environ.get("CITED_API_KEY")
    return {"authorization": f"Bearer {key}"} if key else {}


def query(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that have a value, as they are written in a URL."""
    kept = {name: value for name, value in values.items() if value is not None}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in kept.items()}


def part(value: Id) -> str:
    """A name as a part of a path."""
    return quote(str(value), safe="")


def named(idempotency_key: str | None) -> dict[str, str]:
    """The header that lets a request be sent again without doing anything twice."""
    return {"idempotency-key": idempotency_key or str(uuid.uuid4())}


def retry_after(response: httpx.Response) -> float | None:
    """Seconds after which the request may be sent again."""
    try:
        return float(response.headers["retry-after"])
    except (KeyError, ValueError):
        return None


def failure(response: httpx.Response) -> errors.ApiError:
    """The error of a response that has been read."""
    try:
        body = response.json()
    except ValueError:
        body = None
    return errors.from_body(body, response.status_code, retry_after(response))


def pause(response: httpx.Response, attempt: int) -> float | None:
    """Seconds before the request is sent again; `None` if that makes no sense."""
    if response.status_code not in RETRIED:
        return None
    seconds = retry_after(response)
    return None if seconds is None or seconds > LONGEST_PAUSE else max(seconds, 0.5 * 2**attempt)


def ask_event(event: ServerSentEvent) -> models.AskEvent:
    """An event of an ask; an `error` is raised."""
    data = json.loads(event.data)
    if event.event == "error":
        raise errors.from_body(data, data.get("status", 500))
    return _ASK_EVENT.validate_python({"event": event.event, "data": data})


def job_event(event: ServerSentEvent) -> models.JobEvent:
    """An event of a job."""
    return _JOB_EVENT.validate_python({"event": event.event, "data": json.loads(event.data)})


def parts_of(files: Iterable[File], fields: Mapping[str, Any]) -> Parts:
    """The parts of an upload. Files are read, so that the request can be sent again."""
    parts: Parts = [(name, (None, value)) for name, value in fields.items() if value is not None]
    for file in files:
        if isinstance(file, tuple):
            name, content = file
            data = content if isinstance(content, bytes) else content.read()
        else:
            name, data = Path(file).name, Path(file).read_bytes()
        parts.append(("file", (name, data, mimetypes.guess_type(name)[0] or "application/octet-stream")))
    return parts


async def async_sleep(seconds: float) -> None:
    """Waits."""
    await asyncio.sleep(seconds)


def sleep(seconds: float) -> None:
    """Waits."""
    time.sleep(seconds)
