/**
 * The labels by which everything that Snicket made is found again.
 */

/** On every object, in either cluster. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'snicket' } as const;

/** In the management cluster: the name of the Exposure, which is in the same namespace. */
export const EXPOSURE_LABEL = 'snicket.dev/exposure';
