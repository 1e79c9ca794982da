"""Sends requests, again where the service asks for it, and turns failures into errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TypeVar

import httpx
from httpx_sse import EventSource, ServerSentEvent
from pydantic import BaseModel
from typing_extensions import Self

from .. import _calls, errors

Model = TypeVar("Model", bound=BaseModel)


class Transport:
    """A connection to one service."""

    def __init__(
        self,
        server: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = _calls.DEFAULT_TIMEOUT,
        max_retries: int = 2,
        http_client: httpx.Client | None = None,
    ) -> None:
        self.server = _calls.server_of(server)
        self._headers = _calls.headers_of(api_key)
        self._timeout = timeout
        self._max_retries = max_retries
        self._http = http_client or httpx.Client(follow_redirects=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {**self._headers, **options.pop("headers", {})}
        may_repeat = method == "GET" or "idempotency-key" in headers
        # A stream that has been sent in part cannot be sent again.
        max_retries = 0 if "content" in options else self._max_retries
        for attempt in range(max_retries + 1):
            is_last = attempt == max_retries
            try:
                response = self._http.request(
                    method, self.server + path, headers=headers, timeout=self._timeout, **options
                )
            except httpx.TransportError as error:
                if is_last or not may_repeat:
                    raise errors.ConnectionFailed(f"{self.server} does not answer: {error}") from error
                _calls.sleep(0.5 * 2**attempt)
                continue
            seconds = None if is_last else _calls.pause(response, attempt)
            if seconds is None:
                if response.is_error:
                    raise _calls.failure(response)
                return response
            _calls.sleep(seconds)
        raise AssertionError("the last attempt ends")

    def _call(self, model: type[Model], method: str, path: str, **options: Any) -> Model:
        response = self._send(method, path, **options)
        return model.model_validate_json(response.content)

    @contextmanager
    def _lines(self, path: str) -> Iterator[Iterator[str]]:
        try:
            with self._http.stream(
                "GET", self.server + path, headers=self._headers, timeout=self._timeout
            ) as response:
                if response.is_error:
                    response.read()
                    raise _calls.failure(response)
                yield response.iter_lines()
        except httpx.TransportError as error:
            raise errors.ConnectionFailed(f"the response of {self.server} broke off: {error}") from error

    @contextmanager
    def _events(self, method: str, path: str, **options: Any) -> Iterator[Iterator[ServerSentEvent]]:
        headers = {**self._headers, "accept": "text/event-stream", **options.pop("headers", {})}
        # The service sends a comment every few seconds, so silence is a broken connection.
        timeout = httpx.Timeout(self._timeout, read=min(self._timeout, 60.0))
        try:
            with self._http.stream(
                method, self.server + path, headers=headers, timeout=timeout, **options
            ) as response:
                if response.is_error:
                    response.read()
                    raise _calls.failure(response)
                yield _with_data(EventSource(response).iter_sse())
        except httpx.TransportError as error:
            raise errors.ConnectionFailed(f"the stream of {self.server} broke off: {error}") from error


def _with_data(events: Iterator[ServerSentEvent]) -> Iterator[ServerSentEvent]:
    """The events without those that only say when to connect again."""
    for event in events:
        if event.data:
            yield event
