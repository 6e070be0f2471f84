/**
 * The error for a write that the API server rejects because the object has changed since it was read.
 */
import { isKubeError, KubeError } from './kube-error.ts';

/**
 * The resourceVersion that a decision was based on is no longer the current one. This is an ordinary outcome of
 * optimistic concurrency: decide again once the watch has delivered the current version.
 */
export class OutdatedError extends KubeError {
  constructor(message: string, cause?: KubeError) {
    super('Conflict', message, { status: cause?.status, cause });
    this.name = 'OutdatedError';
  }
}

/** Reports whether a write was rejected for its resourceVersion or uid, and not for fields of another field manager. */
export function isVersionConflict(error: unknown): error is KubeError {
  return isKubeError(error, 'Conflict') && error.causes.length === 0;
}
