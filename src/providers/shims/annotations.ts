/**
 * The annotations by which an object asks for an Exposure.
 */

/** On an object of any provider: the name of the Edge. */
export const EDGE_ANNOTATION = 'snicket.dev/edge';

/** As a value of {@link EDGE_ANNOTATION}: whichever Edge is the default one. */
export const DEFAULT_EDGE_VALUE = '';

/** On a TenantControlPlane of Kamaji, as its closed addon reads it: the domain below which its hosts are. */
export const KAMAJI_DOMAIN_ANNOTATION = 'kamaji.clastix.io/ingress.domain';
