/**
 * The hops that are checked with connections: edge, sni, certificate, api, konnectivity.
 */
import type { X509Certificate } from 'node:crypto';
import type { HopName } from './codes.ts';
import { addressText, SpareConnections, type Dial } from './dial.ts';
import {
  hopResult,
  notApplicable,
  notObserved,
  skippedAfter,
  skippedForSameCause,
  type HopResult,
} from './hop.ts';
import { API_PROTOCOL, probeApi } from './hops/api.ts';
import { judgeCertificate } from './hops/certificate.ts';
import { probeEdge, type EdgeResult } from './hops/edge.ts';
import { AGENT_PROTOCOL, judgeKonnectivity } from './hops/konnectivity.ts';
import { judgeSni } from './hops/sni.ts';
import type { Limits } from './limits.ts';
import { parseAuthorities, type KnownAuthorities } from './tls/authorities.ts';
import { openSecured, type SecuredConnection } from './tls/handshake.ts';
import { answerText, isSameFault, ownerOf, type PeerAnswer } from './tls/owner.ts';
import { invalidCertificate } from './tls/validity.ts';
import { sentence } from '../text/sentence.ts';

/** The tenant and its addresses. */
interface NetworkTarget {
  readonly apiHost: string;
  readonly konnectivityHost?: string | undefined;
  readonly port: number;
  /** The addresses in the Edge, for messages. */
  readonly edgeAddresses: readonly string[];
  /** The IP addresses to dial. */
  readonly addresses: readonly string[];
  /** PEM. Undefined if unknown: then no peer can be identified. */
  readonly tenantCa: string | undefined;
  readonly knownAuthorities?: KnownAuthorities | undefined;
}

export interface NetworkOptions {
  readonly limits: Limits;
  readonly dial: Dial;
  readonly now: Date;
}

/** The protocols that API clients offer. */
const CLIENT_PROTOCOLS = ['h2', API_PROTOCOL];

/** Checks the hops in order. @throws only the reason of the caller's signal. */
export async function probeNetwork(
  target: NetworkTarget,
  options: NetworkOptions,
): Promise<readonly HopResult[]> {
  const { addresses, edgeAddresses, port } = target;
  if (addresses.length === 0) {
    if (edgeAddresses.length === 0) {
      return [skippedAfter('edge', `port ${port}`, 'dns'), ...skipBehind('dns', target)];
    }
    const edge = edgeAddresses.join(', ');
    const message = `The address of ${edge} cannot be resolved.`;
    return [hopResult('edge', 'AddressUnknown', edge, message), ...skipBehind('edge', target)];
  }
  const edge = await probeEdge(addresses, port, options.dial, options.limits);
  const spare = new SpareConnections(edge.connections, options.dial);
  try {
    return [
      edge.result,
      ...(await probeBehindEdge(target, edge, { ...options, dial: spare.dial })),
    ];
  } finally {
    spare.close();
  }
}

async function probeBehindEdge(
  target: NetworkTarget,
  { accepting }: EdgeResult,
  options: NetworkOptions,
): Promise<readonly HopResult[]> {
  if (accepting.length === 0) return skipBehind('edge', target);
  const { apiHost: host, port, tenantCa } = target;
  if (tenantCa === undefined) return withoutAuthority(target);
  const parsed = readableAuthorities(tenantCa);
  if ('fault' in parsed) {
    const message = sentence(`The tenant's CA cannot be used: ${parsed.fault}`);
    const sni = hopResult('sni', 'CaInvalid', `${host}:${port}`, message);
    return [sni, ...skipBehind('sni', target)];
  }
  const handshakeWith = hostHandshakes(target, parsed.authorities, accepting, options);
  const [toApi, toKonnectivity] = await Promise.all([
    probeToApi({ ...target, tenantCa: pemOf(parsed.authorities) }, handshakeWith, options),
    probeToKonnectivity(target, handshakeWith, options),
  ]);
  const { result } = toKonnectivity;
  const earlier = commonCause(toApi, toKonnectivity, options.now);
  return [
    ...toApi.results,
    earlier === undefined ? result : skippedForSameCause(result, `hop ${earlier}`),
  ];
}

/** The answer that a result is based on. Absent if there was no handshake. */
interface WithPeer {
  readonly answer?: PeerAnswer;
}

