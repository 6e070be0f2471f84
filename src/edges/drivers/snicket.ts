/** Snicket's own gateway. It takes its routes from the status of the Exposures: there is nothing to write. */
import { admitted } from '../admission.ts';
import type { EdgeDriver } from '../driver.ts';
import { loadBalancerAddresses } from '../edge-driver.ts';

/** The driver. */
export const snicket: EdgeDriver = {
  name: 'snicket',
  requires: [],
  reads: [],
  pitfalls: [],
  collision: { sameHost: 'oldest', wildcardWins: false, otherKinds: [] },
  objects: () => [],
  findings: () => [],
  admitted: () => admitted("Snicket's gateway takes its routes from the Exposure itself"),
  addresses: (_live, { edge, service }) => edge.spec.addresses ?? loadBalancerAddresses(service),
};
