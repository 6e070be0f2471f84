/**
 * endpoints: the tenant's Service `default/kubernetes` has the planned endpoints, and no other writer.
 */
import type { KubeObject, ManagedFields } from '../../kube/object.ts';
import { canonicalAddress } from '../../kube/endpoints/endpoint-address.ts';
import { isReady, type Endpoint, type EndpointSlice } from '../../kube/endpoints/endpoint-slice.ts';
import { hopResult, notApplicable, type HopResult } from '../hop.ts';

/** The desired and the live slices of the Service. */
export interface EndpointsInput {
  readonly planned: readonly EndpointSlice[];
  /** All slices with the Service's name in their label, of any owner. */
  readonly live: readonly EndpointSlice[];
  /** Whether working endpoints of another controller stay until a proxy is ready. Default false. */
  readonly isHandoverPending?: boolean;
}

/** The target of {@link judgeEndpoints}. */
export const ENDPOINTS_TARGET = 'EndpointSlice default/kubernetes';

/** The field manager of Snicket's operator. */
const FIELD_MANAGER = 'snicket';

/** The fields that determine where connections go, as in managedFields. */
const ROUTING_FIELDS = ['f:endpoints', 'f:ports'];

/** Returns the result for the slices. */
export function judgeEndpoints({
  planned,
  live,
  isHandoverPending = false,
}: EndpointsInput): HopResult {
  if (isHandoverPending) {
    const message = 'The previous endpoints stay until a proxy is ready.';
    return notApplicable('endpoints', ENDPOINTS_TARGET, message);
  }
  for (const desired of planned) {
    const slice = live.find(({ metadata }) => metadata.name === desired.metadata.name);
    const fault = slice === undefined ? missing(desired) : difference(desired, slice);
    if (fault !== undefined) return fault;
  }
  const names = new Set(planned.map(({ metadata }) => metadata.name));
  const foreign = live.find((slice) => !names.has(slice.metadata.name) && takesConnections(slice));
  if (foreign !== undefined) return foreignSlice(foreign);
  const addresses = planned.flatMap(addressesOf);
  return hopResult(
    'endpoints',
    'Passed',
    ENDPOINTS_TARGET,
    `The Service points to ${countText(addresses)}.`,
  );
}

function missing(desired: EndpointSlice): HopResult {
  const slice = sliceText(desired);
  return hopResult('endpoints', 'NotReconciled', ENDPOINTS_TARGET, `${slice} does not exist.`);
}

function difference(desired: EndpointSlice, live: EndpointSlice): HopResult | undefined {
  if (routingKey(desired) === routingKey(live)) return undefined;
  const slice = sliceText(live);
  const manager = otherWriter(live);
  const [actual, planned] = [countText(endpointTexts(live)), countText(endpointTexts(desired))];
  const instead =
    actual === planned
      ? `points to ${actual} as planned, but differs in readiness, node names, hints or port names`
      : `points to ${actual} instead of ${planned}`;
  if (manager === undefined) {
    return hopResult('endpoints', 'NotReconciled', ENDPOINTS_TARGET, `${slice} ${instead}.`);
  }
  const message = `${slice} was written by ${manager} and ${instead}.`;
  return hopResult('endpoints', 'EndpointsOverwritten', ENDPOINTS_TARGET, message, {
    slice,
    manager,
  });
}

function foreignSlice(live: EndpointSlice): HopResult {
  const slice = sliceText(live);
  const manager = otherWriter(live) ?? 'its creator';
  const message = `${slice}, written by ${manager}, also sends connections to ${countText(addressesOf(live))}.`;
  return hopResult('endpoints', 'EndpointsForeignSlice', ENDPOINTS_TARGET, message, {
    slice,
    manager,
  });
}

/** Returns everything that determines where connections go, in a canonical form. */
function routingKey({ addressType, ports, endpoints, metadata }: EndpointSlice): string {
  const endpointKeys = (endpoints ?? []).map((endpoint) =>
    JSON.stringify([
      endpoint.addresses.map(canonicalAddress),
      isReady(endpoint),
      endpoint.nodeName ?? '',
      endpoint.hints?.forNodes.map(({ name }) => name) ?? [],
    ]),
  );
  const portTexts = (ports ?? []).map(({ name, port, protocol }) => `${name} ${port} ${protocol}`);
  const service = metadata.labels?.['kubernetes.io/service-name'];
  return JSON.stringify([addressType, service, portTexts.toSorted(), endpointKeys.toSorted()]);
}

function takesConnections({ endpoints }: EndpointSlice): boolean {
  return (endpoints ?? []).some(isReady);
}

/** Returns the last field manager other than Snicket that wrote the endpoints or ports. */
function otherWriter({ metadata }: KubeObject): string | undefined {
  const writers = (metadata.managedFields ?? []).filter(
    ({ manager, fieldsV1 = {} }) =>
      manager !== FIELD_MANAGER && ROUTING_FIELDS.some((field) => field in fieldsV1),
  );
  const newest = writers.toSorted((a, b) => timeOf(b) - timeOf(a))[0];
  return newest && (newest.manager ?? 'an unnamed field manager');
}

function timeOf({ time }: ManagedFields): number {
  return time === undefined ? 0 : Date.parse(time);
}

function addressesOf({ endpoints }: EndpointSlice): readonly string[] {
  return (endpoints ?? []).flatMap(({ addresses }: Endpoint) => addresses);
}

/** Returns the endpoints as `host:port`. */
function endpointTexts(slice: EndpointSlice): readonly string[] {
  const { ports } = slice;
  if (ports === undefined || ports.length === 0) return addressesOf(slice);
  return addressesOf(slice).flatMap((address) => {
    const host = address.includes(':') ? `[${address}]` : address;
    return ports.map(({ port }) => `${host}:${port}`);
  });
}

function sliceText({ metadata }: KubeObject): string {
  return `EndpointSlice default/${metadata.name}`;
}

/** Returns the first few addresses, and the number of the others. */
function countText(addresses: readonly string[]): string {
  if (addresses.length === 0) return 'no address';
  const shown = addresses.slice(0, 3).join(', ');
  return addresses.length > 3 ? `${shown} and ${addresses.length - 3} more` : shown;
}
