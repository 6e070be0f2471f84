/**
 * The finalizers of an Exposure, each put there before the first write that it stands for.
 */

/** Holds a deleted Exposure until the objects of its provider are as they were. */
export const PREPARATION_FINALIZER = 'snicket.dev/preparation';

/** Holds it until its routes are gone. */
export const ROUTES_FINALIZER = 'snicket.dev/routes';

/** Holds it until its tenant is as it was, or cannot be reached for too long. */
export const TENANT_FINALIZER = 'snicket.dev/tenant';
