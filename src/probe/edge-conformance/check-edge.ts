/**
 * All checks of an edge, in their order.
 */
import type { X509Certificate } from 'node:crypto';
import { dialTcp, type Dial } from '../dial.ts';
import type { Limits } from '../limits.ts';
import { skippedCheck, type CheckResult } from './check-result.ts';
import { edgeText, findHttpHost, observeHosts, type Checkup } from './checkup.ts';
import { judgeAlpn } from './checks/alpn.ts';
import { checkBulk } from './checks/bulk.ts';
import { judgeOwnCertificates, judgeSameKey } from './checks/certificates.ts';
import { checkHalfClose } from './checks/half-close.ts';
import {
  checkLargeHello,
  checkSmallRecords,
  checkSplitHello,
  checkUpperCase,
} from './checks/hello-forms.ts';
import { checkIdle } from './checks/idle.ts';
import { checkManyConnections } from './checks/many-connections.ts';
import { checkNoName, checkUnknownName } from './checks/names.ts';
import { judgePassthrough } from './checks/passthrough.ts';
import { checkProxyHeader } from './checks/proxy-header.ts';
import { checkServerClose } from './checks/server-close.ts';
import { checkTls12 } from './checks/tls12.ts';
import { EDGE_CHECKS } from './codes.ts';

/** What to check. */
export interface EdgeTarget {
  /** Of the edge; never a name. */
  readonly address: string;
  readonly port: number;
  /** That have a route, in lower case. */
  readonly hosts: readonly [string, ...string[]];
  /** Of the tenants behind it. None: whose a certificate is can only be guessed. */
  readonly authorities: readonly X509Certificate[];
}

/** How to check. */
export interface EdgeCheckOptions {
  readonly signal?: AbortSignal | undefined;
  /** Of each step. */
  readonly timeoutMs: number;
  /** How long a connection is left alone. */
  readonly idleMs: number;
  /** Default: the network of this machine. */
  readonly dial?: Dial | undefined;
}

/**
 * Makes every check, and gives the results in the order of the catalogue.
 *
 * For each host nine connections are opened; besides them fifty at once, and a dozen more. What is sent over them is hellos,
 * GET /version without a credential, and a ping of HTTP/2.
 *
 * @throws the reason of the signal only.
 */
export async function checkEdge(
  target: EdgeTarget,
  options: EdgeCheckOptions,
): Promise<readonly CheckResult[]> {
  const { address, port, hosts, authorities } = target;
  const { signal, timeoutMs, idleMs, dial = dialTcp } = options;
  const edge = { address, port, dial };
  const limits: Limits = { signal, timeoutMs };
  const at = edgeText(edge);

  const { looks, recognition, served } = await observeHosts(edge, hosts, authorities, limits);
  const stranger = { edge, recognition, limits };
  const passthrough = judgePassthrough(looks, recognition, { at, timeoutMs });
  const names = [await checkNoName(stranger), await checkUnknownName(stranger, hosts[0])];
  const proxyHeader = await checkProxyHeader(stranger, hosts[0], served?.[0] === hosts[0]);
  if (served === undefined) return inOrder(withoutEchoes(passthrough, names, proxyHeader));

  const httpHost = await findHttpHost(edge, served, limits);
  const checkup = { edge, at, limits, recognition, looks, served, httpHost, idleMs };
  const ofServed = await checkServed(checkup);
  // Last, for an edge that has had too many may need a while to recover.
  const many = await checkManyConnections(checkup);
  return inOrder([passthrough, ...names, proxyHeader, ...ofServed, many]);
}

/**
 * What is left to tell where no host is served, the cause first: one cause has one code. An edge that leads nobody to a
 * tenant leads strangers to none either; and if it wants a PROXY header, that is why.
 */
function withoutEchoes(
  passthrough: CheckResult,
  names: readonly CheckResult[],
  proxyHeader: CheckResult,
): readonly [CheckResult, ...CheckResult[]] {
  const ledToTenant = names.filter(({ state }) => state === 'Fail');
  return proxyHeader.code === 'ProxyHeaderRequired'
    ? [proxyHeader, ...ledToTenant]
    : [passthrough, proxyHeader, ...ledToTenant];
}

/** All checks in their order; those that have no result are skipped for the sake of the first one. */
function inOrder(results: readonly [CheckResult, ...CheckResult[]]): readonly CheckResult[] {
  const [{ check: cause }] = results;
  return EDGE_CHECKS.map(
    (check) => results.find((result) => result.check === check) ?? skippedCheck(check, cause),
  );
}

/** The checks that compare with what is served in the plainest way. */
async function checkServed(checkup: Checkup): Promise<readonly CheckResult[]> {
  // Its connection is left alone while the others are at work.
  const idling = checkIdle(checkup);
  const [idle, others] = await Promise.all([idling, oneByOne(checkup)]);
  return [...others, idle];
}

async function oneByOne(checkup: Checkup): Promise<readonly CheckResult[]> {
  const serverClose = await checkServerClose(checkup);
  return [
    judgeOwnCertificates(checkup),
    judgeSameKey(checkup),
    judgeAlpn(checkup),
    await checkSplitHello(checkup),
    await checkSmallRecords(checkup),
    await checkLargeHello(checkup),
    await checkUpperCase(checkup),
    ...(await checkTls12(checkup)),
    serverClose,
    await checkHalfClose(checkup, serverClose.state !== 'Fail'),
    await checkBulk(checkup),
  ];
}
