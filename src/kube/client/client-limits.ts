/**
 * Limits on the responses that a client accepts.
 */

/** The limits of a client. A response that exceeds one fails with `Malformed` and the name of the limit. */
export interface ClientLimits {
  /** Maximum size of one response. */
  readonly responseBytes: number;
  /** Maximum total size of all pages of a list. */
  readonly listBytes: number;
  readonly listPages: number;
  /** The `limit` of a page. */
  readonly pageObjects: number;
  /** Maximum size of one watch event. */
  readonly lineBytes: number;
}

const MB = 1024 * 1024;

/** The limits for a trusted API server. */
export const DEFAULT_LIMITS: ClientLimits = {
  // 500 nodes with all their images are a third of this.
  responseBytes: 64 * MB,
  listBytes: Number.POSITIVE_INFINITY,
  // Snicket has no use for a list of half a million objects.
  listPages: 1000,
  // As in client-go: few requests, without overloading the server.
  pageObjects: 500,
  // etcd limits objects to 1.5 MB. An event far above that is invalid.
  lineBytes: 16 * MB,
};

/**
 * The limits for the API server of a tenant, which is not trusted and is one of a thousand. They suffice for the
 * largest cluster that Kubernetes supports: 5,000 nodes of 12 KB on average, or 40 KB each in a page.
 */
export const TENANT_LIMITS: ClientLimits = {
  responseBytes: 4 * MB,
  listBytes: 64 * MB,
  listPages: 100,
  pageObjects: 50,
  lineBytes: 2 * MB,
};
