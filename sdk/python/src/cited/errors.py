"""The errors that calls raise."""

from __future__ import annotations

from typing import Any

from . import models

__all__ = [
    "ApiError",
    "AuthenticationError",
    "CitationValidationError",
    "CitedError",
    "ConflictError",
    "ConnectionFailed",
    "DeadlineError",
    "InvalidRequestError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitedError",
    "TooLargeError",
    "UnavailableError",
]


class CitedError(Exception):
    """Every error of this package."""


class ConnectionFailed(CitedError):
    """The service cannot be reached, or a stream broke off."""


class ApiError(CitedError):
    """The service refused or failed: a problem document (RFC 9457)."""

    def __init__(self, problem: models.Problem, retry_after: float | None = None) -> None:
        super().__init__(f"{problem.status} {problem.code}: {problem.detail}")
        self.problem = problem
        self.retry_after = retry_after
        """Seconds after which the request may be sent again, if the service said so."""

    @property
    def status(self) -> int:
        """HTTP status."""
        return self.problem.status

    @property
    def code(self) -> str:
        """Stable name of the kind of problem, such as `not_found`."""
        return self.problem.code


class AuthenticationError(ApiError):
    """401: no valid key."""


class PermissionDeniedError(ApiError):
    """403: the key does not allow this."""


class NotFoundError(ApiError):
    """404: there is no such thing, or the key may not see it."""


class ConflictError(ApiError):
    """409: the request does not fit the state of what it names."""


class TooLargeError(ApiError):
    """413: the body is too large, or the ask is over its budget."""


class InvalidRequestError(ApiError):
    """422 `invalid_request`: values are wrong; `errors` names each."""

    @property
    def errors(self) -> list[models.FieldError]:
        """The wrong values."""
        return self.problem.errors or []


class CitationValidationError(ApiError):
    """422 `citation_validation`: the citations of the answer were still wrong after the retry."""

    problem: models.CitationValidationProblem


class RateLimitedError(ApiError):
    """429: too many requests, or the queue is full; see `retry_after`."""


class UnavailableError(ApiError):
    """503: a model or the database cannot be reached."""


class DeadlineError(ApiError):
    """504: the time limit was reached."""


_BY_STATUS: dict[int, type[ApiError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    413: TooLargeError,
    429: RateLimitedError,
    503: UnavailableError,
    504: DeadlineError,
}


def from_body(body: Any, status: int, retry_after: float | None = None) -> ApiError:
    """The error for the body of a failure, whatever sent it."""
    if not isinstance(body, dict) or "code" not in body:
        problem = models.Problem(
            type="about:blank",
            title="The response is no problem document",
            status=status,
            detail="something between this client and the service answered in its place; check the address",
            code="unexpected_response",
        )
        return _BY_STATUS.get(status, ApiError)(problem, retry_after)
    if body["code"] == "citation_validation":
        return CitationValidationError(models.CitationValidationProblem.model_validate(body), retry_after)
    if body["code"] == "invalid_request":
        return InvalidRequestError(models.Problem.model_validate(body), retry_after)
    # The problems of an ask have more members than others, none of which is required.
    return _BY_STATUS.get(status, ApiError)(models.AskProblem.model_validate(body), retry_after)
