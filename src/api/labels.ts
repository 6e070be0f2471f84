/**
 * The labels of the objects that Snicket manages.
 */

/** The label of every object that Snicket creates, in the management cluster and in tenants. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'snicket' } as const;

/**
 * The label with the name of the Exposure, on objects in the management cluster. The Exposure is in the same namespace.
 */
export const EXPOSURE_LABEL = 'snicket.dev/exposure';
