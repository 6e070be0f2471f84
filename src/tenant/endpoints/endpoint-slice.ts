/**
 * EndpointSlices: what of them is read and written.
 */
import type { KubeObject } from '../../kube/object.ts';
import type { AddressFamily } from './endpoint-address.ts';

/** An EndpointSlice. */
export interface EndpointSlice extends KubeObject {
  /** Immutable. */
  readonly addressType: AddressFamily;
  readonly ports: readonly EndpointPort[];
  /** Null as the server may have it. */
  readonly endpoints: readonly Endpoint[] | null;
}

/** A port of all endpoints of a slice. */
export interface EndpointPort {
  /** That of the Service's port. */
  readonly name: string;
  readonly port: number;
  readonly protocol: 'TCP';
}

/** One address. */
export interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: {
    /** Absent: it is. */
    readonly ready?: boolean;
    readonly serving?: boolean;
    readonly terminating?: boolean;
  };
  readonly nodeName?: string;
  readonly hints?: { readonly forNodes: readonly { readonly name: string }[] };
}

/** The most that an API server takes in one slice. */
export const MAX_SLICE_ENDPOINTS = 1000;

/** Connects a slice to its Service, by the Service's name. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

/** Keeps the EndpointSlice controller away from a slice: it belongs to this writer. */
export const SLICE_MANAGED_BY = {
  'endpointslice.kubernetes.io/managed-by': 'snicket.dev',
} as const;

/** Whether it takes connections. */
export function isReady({ conditions }: Endpoint): boolean {
  return conditions?.ready !== false;
}

/** An endpoint that takes connections, or does not. */
export function endpointAt(address: string, ready = true): Endpoint {
  return {
    addresses: [address],
    conditions: { ready, serving: ready, terminating: false },
  };
}
