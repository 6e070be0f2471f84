/**
 * A Secret that was read for an Exposure. Secrets are not watched: the operator reads them again from time to time.
 */
import type { ObjectKey } from '../kube/object.ts';

/** Which Secret, in which version. */
export interface ReadSecret {
  readonly key: ObjectKey;
  /** Its resourceVersion. Absent: it did not exist. */
  readonly version: string | undefined;
}
