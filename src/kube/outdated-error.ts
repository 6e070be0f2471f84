/**
 * A write that the API server refuses because the object has changed since it was read.
 */
import { isKubeError, KubeError } from './kube-error.ts';

/**
 * A decision was based on a resourceVersion that is not the current one any more. This is an ordinary outcome of optimistic
 * concurrency: decide again once the watch has delivered the current version.
 */
export class OutdatedError extends KubeError {
  constructor(message: string, cause?: KubeError) {
    super('Conflict', message, { status: cause?.status, cause });
    this.name = 'OutdatedError';
  }
}

/** Whether a write was refused for its resourceVersion or uid, and not for fields of another field manager. */
export function isVersionConflict(error: unknown): error is KubeError {
  return isKubeError(error, 'Conflict') && error.causes.length === 0;
}
