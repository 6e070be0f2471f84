/**
 * How much a client takes from a server.
 */

/** The limits of a client. What exceeds one is an error, `Malformed`, that names it. */
export interface ClientLimits {
  /** Of one answer. */
  readonly answerBytes: number;
  /** Of the answers to all pages of a list. */
  readonly listBytes: number;
  readonly listPages: number;
  /** What a page is asked to have at most. */
  readonly pageObjects: number;
  /** Of one event of a watch. */
  readonly lineBytes: number;
}

const MB = 1024 * 1024;

/** For a server that is as trusted as Snicket is. */
export const DEFAULT_LIMITS: ClientLimits = {
  // 500 nodes with all their images are a third of this.
  answerBytes: 64 * MB,
  listBytes: Number.POSITIVE_INFINITY,
  // A list of half a million objects is none that Snicket has a use for.
  listPages: 1000,
  // As client-go asks for: large enough to be few, small enough to be kind to the server.
  pageObjects: 500,
  // etcd takes 1.5 MB for an object; whatever is far above that is no event.
  lineBytes: 16 * MB,
};

/**
 * For the server of a tenant, which may send whatever it likes, and is one of a thousand. There is room for the largest
 * cluster that Kubernetes supports: 5,000 nodes, each of 40 KB in a page, of 12 KB on the average.
 */
export const TENANT_LIMITS: ClientLimits = {
  answerBytes: 4 * MB,
  listBytes: 64 * MB,
  listPages: 100,
  pageObjects: 50,
  lineBytes: 2 * MB,
};
