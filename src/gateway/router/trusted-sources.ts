/** The `--proxy-protocol` option: which sources must send the PROXY header of a load balancer. */

/** No source, every source, or the sources in these networks. Plain data that can be sent to other threads. */
export type ProxyProtocol = 'none' | 'all' | readonly string[];
