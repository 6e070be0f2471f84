/**
 * What checks share: the edge, the hosts, and what a first look has found.
 */
import type { X509Certificate } from 'node:crypto';
import { addressText } from '../dial.ts';
import type { Limits } from '../limits.ts';
import type { Handshake } from '../tls/handshake.ts';
import { isServed } from './checks/passthrough.ts';
import { EdgeConnection, handshakeThrough, type EdgeUnderTest } from './edge-connection.ts';
import { firstAnswer, versionRequest } from './http1.ts';
import { Recognition } from './recognition.ts';

/** So often each host is dialled in the plainest way. */
const LOOKS = 3;

/** What a first look at each host brought. */
export type Looks = ReadonlyMap<string, readonly Handshake[]>;

/** What every check gets. */
export interface Checkup {
  readonly edge: EdgeUnderTest;
  /** Of the edge, as `203.0.113.10:443`. */
  readonly at: string;
  readonly limits: Limits;
  readonly recognition: Recognition;
  readonly looks: Looks;
  /** The hosts that are served in the plainest way; other checks are about them alone. */
  readonly served: readonly [string, ...string[]];
  /** One of those, whose server answers in HTTP/1.1. */
  readonly httpHost: string | undefined;
  readonly idleMs: number;
}

/** What plain handshakes with each host showed. */
export interface ObservedHosts {
  readonly looks: Looks;
  /** Has learned the certificates of the served hosts. */
  readonly recognition: Recognition;
  /** The hosts that answer plain handshakes with their own certificate. Nothing if there is none. */
  readonly served: Checkup['served'] | undefined;
}

/** Dials each host a few times, and learns the certificates of those that are served. */
export async function observeHosts(
  edge: EdgeUnderTest,
  hosts: readonly string[],
  authorities: readonly X509Certificate[],
  limits: Limits,
): Promise<ObservedHosts> {
  const recognition = new Recognition(hosts, authorities);
  const looks = await lookAtHosts(edge, hosts, limits);
  const [first, ...others] = hosts.filter((host) =>
    isServed(host, looks.get(host) ?? [], recognition),
  );
  const served = first === undefined ? undefined : ([first, ...others] as const);
  for (const host of served ?? []) {
    for (const look of looks.get(host) ?? []) {
      if (look.kind === 'secured') recognition.learn(look.presented);
    }
  }
  return { looks, recognition, served };
}

/** Dials each host a few times. */
async function lookAtHosts(
  edge: EdgeUnderTest,
  hosts: readonly string[],
  limits: Limits,
): Promise<Looks> {
  const look = async (host: string): Promise<readonly Handshake[]> => {
    const handshakes: Handshake[] = [];
    while (handshakes.length < LOOKS) {
      const handshake = await handshakeThrough(edge, { serverName: host }, limits);
      handshakes.push(handshake);
      // Whoever does not answer once is not waited for again and again.
      if (handshake.kind === 'timeout') break;
    }
    return handshakes;
  };
  return new Map(await Promise.all(hosts.map(async (host) => [host, await look(host)] as const)));
}

/** The first of the hosts whose server answers in HTTP/1.1. */
export async function findHttpHost(
  edge: EdgeUnderTest,
  hosts: readonly string[],
  limits: Limits,
): Promise<string | undefined> {
  const answers = await Promise.all(
    hosts.map(async (host) => {
      using connection = await openHttp(edge, host, limits);
      connection.send(versionRequest(host));
      const answer = await connection.receive(firstAnswer, limits);
      return typeof answer === 'object';
    }),
  );
  return hosts.find((_, index) => answers[index] === true);
}

/** A connection on which HTTP/1.1 can be spoken. */
export async function openHttp(
  edge: EdgeUnderTest,
  host: string,
  limits: Limits,
): Promise<EdgeConnection> {
  return EdgeConnection.open(edge, { serverName: host, protocols: ['http/1.1'] }, limits);
}

/** As messages name the edge. */
export function edgeText({ address, port }: EdgeUnderTest): string {
  return addressText(address, port);
}
