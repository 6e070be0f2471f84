/**
 * The labels by which everything that Snicket made is found again.
 */

/** On every object, in either cluster. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'snicket' } as const;

/** In the management cluster: the name of the Exposure, which is in the same namespace. */
export const EXPOSURE_LABEL = 'snicket.dev/exposure';

/** In a tenant, on the proxies: the Exposure that they are for, as `namespace/name`. A label takes no slash. */
export const HOLDER_ANNOTATION = 'snicket.dev/exposure';

/** Beside it: its uid, for another management cluster may have an Exposure of the same name. */
export const HOLDER_UID_ANNOTATION = 'snicket.dev/exposure-uid';

/** Beside it: the uid of an Exposure of another management cluster that asks for the proxies, and since when. */
export const ASKED_BY_ANNOTATION = 'snicket.dev/asked-by';

/** Beside it: uids of those that have asked, were told no, and are to leave the proxies alone. */
export const REFUSED_ANNOTATION = 'snicket.dev/refused';
