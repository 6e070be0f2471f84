/** No controller that Snicket configures: users create the routes themselves. */
import type { EdgeDriver } from '../driver.ts';
import { routesIn } from '../edge-driver.ts';

/** The driver None. */
export const none: EdgeDriver = {
  name: 'None',
  requires: [],
  reads: [],
  pitfalls: [],
  collision: { sameHost: 'unknown', wildcardWins: false, otherKinds: [] },
  objects: () => [],
  findings: () => [],
  admitted(routes, _live, { edge }) {
    const wanted = routesIn(routes).map(
      ({ host, service, port }) =>
        `${host}:${edge.spec.port} to port ${port} of Service ${service}`,
    );
    return {
      state: 'Unknown',
      code: 'NoStatus',
      message: `Edge ${edge.metadata.name} has driver None, so you create the routes, with TLS passthrough: ${wanted.join(', ')}. No TLS handshake through the edge has succeeded yet.`,
      action: 'Create the routes.',
    };
  },
  addresses: (_live, { edge }) => edge.spec.addresses ?? [],
};
