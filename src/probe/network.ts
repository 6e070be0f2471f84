/**
 * The hops that are tried by connections: edge, sni, certificate, api, konnectivity.
 */
import type { X509Certificate } from 'node:crypto';
import type { HopName } from './codes.ts';
import { addressText, SpareConnections, type Dial } from './dial.ts';
import { hopResult, notApplicable, skippedAfter, type HopResult } from './hop.ts';
import { probeApi } from './hops/api.ts';
import { judgeCertificate } from './hops/certificate.ts';
import { probeEdge, type EdgeResult } from './hops/edge.ts';
import { AGENT_PROTOCOL, API_PROTOCOL, judgeKonnectivity } from './hops/konnectivity.ts';
import { judgeSni } from './hops/sni.ts';
import type { Limits } from './limits.ts';
import { parseAuthorities, type KnownAuthorities } from './tls/authorities.ts';
import { shakeHands } from './tls/handshake.ts';
import { ownerOf, type Answer } from './tls/owner.ts';

/** The tenant, and where to dial. */
export interface NetworkTarget {
  readonly apiHost: string;
  readonly konnectivityHost?: string | undefined;
  readonly port: number;
  /** As the Edge says them; for messages. */
  readonly edgeAddresses: readonly string[];
  /** Where to dial; no names. */
  readonly addresses: readonly string[];
  /** PEM. */
  readonly tenantCa: string;
  readonly otherAuthorities?: KnownAuthorities | undefined;
}

/** How to dial. */
export interface NetworkOptions {
  readonly limits: Limits;
  readonly dial: Dial;
  readonly now: Date;
}

/** As clients of the API offer them. */
const CLIENT_PROTOCOLS = ['h2', 'http/1.1'];

/** Tries them in their order. @throws the reason of the caller's signal only. */
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
    const message = `${edge} cannot be resolved`;
    return [hopResult('EdgeNoAddress', edge, message, { edge }), ...skipBehind('edge', target)];
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
  const own = readableAuthorities(tenantCa);
  if ('fault' in own) {
    const message = `the tenant's CA is of no use: ${own.fault}`;
    const sni = hopResult('SniCaUnreadable', `${host}:${port}`, message, { host });
    return [sni, ...skipBehind('sni', target)];
  }
  const look = looker(target, own.authorities, accepting, options);
  const [toApi, toKonnectivity] = await Promise.all([
    probeToApi(target, look, options),
    probeToKonnectivity(target, look, options),
  ]);
  return [...toApi, toKonnectivity];
}

/** A handshake for a host at every address, and who answered. Of several the first that is not the tenant, if there is one. */
type Look = (host: string, protocols: readonly string[]) => Promise<Answer & { address: string }>;

function looker(
  { port, otherAuthorities }: NetworkTarget,
  own: readonly X509Certificate[],
  accepting: readonly string[],
  { limits, dial }: NetworkOptions,
): Look {
  return async (host, protocols) => {
    const answers = await Promise.all(
      accepting.map(async (address) => {
        const who = { address, port, serverName: host, protocols };
        const handshake = await shakeHands(who, dial, limits);
        const owner = ownerOf(handshake, { own, others: otherAuthorities });
        const at = addressText(address, port);
        return { host, port, at, address, owner, timeoutMs: limits.timeoutMs };
      }),
    );
    const answer = answers.find(({ owner }) => owner.kind !== 'tenant') ?? answers[0];
    if (answer === undefined) throw new Error('there is no address of the edge to look at');
    return answer;
  };
}

async function probeToApi(
  target: NetworkTarget,
  look: Look,
  { limits, dial, now }: NetworkOptions,
): Promise<readonly HopResult[]> {
  const { apiHost: host, port, tenantCa } = target;
  const answer = await look(host, CLIENT_PROTOCOLS);
  const sni = judgeSni(answer);
  if (answer.owner.kind !== 'tenant') return [sni, ...skip(target, 'sni', 'certificate', 'api')];
  const certificate = judgeCertificate(answer.owner.path, host, now);
  if (certificate.state === 'Fail')
    return [sni, certificate, ...skip(target, 'certificate', 'api')];
  const { address } = answer;
  return [sni, certificate, await probeApi({ host, address, port, tenantCa }, dial, limits)];
}

async function probeToKonnectivity(
  target: NetworkTarget,
  look: Look,
  { now }: NetworkOptions,
): Promise<HopResult> {
  const { konnectivityHost: host } = target;
  if (host === undefined) return withoutKonnectivity();
  const answer = await look(host, [AGENT_PROTOCOL]);
  if (answer.owner.kind !== 'tenant') return judgeKonnectivity(answer, answer.owner, now);
  const asApi = await look(host, [API_PROTOCOL]);
  return judgeKonnectivity(answer, asApi.owner, now);
}

function withoutKonnectivity(): HopResult {
  return notApplicable('konnectivity', 'konnectivity', 'the control plane has no konnectivity');
}

/** Everything that is tried behind this hop. */
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
  { apiHost, konnectivityHost, port }: NetworkTarget,
  failed: HopName,
  ...hops: readonly NetworkHop[]
): readonly HopResult[] {
  const targets: Readonly<Record<NetworkHop, string>> = {
    sni: `${apiHost}:${port}`,
    certificate: apiHost,
    api: `https://${apiHost}:${port}/version`,
    konnectivity: `${konnectivityHost}:${port}`,
  };
  return hops.map((hop) => skippedAfter(hop, targets[hop], failed));
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