/** Returns the failed API hop if konnectivity fails for the same cause, since one fix resolves both. */
function commonCause(
  api: WithPeer & { readonly results: readonly HopResult[] },
  konnectivity: WithPeer & { readonly result: HopResult },
  now: Date,
): HopName | undefined {
  const failed = api.results.find(({ state }) => state === 'Fail')?.name;
  const [apiAnswer, konnectivityAnswer] = [api.answer, konnectivity.answer];
  if (
    konnectivity.result.state !== 'Fail' ||
    apiAnswer === undefined ||
    konnectivityAnswer === undefined
  ) {
    return undefined;
  }
  if (apiAnswer.owner.kind !== 'tenant' || konnectivityAnswer.owner.kind !== 'tenant') {
    return failed === 'sni' && isSameFault(apiAnswer.owner, konnectivityAnswer.owner)
      ? failed
      : undefined;
  }
  const invalid = invalidCertificate(apiAnswer.owner.path, apiAnswer.host, now)?.fingerprint256;
  const isSame =
    invalidCertificate(konnectivityAnswer.owner.path, konnectivityAnswer.host, now)
      ?.fingerprint256 === invalid;
  return invalid !== undefined && isSame ? failed : undefined;
}

/** Returns the results without a CA: a handshake would only show that a server listens. */
function withoutAuthority(target: NetworkTarget): readonly HopResult[] {
  const message = "Not checked because the tenant's CA is unknown.";
  const targets = targetsOf(target);
  const hops = (['sni', 'certificate', 'api'] as const).map((hop) =>
    notObserved(hop, targets[hop], message),
  );
  return target.konnectivityHost === undefined
    ? [...hops, withoutKonnectivity()]
    : [...hops, notObserved('konnectivity', targets.konnectivity, message)];
}

/** The answer at one address of the edge. */
interface AnswerAt extends PeerAnswer {
  readonly address: string;
  /** Open if the handshake was completed. */
  readonly connection: SecuredConnection | undefined;
}

/** The answers of all addresses of the edge to a handshake for one host. */
interface Answers {
  /** The answer of the tenant, if it answers at any address. */
  readonly best: AnswerAt;
  /** The first answer that is not the tenant's, if the tenant answers at another address. */
  readonly failing: AnswerAt | undefined;
  /** Closes all connections. */
  readonly close: () => void;
}

/** Performs a handshake for a host at every address. The caller closes the connections. */
type HostHandshake = (host: string, protocols: readonly string[]) => Promise<Answers>;

function hostHandshakes(
  { port, knownAuthorities }: NetworkTarget,
  authorities: readonly X509Certificate[],
  accepting: readonly string[],
  { limits, dial }: NetworkOptions,
): HostHandshake {
  const ca = pemOf(authorities);
  return async (host, protocols) => {
    const opened: SecuredConnection[] = [];
    let isClosed = false;
    const close = () => {
      isClosed = true;
      for (const connection of opened) connection.close();
    };
    const answers = await Promise.all(
      accepting.map(async (address) => {
        const to = { address, port, serverName: host, protocols, ca };
        const { handshake, connection } = await openSecured(to, dial, limits);
        if (connection !== undefined) opened.push(connection);
        if (isClosed) connection?.close();
        const owner = ownerOf(handshake, { authorities, others: knownAuthorities });
        const at = addressText(address, port);
        return { host, port, at, address, owner, connection, timeoutMs: limits.timeoutMs };
      }),
    ).catch((error: unknown) => {
      close();
      throw error;
    });
    const best = answers.find(({ owner }) => owner.kind === 'tenant') ?? answers[0];
    if (best === undefined) throw new Error('The edge has no address to probe.');
    const failing = answers.find(({ owner }) => owner.kind !== 'tenant');
    return { best, failing: best === failing ? undefined : failing, close };
  };
}

/**
 * Performs the handshake for the API host. First offers only the protocol of one request, so that the connection can
 * carry it. A server that refuses is offered what clients offer, to identify it.
 */
async function apiHandshake(host: string, handshakeWith: HostHandshake): Promise<Answers> {
  const answers = await handshakeWith(host, [API_PROTOCOL]);
  if (answers.best.owner.kind !== 'refused') return answers;
  answers.close();
  return handshakeWith(host, CLIENT_PROTOCOLS);
}

