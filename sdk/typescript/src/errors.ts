/** The errors that calls throw. */

import type { AskProblem, CitationValidationProblem, FieldError, Problem } from "./schema.js";

/** Every error of this package. */
export class CitedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The service cannot be reached, or a stream broke off. */
export class ConnectionFailed extends CitedError {}

/** The service refused or failed: a problem document (RFC 9457). */
export class ApiError<P extends Problem = AskProblem> extends CitedError {
  /** HTTP status. */
  readonly status: number;
  /** Stable name of the kind of problem, such as `not_found`. */
  readonly code: string;

  constructor(
    readonly problem: P,
    /** Seconds after which the request may be sent again, if the service said so. */
    readonly retryAfter: number | null = null,
  ) {
    super(`${problem.status} ${problem.code}: ${problem.detail}`);
    this.status = problem.status;
    this.code = problem.code;
  }
}

/** 401: no valid key. */
export class AuthenticationError extends ApiError {}
/** 403: the key does not allow this. */
export class PermissionDeniedError extends ApiError {}
/** 404: there is no such thing, or the key may not see it. */
export class NotFoundError extends ApiError {}
/** 409: the request does not fit the state of what it names. */
export class ConflictError extends ApiError {}
/** 413: the body is too large, or the ask is over its budget. */
export class TooLargeError extends ApiError {}
/** 422 `invalid_request`: values are wrong; `errors` names each. */
export class InvalidRequestError extends ApiError<Problem> {
  get errors(): FieldError[] {
    return this.problem.errors ?? [];
  }
}
/** 422 `citation_validation`: the citations of the answer were still wrong after the retry. */
export class CitationValidationError extends ApiError<CitationValidationProblem> {}
/** 429: too many requests, or the queue is full; see `retryAfter`. */
export class RateLimitedError extends ApiError {}
/** 503: a model or the database cannot be reached. */
export class UnavailableError extends ApiError {}
/** 504: the time limit was reached. */
export class DeadlineError extends ApiError {}

const BY_STATUS: Record<number, typeof ApiError<AskProblem>> = {
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  413: TooLargeError,
  429: RateLimitedError,
  503: UnavailableError,
  504: DeadlineError,
};

/** The error for the body of a failure, whatever sent it. */
export function errorOf(body: unknown, status: number, retryAfter: number | null = null): ApiError<Problem> {
  const Kind = BY_STATUS[status] ?? ApiError<AskProblem>;
  if (typeof body !== "object" || body === null || !("code" in body)) {
    const problem: AskProblem = {
      type: "about:blank",
      title: "The response is no problem document",
      status,
      detail: "something between this client and the service answered in its place; check the address",
      code: "unexpected_response",
    };
    return new Kind(problem, retryAfter);
  }
  if (body.code === "citation_validation") return new CitationValidationError(body as CitationValidationProblem, retryAfter);
  if (body.code === "invalid_request") return new InvalidRequestError(body as Problem, retryAfter);
  return new Kind(body as AskProblem, retryAfter);
}
