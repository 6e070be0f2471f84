/**
 * The fields of EndpointSlices that Snicket reads and writes.
 */
import type { KubeObject } from '../object.ts';
import type { AddressFamily } from './endpoint-address.ts';

/** An EndpointSlice. */
export interface EndpointSlice extends KubeObject {
  /** Immutable. */
  readonly addressType: AddressFamily;
  readonly ports: readonly EndpointPort[];
  /** The API server may return null. */
  readonly endpoints: readonly Endpoint[] | null;
}

/** A port of a slice, for all its endpoints. */
export interface EndpointPort {
  /** The name of the Service port. */
  readonly name: string;
  readonly port: number;
  readonly protocol: 'TCP';
}

/** An endpoint of a slice. */
export interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: {
    /** Absent means true. */
    readonly ready?: boolean;
    readonly serving?: boolean;
    readonly terminating?: boolean;
  };
  readonly nodeName?: string;
  readonly hints?: { readonly forNodes: readonly { readonly name: string }[] };
}

/** The maximum number of endpoints in a slice. */
export const MAX_SLICE_ENDPOINTS = 1000;

/** The label that links a slice to its Service, by name. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

/** The label that marks a slice as managed by Snicket, so that the EndpointSlice controller ignores it. */
export const SLICE_MANAGED_BY = {
  'endpointslice.kubernetes.io/managed-by': 'snicket.dev',
} as const;

/** Reports whether an endpoint is ready for connections. */
export function isReady({ conditions }: Endpoint): boolean {
  return conditions?.ready !== false;
}

/** Returns an endpoint with this address, ready or not. */
export function endpointAt(address: string, ready = true): Endpoint {
  return {
    addresses: [address],
    conditions: { ready, serving: ready, terminating: false },
  };
}
