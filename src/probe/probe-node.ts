/**
 * Probes the hops on the local node: from its pods to its proxy.
 */
import { readFileSync } from 'node:fs';
import type { NodeAddresses } from '../node-address/node-addresses.ts';
import { addressText, dialTcp } from './dial.ts';
import { notApplicable, skippedAfter, type HopResult } from './hop.ts';
import { judgeNodeAddress } from './hops/node-address.ts';
import {
  judgeHealth,
  judgeNodeProxy,
  judgeNodeService,
  POD_NAME,
  type PodHandshake,
} from './hops/node-proxy.ts';
import { listeningAddresses } from './listeners.ts';
import { requestHealth } from './proxy-health.ts';
import { parseAuthorities } from './tls/authorities.ts';
import { shakeHands } from './tls/handshake.ts';

/** An address and port. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** What to probe. */
export interface NodeTarget {
  /** PEM that {@link parseAuthorities} has accepted. */
  readonly tenantCa: string;
  /** The file of the CA, for messages. */
  readonly caFile: string;
  /** Undefined if the proxies are reached by the addresses of their nodes. */
  readonly virtualAddress: string | undefined;
  readonly proxyPort: number;
  readonly healthPort: number;
  /** The address of Service default/kubernetes. */
  readonly service: Endpoint;
}

interface NodeProbeOptions {
  readonly signal: AbortSignal;
  /** The timeout of each step. */
  readonly timeoutMs: number;
  readonly node: Pick<NodeAddresses, 'fault'>;
  /** Returns the addresses with a listener at a port. Default: those of this machine. */
  readonly listeners?: (port: number) => readonly string[];
  /** The time for certificate validity. Default: now. */
  readonly now?: Date;
}

/** Probes the hops, in the order of the path. @throws only the reason of the signal. */
export async function probeNode(
  target: NodeTarget,
  options: NodeProbeOptions,
): Promise<readonly HopResult[]> {
  const { virtualAddress, service } = target;
  const address =
    virtualAddress === undefined
      ? notApplicable('node-address', 'lo', 'The proxies have no virtual address.')
      : judgeNodeAddress(virtualAddress, options.node.fault(virtualAddress));
  const serviceText = addressText(service.address, service.port);
  const proxyAt = { address: virtualAddress ?? '127.0.0.1', port: target.proxyPort };
  if (address.state === 'Fail') {
    const proxyText = addressText(proxyAt.address, proxyAt.port);
    return [
      address,
      skippedAfter('node-proxy', proxyText, 'node-address'),
      skippedAfter('node-service', serviceText, 'node-address'),
    ];
  }
  const proxy = await probeProxy(target, proxyAt, options);
  if (proxy.state !== 'Pass') {
    return [address, proxy, skippedAfter('node-service', serviceText, 'node-proxy')];
  }
  const tenantCas = parseAuthorities(target.tenantCa);
  return [address, proxy, judgeNodeService(await dialAsPod(service, options), tenantCas)];
}

async function probeProxy(
  { tenantCa, caFile: file, healthPort }: NodeTarget,
  at: Endpoint,
  options: NodeProbeOptions,
): Promise<HopResult> {
  const { listeners = listenersHere, now = new Date() } = options;
  const found = listeners(healthPort);
  const health = await Promise.all(
    found.map(async (address) => requestHealth(address, healthPort, options)),
  );
  const fault = judgeHealth(health, healthPort);
  if (fault !== undefined) return fault;
  return judgeNodeProxy(await dialAsPod(at, options), parseAuthorities(tenantCa), { file, now });
}

async function dialAsPod(
  { address, port }: Endpoint,
  { signal, timeoutMs }: NodeProbeOptions,
): Promise<PodHandshake> {
  const target = { address, port, serverName: POD_NAME, protocols: ['h2', 'http/1.1'] };
  const handshake = await shakeHands(target, dialTcp, { signal, timeoutMs });
  return { address, port, handshake, timeoutMs };
}

function listenersHere(port: number): readonly string[] {
  return listeningAddresses(readFileSync('/proc/net/tcp', 'utf8'), port).filter((address) =>
    address.startsWith('127.'),
  );
}
