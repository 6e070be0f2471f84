/**
 * The links to all tenants, one for each Exposure, for as long as its kubeconfig and its address are the same.
 */
import { systemClock, type Clock } from '../../../clock/clock.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { aimed, AccessError, type ClusterAccess } from '../../../kube/access/cluster-access.ts';
import { TENANT_LIMITS } from '../../../kube/client/client-limits.ts';
import { Http2RoundTripper } from '../../../kube/transport/http2/http2-round-tripper.ts';
import { createClient } from '../../../kube/client/fetch-client.ts';
import { InformerCounters } from '../../../kube/informer/relist.ts';
import { parseKubeconfig } from '../../../kube/access/kubeconfig.ts';
import type { Finding } from '../../../api/finding.ts';
import { ipVersion } from '../../../wire/ip-address.ts';
import { leaderClient } from '../ownership/owned-client.ts';
import { Pace } from './pace.ts';
import { TenantLink } from './tenant-link.ts';

/** How a tenant is reached. */
export interface TenantAddress {
  /** Text of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** `host:port` of the API server, by the Service and never by the edge; several are tried in turn. */
  readonly addresses: readonly string[];
  readonly watchesNodes: boolean;
  /** `host:port` by which clients reach it through the edge. */
  readonly endpoint?: string | undefined;
  /** The addresses of the edge, for where DNS does not know the host yet. */
  readonly edgeAddresses?: readonly string[] | undefined;
}

/** Connections to tenants, by the key of their Exposure. */
export interface TenantConnections {
  /** A connection to the tenant, or why there is none. */
  open(
    exposure: string,
    address: TenantAddress,
    signal: AbortSignal,
  ): TenantLink | Finding | Promise<TenantLink | Finding>;
  /** The connection that is open, if there is one. */
  current(exposure: string): TenantLink | undefined;
  /** The tenant did not answer. */
  failed(exposure: string): void;
  answered(exposure: string): void;
  /** How often in a row the tenant has not answered. */
  failuresOf(exposure: string): number;
  /** The Exposure is gone. */
  forget(exposure: string): void;
}

/** Options of {@link TenantLinks}. */
export interface TenantLinksOptions {
  /** Something in the tenant of this Exposure has changed: look at it in so many milliseconds. */
  readonly onChange: (exposure: string, delayMs: number) => void;
  /** How long what was read is good for another look. */
  readonly freshMs: number;
  /** For how long a roll-out of the proxies may stand still. Default 120,000. */
  readonly stuckAfterMs?: number | undefined;
  /** Whether this replica may write to tenants now, including their Leases. Default: always. */
  readonly mayWrite?: (() => boolean) | undefined;
  /** Whether this operator owns the tenant that the client points to. */
  readonly isOwned: (exposure: string, client: KubeClient) => boolean;
  /** Default: a client of the tenant's API server, within {@link TENANT_LIMITS}. */
  readonly connect?: (access: ClusterAccess) => KubeClient;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** From 0 to 1, for the spread of delays. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** A name that every kube-apiserver has in its certificate, since pods dial it by that. */
const UNIVERSAL_NAME = 'kubernetes.default.svc';

/** What goes on in a tenant is its own affair: one that changes without end is looked at no more often than this. */
const LEAST_BETWEEN_MS = 500;
/** One that cannot be worked with is not, because it keeps on telling of changes. */
const LEAST_WHILE_FAILING_MS = 5_000;

/** All tenants. */
export class TenantLinks implements TenantConnections {
  /** Of the informers of all tenants, those of closed links included. */
  readonly counters = new InformerCounters();
  readonly #options: TenantLinksOptions;
  readonly #links = new Map<string, OpenLink>();
  /** How often the tenant could not be reached: which of its addresses is next. */
  readonly #turns = new Map<string, number>();
  readonly #failures = new Map<string, number>();

  constructor(options: TenantLinksOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#links.size;
  }

