"""A client of Cited: answers from your own documents, each claim with a checked citation.

from cited import Cited

with Cited() as cited:
    answer = cited.ask("How many days of annual leave do I have?", collections=["handbook"])
"""

from . import models, requests
from ._async.client import AsyncCited
from ._sync.client import Cited
from .errors import (
    ApiError,
    AuthenticationError,
    CitationValidationError,
    CitedError,
    ConflictError,
    ConnectionFailed,
    DeadlineError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    TooLargeError,
    UnavailableError,
)

__all__ = [
    "ApiError",
    "AsyncCited",
    "AuthenticationError",
    "CitationValidationError",
    "Cited",
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
    "models",
    "requests",
]
