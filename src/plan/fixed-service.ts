/**
 * The Service in front of a control plane with fixed addresses, so that every driver has a backend Service. It has no
 * selector: Snicket writes its EndpointSlices.
 */
import type { ControlPlaneSpec } from '../api/exposure.ts';
import { exposureLabelValue } from '../edges/names.ts';
import type { ListenAddress } from '../net/listen-address.ts';
import type { KubeObject } from '../kube/object.ts';
import {
  canonicalAddress,
  endpointAddressFault,
  familyOf,
  isLoopback,
} from '../kube/endpoints/endpoint-address.ts';
import {
  endpointAt,
  SERVICE_NAME_LABEL,
  SLICE_MANAGED_BY,
  type EndpointSlice,
} from '../kube/endpoints/endpoint-slice.ts';
import type { ControlPlane, ServicePort } from './control-plane.ts';
import type { Finding } from '../api/finding.ts';

/** The addresses, such as `10.0.0.5:6443` and `[fd00::5]:6443`. */
type FixedEndpoints = NonNullable<ControlPlaneSpec['endpoints']>;

/**
 * Where the edge itself listens. A route from the edge to these addresses would be a loop that uses up all connections.
 */
interface EdgeListeners {
  /** The IP addresses or host names that clients dial. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** The addresses of the edge's Service in this cluster. All ports of these addresses belong to the edge. */
  readonly clusterAddresses: readonly string[];
  /**
   * Whether the gateway runs on the same machine as the control plane and can dial its loopback addresses. Default: no.
   */
  readonly isGatewayHere?: boolean | undefined;
  /** Reports whether the gateway itself listens at an address of that machine. Default: unknown. */
  readonly isGatewayAt?: ((address: ListenAddress) => boolean) | undefined;
}

const API: ServicePort = { portName: 'api', port: 6443 };
const KONNECTIVITY: ServicePort = { portName: 'konnectivity', port: 8132 };

/** Returns the Service that {@link fixedServiceObjects} creates for the Exposure with this name. */
export function fixedService(
  exposure: string,
  { konnectivity }: FixedEndpoints,
): ControlPlane['service'] {
  return {
    name: serviceName(exposure),
    api: API,
    ...(konnectivity !== undefined && { konnectivity: KONNECTIVITY }),
  };
}

/**
 * Returns the Service, and an EndpointSlice for each port and address family: all endpoints of a slice share the same
 * port.
 */
export function fixedServiceObjects(
  { name: exposure, namespace }: { readonly name: string; readonly namespace: string },
  endpoints: FixedEndpoints,
  edge: EdgeListeners,
): readonly KubeObject[] {
  const { name, api, konnectivity } = fixedService(exposure, endpoints);
  const ports = konnectivity === undefined ? [api] : [api, konnectivity];
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { ports: ports.map(({ portName, port }) => ({ name: portName, port, protocol: 'TCP' })) },
  };
  const usable = (addresses: readonly string[] = []) =>
    addresses.filter((address) => !isEdge(address, edge) && faultOf(address, edge) === undefined);
  return [
    service,
    ...slicesOf({ name, namespace }, api, usable(endpoints.api)),
    ...slicesOf({ name, namespace }, KONNECTIVITY, usable(endpoints.konnectivity)),
  ];
}

/**
 * Returns the findings about addresses that the API server rejects as endpoints, and about those of the edge itself.
 */
export function fixedServiceFindings(
  { api, konnectivity = [] }: FixedEndpoints,
  edge: EdgeListeners,
): readonly Finding[] {
  return [...api, ...konnectivity].flatMap((endpoint) => {
    const fault = faultOf(endpoint, edge);
    if (fault !== undefined) return [unusable(endpoint, fault)];
    return isEdge(endpoint, edge) ? [edgeLoop(endpoint)] : [];
  });
}

function faultOf(endpoint: string, { isGatewayHere = false }: EdgeListeners): string | undefined {
  const { address } = split(endpoint);
  return isGatewayHere && isLoopback(address) ? undefined : endpointAddressFault(address);
}

function isEdge(endpoint: string, edge: EdgeListeners): boolean {
  const { addresses, port, clusterAddresses, isGatewayAt } = edge;
  const { address, port: at } = split(endpoint);
  const includesAddress = (addresses: readonly string[]) =>
    addresses.some((edgeAddress) => canonicalAddress(edgeAddress) === canonicalAddress(address));
  return (
    includesAddress(clusterAddresses) ||
    (at === port && includesAddress(addresses)) ||
    isGatewayAt?.({ address: canonicalAddress(address), port: at }) === true
  );
}

function edgeLoop(endpoint: string): Finding {
  return {
    code: 'FieldInvalid',
    severity: 'error',
    message: `Address ${endpoint} in spec.controlPlane.endpoints is the edge itself, so connections would loop.`,
    action: "Set the addresses at which the tenant's own servers listen.",
  };
}

function unusable(endpoint: string, fault: string): Finding {
  return {
    code: 'FieldInvalid',
    severity: 'error',
    message: `Address ${endpoint} in spec.controlPlane.endpoints is ${fault}, which a Service cannot have as an endpoint.`,
    action: 'Set an address that pods of this cluster can dial.',
  };
}

function slicesOf(
  service: { readonly name: string; readonly namespace: string },
  { portName }: ServicePort,
  endpoints: readonly string[],
): readonly EndpointSlice[] {
  const slices = new Map<string, EndpointSlice>();
  for (const endpoint of endpoints) {
    const { address, port } = split(endpoint);
    const family = familyOf(address);
    if (family === undefined) continue;
    const name = [service.name, portName, family.toLowerCase(), port].join('-');
    const before = slices.get(name)?.endpoints ?? [];
    slices.set(name, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name,
        namespace: service.namespace,
        labels: { ...SLICE_MANAGED_BY, [SERVICE_NAME_LABEL]: service.name },
      },
      addressType: family,
      ports: [{ name: portName, port, protocol: 'TCP' }],
      endpoints: [...before, endpointAt(canonicalAddress(address))],
    });
  }
  return [...slices.values()];
}

function split(endpoint: string): { readonly address: string; readonly port: number } {
  const colon = endpoint.lastIndexOf(':');
  const address = endpoint.slice(0, colon).replaceAll(/[[\]]/g, '');
  return { address, port: Number(endpoint.slice(colon + 1)) };
}

/**
 * The name must be valid as a label value too, since EndpointSlices reference their Service by a label. Both have at
 * most 63 characters.
 */
function serviceName(exposure: string): string {
  return exposureLabelValue(`snicket-${exposure}`);
}
