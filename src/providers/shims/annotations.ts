/**
 * The annotations with which a provider's object requests an Exposure.
 */

/** The annotation with the name of the Edge, on an object of any provider. */
export const EDGE_ANNOTATION = 'snicket.dev/edge';

/** The value of {@link EDGE_ANNOTATION} for the default Edge. */
export const DEFAULT_EDGE_VALUE = '';

/** The annotation of an Exposure with the name of the annotation that requests it. Default: {@link EDGE_ANNOTATION}. */
export const REQUESTED_BY_ANNOTATION = 'snicket.dev/requested-by';

/** The annotation of Kamaji's closed-source addon on a TenantControlPlane: the domain of its hosts. */
export const KAMAJI_DOMAIN_ANNOTATION = 'kamaji.clastix.io/ingress.domain';
