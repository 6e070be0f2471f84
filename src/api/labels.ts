/**
 * The labels of the objects that Snicket manages.
 */

/** The label of every object that Snicket creates, in the management cluster and in tenants. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'snicket' } as const;

/**
 * The label with the name of the Exposure, on objects in the management cluster. The Exposure is in the same namespace.
 */
export const EXPOSURE_LABEL = 'snicket.dev/exposure';

/**
 * The label of a previous TenantRoute: its Exposure has moved to another host, Edge or driver, and the TenantRoute stays
 * until the move is complete.
 */
export const PREVIOUS_LABEL = { 'snicket.dev/previous': 'true' } as const;
