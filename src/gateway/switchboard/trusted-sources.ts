/**
 * From whom a PROXY header of a load balancer is wanted: `--proxy-protocol`.
 */

/** Nobody, everybody, or the addresses in these networks. Plain data, for other threads. */
export type ProxyProtocol = 'nobody' | 'everybody' | readonly string[];
