/**
 * The shared input of the checks: the edge, the hosts, and the first handshakes with them.
 */
import type { X509Certificate } from 'node:crypto';
import { addressText } from '../dial.ts';
import type { Limits } from '../limits.ts';
import type { Handshake } from '../tls/handshake.ts';
import { isServed } from './checks/passthrough.ts';
import { EdgeConnection, handshakeThrough, type EdgeUnderTest } from './edge-connection.ts';
import { firstResponse, versionRequest } from './http1.ts';
import { Recognition } from './recognition.ts';

/** The number of plain handshakes per host. */
const HANDSHAKES_PER_HOST = 3;

/** The first handshakes with each host. */
export type HandshakesByHost = ReadonlyMap<string, readonly Handshake[]>;

/** The input of every check. */
export interface Checkup {
  readonly edge: EdgeUnderTest;
  /** The address of the edge, such as `203.0.113.10:443`. */
  readonly at: string;
  readonly limits: Limits;
  readonly recognition: Recognition;
  readonly handshakes: HandshakesByHost;
  /** The hosts that plain handshakes reach. The other checks cover only these. */
  readonly served: readonly [string, ...string[]];
  /** A served host whose server supports HTTP/1.1, if any. */
  readonly httpHost: string | undefined;
  readonly idleMs: number;
}

/** The result of plain handshakes with each host. */
interface ObservedHosts {
  readonly handshakes: HandshakesByHost;
  /** Has learned the certificates of the served hosts. */
  readonly recognition: Recognition;
  /** The hosts that present their own certificate in plain handshakes. Undefined if there are none. */
  readonly served: Checkup['served'] | undefined;
}

/** Performs several handshakes with each host, and learns the certificates of the served hosts. */
export async function observeHosts(
  edge: EdgeUnderTest,
  hosts: readonly string[],
  authorities: readonly X509Certificate[],
  limits: Limits,
): Promise<ObservedHosts> {
  const recognition = new Recognition(hosts, authorities);
  const handshakes = await performHandshakes(edge, hosts, limits);
  const [first, ...others] = hosts.filter((host) =>
    isServed(host, handshakes.get(host) ?? [], recognition),
  );
  const served = first === undefined ? undefined : ([first, ...others] as const);
  for (const host of served ?? []) {
    for (const handshake of handshakes.get(host) ?? []) {
      if (handshake.kind === 'secured') recognition.learn(handshake.presented);
    }
  }
  return { handshakes, recognition, served };
}

/** Performs several handshakes with each host. */
async function performHandshakes(
  edge: EdgeUnderTest,
  hosts: readonly string[],
  limits: Limits,
): Promise<HandshakesByHost> {
  const handshakesWith = async (host: string): Promise<readonly Handshake[]> => {
    const handshakes: Handshake[] = [];
    while (handshakes.length < HANDSHAKES_PER_HOST) {
      const handshake = await handshakeThrough(edge, { serverName: host }, limits);
      handshakes.push(handshake);
      // Hosts that time out are not tried again.
      if (handshake.kind === 'timeout') break;
    }
    return handshakes;
  };
  return new Map(
    await Promise.all(hosts.map(async (host) => [host, await handshakesWith(host)] as const)),
  );
}

/** Returns the first host whose server supports HTTP/1.1. */
export async function findHttpHost(
  edge: EdgeUnderTest,
  hosts: readonly string[],
  limits: Limits,
): Promise<string | undefined> {
  const responses = await Promise.all(
    hosts.map(async (host) => {
      using connection = await openHttp(edge, host, limits);
      connection.send(versionRequest(host));
      const response = await connection.receive(firstResponse, limits);
      return typeof response === 'object';
    }),
  );
  return hosts.find((_, index) => responses[index] === true);
}

/** Opens a connection for HTTP/1.1. */
export async function openHttp(
  edge: EdgeUnderTest,
  host: string,
  limits: Limits,
): Promise<EdgeConnection> {
  return EdgeConnection.open(edge, { serverName: host, protocols: ['http/1.1'] }, limits);
}

/** Returns the name of the edge in messages. */
export function edgeText({ address, port }: EdgeUnderTest): string {
  return addressText(address, port);
}
