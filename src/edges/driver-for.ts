/**
 * The drivers, by name.
 */
import type { Driver } from '../api/edge.ts';
import type { Resource } from '../kube/resource.ts';
import type { EdgeDriver } from './driver.ts';
import { contour } from './drivers/contour.ts';
import { gatewayApi } from './drivers/gateway-api.ts';
import { haproxyIngress } from './drivers/haproxy-ingress.ts';
import { haproxy } from './drivers/haproxy.ts';
import { ingress } from './drivers/ingress.ts';
import { nginxInc } from './drivers/nginx-inc.ts';
import { nginx } from './drivers/nginx.ts';
import { none } from './drivers/none.ts';
import { snicket } from './drivers/snicket.ts';
import { traefik } from './drivers/traefik.ts';

const BY_NAME: Readonly<Record<Driver, EdgeDriver>> = {
  snicket,
  haproxy,
  'haproxy-ingress': haproxyIngress,
  nginx,
  'nginx-inc': nginxInc,
  traefik,
  contour,
  'gateway-api': gatewayApi,
  ingress,
  None: none,
};

/** Returns the driver with this name. */
export function driverFor(name: Driver): EdgeDriver {
  return BY_NAME[name];
}

/** All kinds that drivers write, in all versions, for API discovery. */
export const ROUTE_RESOURCES: readonly Resource[] = [
  ...new Set(Object.values(BY_NAME).flatMap(({ requires }) => requires)),
];
