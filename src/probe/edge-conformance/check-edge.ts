/**
 * Runs all conformance checks of an edge.
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
import { EDGE_CHECKS } from '../codes.ts';

/** The edge to check. */
interface EdgeTarget {
  /** The IP address of the edge. */
  readonly address: string;
  readonly port: number;
  /** The hosts that have a route, in lower case. */
  readonly hosts: readonly [string, ...string[]];
  /** The CAs of the tenants behind it. If empty, the owner of a certificate can only be guessed. */
  readonly authorities: readonly X509Certificate[];
}

/** Options of {@link checkEdge}. */
export interface EdgeCheckOptions {
  readonly signal?: AbortSignal | undefined;
  /** The timeout of each step. */
  readonly timeoutMs: number;
  /** The idle time of the idle check. */
  readonly idleMs: number;
  /** Default: the network of this machine. */
  readonly dial?: Dial | undefined;
}

/**
 * Runs all checks, and returns the results in the order of the catalog.
 *
 * Opens nine connections for each host, fifty concurrent ones, and a dozen more. It sends only ClientHellos, GET
 * /version without credentials, and an HTTP/2 ping.
 *
 * @throws only the reason of the signal.
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

  const { handshakes, recognition, served } = await observeHosts(edge, hosts, authorities, limits);
  const input = { edge, recognition, limits };
  const passthrough = judgePassthrough(handshakes, recognition, { at, timeoutMs });
  const names = [await checkNoName(input), await checkUnknownName(input, hosts[0])];
  const proxyHeader = await checkProxyHeader(input, hosts[0], served?.[0] === hosts[0]);
  if (served === undefined) return inOrder(withoutConsequences(passthrough, names, proxyHeader));

  const httpHost = await findHttpHost(edge, served, limits);
  const checkup = { edge, at, limits, recognition, handshakes, served, httpHost, idleMs };
  const ofServed = await checkServed(checkup);
  // Last, since an edge may need time to recover from too many connections.
  const many = await checkManyConnections(checkup);
  return inOrder([passthrough, ...names, proxyHeader, ...ofServed, many]);
}

/**
 * Returns the remaining results if no host is served, with the cause first, so that one cause has one code. An edge
 * that routes no host to a tenant does not route unknown names to one either. If it requires a PROXY header, that is
 * the cause.
 */
function withoutConsequences(
  passthrough: CheckResult,
  names: readonly CheckResult[],
  proxyHeader: CheckResult,
): readonly [CheckResult, ...CheckResult[]] {
  const ledToTenant = names.filter(({ state }) => state === 'Fail');
  return proxyHeader.code === 'ProxyHeaderRequired'
    ? [proxyHeader, ...ledToTenant]
    : [passthrough, proxyHeader, ...ledToTenant];
}

/** Returns the results of all checks in order. Checks without a result are skipped because of the first one. */
function inOrder(results: readonly [CheckResult, ...CheckResult[]]): readonly CheckResult[] {
  const [{ check: cause }] = results;
  return EDGE_CHECKS.map(
    (check) => results.find((result) => result.check === check) ?? skippedCheck(check, cause),
  );
}

/** Runs the checks of the hosts that plain handshakes reach. */
async function checkServed(checkup: Checkup): Promise<readonly CheckResult[]> {
  // The idle check runs while the others do.
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
