/**
 * A client of Cited: answers from your own documents, each claim with a checked citation.
 *
 * @packageDocumentation
 */

export * from "./client.js";
export {
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
} from "./errors.js";
export type * from "./schema.js";
export type { Options } from "./transport.js";
