/**
 * Why a call to an API server failed, told apart by what a caller can do about it.
 */

/**
 * The reasons:
 * - `Conflict`: another version, another uid, or fields of another manager (409)
 * - `AlreadyExists` (409), `NotFound` (404), `Invalid` (400, 422), `Forbidden` (403), `Unauthorized` (401)
 * - `Expired`: the resourceVersion is gone, list anew (410)
 * - `Throttled`: too many requests, see `retryAfterMs` (429)
 * - `ServerError` (5xx and whatever else is not meant to be)
 * - `Unreachable`: no connection, reset, broken off
 * - `Untrusted`: the certificate is not the right one
 * - `TimedOut`: no answer in time
 * - `Aborted`: by the caller's signal
 * - `Malformed`: an answer that is no answer
 */
export const KUBE_ERROR_REASONS = [
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

/** One thing that a server found wrong: an item of `details.causes` of its Status. */
export interface StatusCause {
  /** As `FieldManagerConflict`. */
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** As `.spec.replicas`. */
  readonly field?: string | undefined;
}

/** Options of a {@link KubeError}. */
export interface KubeErrorOptions {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly causes?: readonly StatusCause[] | undefined;
  readonly cause?: unknown;
}

/** A failed call. Its message names the call, the server and what the server said, and no credential. */
export class KubeError extends Error {
  readonly reason: KubeErrorReason;
  /** Of the HTTP answer, if there was one. */
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** What the server found wrong, one by one: it is here that an apply's Conflict names managers and fields. */
  readonly causes: readonly StatusCause[];

  constructor(reason: KubeErrorReason, message: string, options: KubeErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'KubeError';
    this.reason = reason;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.causes = options.causes ?? [];
  }
}

/** Whether this is a failed call, for one of these reasons if any are given. */
export function isKubeError(
  error: unknown,
  ...reasons: readonly KubeErrorReason[]
): error is KubeError {
  return error instanceof KubeError && (reasons.length === 0 || reasons.includes(error.reason));
}