  /** The link to the tenant of an Exposure, or why there can be none. */
  open(exposure: string, address: TenantAddress): TenantLink | Finding {
    const { kubeconfig, addresses, watchesNodes } = address;
    const target = addresses[(this.#turns.get(exposure) ?? 0) % Math.max(1, addresses.length)];
    if (target === undefined) return noAddress();
    const digest = digestOf(kubeconfig, target, watchesNodes);
    const current = this.#links.get(exposure);
    if (current?.digest === digest) return current.link;
    const access = tenantAccess(kubeconfig, target);
    if ('code' in access) return access;
    this.close(exposure);
    const { mayWrite, isOwned, onChange, freshMs, stuckAfterMs } = this.#options;
    const { clock = systemClock, random } = this.#options;
    const { connect = (to: ClusterAccess) => connectTenant(to, clock) } = this.#options;
    const pace = new Pace(LEAST_BETWEEN_MS, clock);
    const connected = connect(access);
    const client = mayWrite === undefined ? connected : leaderClient(connected, mayWrite);
    const link = new TenantLink({
      client,
      isOwned: () => isOwned(exposure, client),
      watchesNodes,
      freshMs,
      stuckAfterMs,
      clock,
      random,
      counters: this.counters,
      onChange: () => {
        const leastMs = this.failuresOf(exposure) > 0 ? LEAST_WHILE_FAILING_MS : 0;
        onChange(exposure, Math.max(leastMs, pace.delayMs()));
      },
    });
    this.#links.set(exposure, { digest, link, pace });
    link.open();
    return link;
  }

  /** The link that is open, if there is one. */
  current(exposure: string): TenantLink | undefined {
    return this.#links.get(exposure)?.link;
  }

  /** The tenant did not answer: the next link goes to its next address. */
  failed(exposure: string): void {
    this.#turns.set(exposure, (this.#turns.get(exposure) ?? 0) + 1);
    this.#failures.set(exposure, this.failuresOf(exposure) + 1);
  }

  /** It did: it was looked at just now. */
  answered(exposure: string): void {
    this.#failures.delete(exposure);
    this.#links.get(exposure)?.pace.taken();
  }

  /** How often in a row the tenant has not answered. */
  failuresOf(exposure: string): number {
    return this.#failures.get(exposure) ?? 0;
  }

  close(exposure: string): void {
    this.#links.get(exposure)?.link.close();
    this.#links.delete(exposure);
  }

  /** Nothing is left of the Exposure. */
  forget(exposure: string): void {
    this.close(exposure);
    this.#turns.delete(exposure);
    this.#failures.delete(exposure);
  }

  closeAll(): void {
    for (const exposure of this.#links.keys()) this.close(exposure);
  }
}

interface OpenLink {
  /** Of what it was opened with. */
  readonly digest: string;
  readonly link: TenantLink;
  /** Of the looks that its watches ask for. */
  readonly pace: Pace;
}

function connectTenant(access: ClusterAccess, clock: Clock): KubeClient {
  const roundTripper = new Http2RoundTripper(access, clock);
  return createClient(access, { limits: TENANT_LIMITS, clock, roundTripper });
}

/** The kubeconfig's identity and CA, at the address of the Service; or why it cannot be used. */
export function tenantAccess(kubeconfig: string, target: string): ClusterAccess | Finding {
  try {
    const access = parseKubeconfig(kubeconfig);
    const name = access.serverName ?? new URL(access.server).hostname;
    const isName = ipVersion(name.replaceAll(/[[\]]/g, '')) === 0;
    const serverName = isName ? name : UNIVERSAL_NAME;
    return aimed(access, { server: `https://${target}`, serverName });
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    return {
      code: 'KubeconfigUnusable',
      severity: 'error',
      message: `the tenant's kubeconfig cannot be used: ${error.message}`,
      action:
        'correct the kubeconfig in the Secret that spec.controlPlane.kubeconfigSecretRef names',
    };
  }
}

function noAddress(): Finding {
  return {
    code: 'ServiceHasNoAddress',
    severity: 'error',
    message: 'the Service of the control plane has no cluster IP, so the operator cannot dial it',
    action: 'give it one (it is headless), or write spec.controlPlane.endpoints',
  };
}

/** Of secrets, so not the text itself. */
function digestOf(...parts: readonly (string | boolean)[]): string {
  return new Bun.CryptoHasher('sha256').update(JSON.stringify(parts)).digest('hex');
}
