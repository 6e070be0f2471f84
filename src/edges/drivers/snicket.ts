/** Snicket's own gateway. It serves the TenantRoutes, so the driver writes no objects. */
import { admitted } from '../admission.ts';
import type { EdgeDriver } from '../driver.ts';
import { loadBalancerAddresses } from '../edge-driver.ts';

/** The driver snicket. */
export const snicket: EdgeDriver = {
  name: 'snicket',
  requires: [],
  reads: [],
  pitfalls: [],
  collision: { sameHost: 'oldest', wildcardWins: false, otherKinds: [] },
  objects: () => [],
  findings: () => [],
  admitted: () => admitted("Snicket's gateway serves the TenantRoutes of this Exposure"),
  addresses: (_live, { edge, service }) => edge.spec.addresses ?? loadBalancerAddresses(service),
};
