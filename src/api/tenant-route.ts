/**
 * TenantRoute: a host on an Edge, and the Service port behind it. The operator writes TenantRoutes, the gateway serves
 * them, and both derive from them which Exposure owns a host.
 */
import * as z from 'zod';
import type { KubeObject, ObjectMeta } from '../kube/object.ts';
import { DRIVERS } from './edge.ts';
import { allowedSources, routeLimits } from './route-policy.ts';
import { objectName, type DeepReadonly } from './values/kubernetes-values.ts';
import { host, port } from './values/network-values.ts';

/** The values of `spec.type`: what a host serves. */
const TENANT_ROUTE_TYPES = ['API', 'Konnectivity'] as const;

/** The schema of the spec of a TenantRoute. */
export const tenantRouteSpec = z.strictObject({
  edgeRef: z
    .strictObject({ name: objectName.describe('name is the name of the Edge.') })
    .describe('edgeRef references the Edge that serves the host.'),
  driver: z
    .enum(DRIVERS)
    .describe(
      "driver is the driver of that Edge. Snicket's gateway serves the TenantRoutes of driver snicket.",
    ),
  exposureRef: z
    .strictObject({ name: objectName.describe('name is the name of the Exposure.') })
    .describe(
      'exposureRef references the Exposure, in the same namespace, that the host belongs to. Unlike an owner reference it survives a restore from backup.',
    ),
  host: host.describe('host is the DNS name that clients send in the TLS ClientHello.'),
  type: z.enum(TENANT_ROUTE_TYPES).describe('type is what the host serves: API or Konnectivity.'),
  backend: z
    .strictObject({
      service: z
        .strictObject({
          name: objectName.describe(
            'name is the name of the Service, in the namespace of the TenantRoute.',
          ),
          port: port.describe('port is the port of the Service.'),
          portName: z
            .string()
            .max(63)
            .optional()
            .describe('portName is the name of that port in EndpointSlices. Defaults to no name.'),
        })
        .describe('service is the Service in front of the control plane.'),
    })
    .describe('backend is the destination of connections to the host.'),
  limits: routeLimits
    .optional()
    .describe(
      'limits sets connection limits of the host on the gateway. Defaults to the limits of the gateway.',
    ),
  allowedSources: allowedSources
    .optional()
    .describe(
      'allowedSources lists the networks that clients may connect from. Defaults to all networks.',
    ),
});

/** The spec of a TenantRoute. */
export type TenantRouteSpec = DeepReadonly<z.output<typeof tenantRouteSpec>>;

/** A TenantRoute. */
export interface TenantRoute extends KubeObject {
  readonly metadata: ObjectMeta;
  readonly spec: TenantRouteSpec;
}