async function probeToApi(
  target: NetworkTarget & { readonly tenantCa: string },
  handshakeWith: HostHandshake,
  { limits, dial, now }: NetworkOptions,
): Promise<WithPeer & { readonly results: readonly HopResult[] }> {
  const { apiHost: host, port, tenantCa } = target;
  const { best: answer, failing, close } = await apiHandshake(host, handshakeWith);
  try {
    const sni = degraded(judgeSni(answer), failing);
    if (answer.owner.kind !== 'tenant') {
      return { answer, results: [sni, ...skip(target, 'sni', 'certificate', 'api')] };
    }
    const certificate = judgeCertificate(answer.owner.path, host, now);
    if (certificate.state === 'Fail') {
      return { answer, results: [sni, certificate, ...skip(target, 'certificate', 'api')] };
    }
    const { address, connection } = answer;
    const api = await probeApi({ host, address, port, tenantCa }, dial, limits, connection);
    return { answer, results: [sni, certificate, api] };
  } finally {
    close();
  }
}

async function probeToKonnectivity(
  target: NetworkTarget,
  handshakeWith: HostHandshake,
  { now }: NetworkOptions,
): Promise<WithPeer & { readonly result: HopResult }> {
  const { konnectivityHost: host } = target;
  if (host === undefined) return { result: withoutKonnectivity() };
  const closedHandshake: HostHandshake = async (...offer) => {
    const answers = await handshakeWith(...offer);
    answers.close();
    return answers;
  };
  const { best: answer, failing } = await closedHandshake(host, [AGENT_PROTOCOL]);
  const asApi =
    answer.owner.kind === 'tenant' ? (await closedHandshake(host, [API_PROTOCOL])).best : answer;
  const result = judgeKonnectivity(answer, asApi.owner, now);
  return { answer, result: degraded(result, failing) };
}

/** Adds the failing address to a passing result. */
function degraded(result: HopResult, failing: PeerAnswer | undefined): HopResult {
  if (result.state !== 'Pass' || failing === undefined) return result;
  const message = `${result.message} Another address of the edge fails. ${answerText(failing)}`;
  return hopResult(result.name, 'Degraded', result.target, message, { address: failing.at });
}

function withoutKonnectivity(): HopResult {
  return notApplicable(
    'konnectivity',
    'konnectivity',
    'The control plane has no konnectivity server.',
  );
}

/** Returns skips for all hops behind this one. */
function skipBehind(failed: 'dns' | 'edge' | 'sni', target: NetworkTarget): readonly HopResult[] {
  const hops: readonly NetworkHop[] =
    failed === 'sni' ? ['certificate', 'api'] : ['sni', 'certificate', 'api'];
  const konnectivity =
    target.konnectivityHost === undefined
      ? withoutKonnectivity()
      : skip(target, failed, 'konnectivity');
  return [...skip(target, failed, ...hops), ...[konnectivity].flat()];
}

type NetworkHop = 'sni' | 'certificate' | 'api' | 'konnectivity';

function skip(
  target: NetworkTarget,
  failed: HopName,
  ...hops: readonly NetworkHop[]
): readonly HopResult[] {
  const targets = targetsOf(target);
  return hops.map((hop) => skippedAfter(hop, targets[hop], failed));
}

function targetsOf({
  apiHost,
  konnectivityHost,
  port,
}: NetworkTarget): Readonly<Record<NetworkHop, string>> {
  return {
    sni: `${apiHost}:${port}`,
    certificate: apiHost,
    api: `https://${apiHost}:${port}/version`,
    konnectivity: `${konnectivityHost}:${port}`,
  };
}

/** Encodes the certificates again: OpenSSL does not read every PEM file that {@link parseAuthorities} reads. */
function pemOf(authorities: readonly X509Certificate[]): string {
  return authorities.map((authority) => `${authority.toString().trim()}\n`).join('');
}

function readableAuthorities(
  pem: string,
): { readonly authorities: readonly X509Certificate[] } | { readonly fault: string } {
  try {
    return { authorities: parseAuthorities(pem) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { fault: error.message };
  }
}
