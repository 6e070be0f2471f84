/**
 * The errors of API calls, by what the caller can do about them.
 */

/**
 * The reasons:
 * - `Conflict`: another version, another uid, or fields of another manager (409)
 * - `AlreadyExists` (409), `NotFound` (404), `Invalid` (400, 422), `Forbidden` (403), `Unauthorized` (401)
 * - `Expired`: the resourceVersion is no longer available, list again (410)
 * - `Throttled`: too many requests, see `retryAfterMs` (429)
 * - `ServerError`: 5xx and other unexpected statuses
 * - `Unreachable`: no connection, connection reset, or response incomplete
 * - `Untrusted`: the server's certificate is not valid
 * - `TimedOut`: no response in time
 * - `Aborted`: by the caller's signal
 * - `Malformed`: not a valid response of an API server
 */
const KUBE_ERROR_REASONS = [
  'Conflict',
  'AlreadyExists',
  'NotFound',
  'Invalid',
  'Forbidden',
  'Unauthorized',
  'Expired',
  'Throttled',
  'ServerError',
  'Unreachable',
  'Untrusted',
  'TimedOut',
  'Aborted',
  'Malformed',
] as const;
/** One of {@link KUBE_ERROR_REASONS}. */
export type KubeErrorReason = (typeof KUBE_ERROR_REASONS)[number];

/** A cause of a failure: an item of `details.causes` of the server's Status. */
export interface StatusCause {
  /** For example `FieldManagerConflict`. */
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** For example `.spec.replicas`. */
  readonly field?: string | undefined;
}

interface KubeErrorOptions {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly statusMessage?: string | undefined;
  readonly causes?: readonly StatusCause[] | undefined;
  readonly cause?: unknown;
}

/** A failed call. Its message names the call, the server and the server's message, and contains no credentials. */
export class KubeError extends Error {
  readonly reason: KubeErrorReason;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** The message of the Status in the response. Undefined if the response is not a Status, which an API server sends. */
  readonly statusMessage: string | undefined;
  /** The causes that the server reported. For the Conflict of an apply, they name managers and fields. */
  readonly causes: readonly StatusCause[];

  constructor(reason: KubeErrorReason, message: string, options: KubeErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'KubeError';
    this.reason = reason;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.statusMessage = options.statusMessage;
    this.causes = options.causes ?? [];
  }
}

/** Reports whether this is a KubeError with one of the reasons, or with any reason if none is given. */
export function isKubeError(
  error: unknown,
  ...reasons: readonly KubeErrorReason[]
): error is KubeError {
  return error instanceof KubeError && (reasons.length === 0 || reasons.includes(error.reason));
}
