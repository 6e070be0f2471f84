/**
 * The links to all tenants: one for each Exposure, replaced when its kubeconfig or its address changes.
 */
import type { Clock } from '../../../clock/clock.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import {
  withServer,
  AccessError,
  type ClusterAccess,
} from '../../../kube/access/cluster-access.ts';
import { TENANT_LIMITS } from '../../../kube/client/client-limits.ts';
import { Http2RoundTripper } from '../../../kube/transport/http2/http2-round-tripper.ts';
import { createClient } from '../../../kube/client/fetch-client.ts';
import { InformerCounters } from '../../../kube/informer/relist.ts';
import { parseKubeconfig } from '../../../kube/access/kubeconfig.ts';
import type { Finding } from '../../../api/finding.ts';
import { ipVersion } from '../../../wire/ip-address.ts';
import { leaderClient } from '../ownership/owned-client.ts';
import { RateLimit } from './rate-limit.ts';
import { TenantLink } from './tenant-link.ts';
import { sentence } from '../../../text/sentence.ts';

/** How to connect to a tenant. */
export interface TenantAddress {
  /** The text of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** `host:port` of the API server, from the Service and never from the edge. Several are tried in turn. */
  readonly addresses: readonly string[];
  readonly watchesNodes: boolean;
  /** `host:port` that clients use through the edge. */
  readonly endpoint?: string | undefined;
  /** The addresses of the edge, in case DNS does not resolve the host yet. */
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
  /** The open connection, if there is one. */
  current(exposure: string): TenantLink | undefined;
  /** The tenant did not answer. */
  failed(exposure: string): void;
  answered(exposure: string): void;
  /** Consecutive attempts that the tenant has not answered. */
  failuresOf(exposure: string): number;
  /** The Exposure is gone. */
  forget(exposure: string): void;
}

interface TenantLinksOptions {
  /** Something in the tenant of this Exposure has changed: reconcile it after this delay. */
  readonly onChange: (exposure: string, delayMs: number) => void;
  /** How long reads are cached. */
  readonly freshMs: number;
  /** How long a rollout of the proxies may make no progress before it is stuck. Default 120,000. */
  readonly stuckAfterMs?: number | undefined;
  /** Whether this replica may write to tenants now, including their Leases. Default: always. */
  readonly mayWrite?: (() => boolean) | undefined;
  /** Whether this operator owns the tenant that the client points to. */
  readonly isOwned: (exposure: string, client: KubeClient) => boolean;
  /** Default: a client of the tenant's API server, within {@link TENANT_LIMITS}. */
  readonly connect?: ((access: ClusterAccess) => KubeClient) | undefined;
  readonly clock: Clock;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
}

/** Every kube-apiserver has this name in its certificate, because pods use it. */
const UNIVERSAL_NAME = 'kubernetes.default.svc';

/** The minimum interval between reconciles that changes in one tenant cause. */
const MIN_INTERVAL_MS = 500;
/** The minimum interval for a tenant whose reconcile fails. */
const FAILING_INTERVAL_MS = 5_000;

/** The links to all tenants. */
export class TenantLinks implements TenantConnections {
  /** Totals of the informers of all tenants, including closed links. */
  readonly counters = new InformerCounters();
  readonly #options: TenantLinksOptions;
  readonly #links = new Map<string, OpenLink>();
  /** Failed attempts by Exposure. They select the next address of the tenant. */
  readonly #attempts = new Map<string, number>();
  readonly #failures = new Map<string, number>();

  constructor(options: TenantLinksOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#links.size;
  }

  /** Returns the link to the tenant of an Exposure, or why there is none. */
  open(exposure: string, address: TenantAddress): TenantLink | Finding {
    const { kubeconfig, addresses, watchesNodes } = address;
    const target = addresses[(this.#attempts.get(exposure) ?? 0) % Math.max(1, addresses.length)];
    if (target === undefined) return noAddress();
    const digest = digestOf(kubeconfig, target, watchesNodes);
    const current = this.#links.get(exposure);
    if (current?.digest === digest) return current.link;
    const access = tenantAccess(kubeconfig, target);
    if ('code' in access) return access;
    this.close(exposure);
    const { mayWrite, isOwned, onChange, freshMs, stuckAfterMs } = this.#options;
    const { clock, random, connect = (to) => connectTenant(to, clock) } = this.#options;
    const rateLimit = new RateLimit(MIN_INTERVAL_MS, clock);
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
        const minMs = this.failuresOf(exposure) > 0 ? FAILING_INTERVAL_MS : 0;
        onChange(exposure, Math.max(minMs, rateLimit.delayMs()));
      },
    });
    this.#links.set(exposure, { digest, link, rateLimit });
    link.open();
    return link;
  }

  /** The open link, if there is one. */
  current(exposure: string): TenantLink | undefined {
    return this.#links.get(exposure)?.link;
  }

  /** The tenant did not answer: the next link uses its next address. */
  failed(exposure: string): void {
    this.#attempts.set(exposure, (this.#attempts.get(exposure) ?? 0) + 1);
    this.#failures.set(exposure, this.failuresOf(exposure) + 1);
  }

  /** The tenant has answered, and was reconciled just now. */
  answered(exposure: string): void {
    this.#failures.delete(exposure);
    this.#links.get(exposure)?.rateLimit.used();
  }

  /** Consecutive attempts that the tenant has not answered. */
  failuresOf(exposure: string): number {
    return this.#failures.get(exposure) ?? 0;
  }

  close(exposure: string): void {
    this.#links.get(exposure)?.link.close();
    this.#links.delete(exposure);
  }

  /** The Exposure is gone. */
  forget(exposure: string): void {
    this.close(exposure);
    this.#attempts.delete(exposure);
    this.#failures.delete(exposure);
  }

  closeAll(): void {
    for (const exposure of this.#links.keys()) this.close(exposure);
  }
}

interface OpenLink {
  /** The digest of the options that it was opened with. */
  readonly digest: string;
  readonly link: TenantLink;
  /** Limits the reconciles that its watches cause. */
  readonly rateLimit: RateLimit;
}

function connectTenant(access: ClusterAccess, clock: Clock): KubeClient {
  const roundTripper = new Http2RoundTripper(access, clock);
  return createClient(access, { limits: TENANT_LIMITS, clock, roundTripper });
}

/** The identity and CA of the kubeconfig with the address of the Service, or why the kubeconfig cannot be used. */
export function tenantAccess(kubeconfig: string, target: string): ClusterAccess | Finding {
  try {
    const access = parseKubeconfig(kubeconfig);
    const name = access.serverName ?? new URL(access.server).hostname;
    const isName = ipVersion(name.replaceAll(/[[\]]/g, '')) === 0;
    const serverName = isName ? name : UNIVERSAL_NAME;
    return withServer(access, { server: `https://${target}`, serverName });
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    return {
      code: 'KubeconfigInvalid',
      severity: 'error',
      message: sentence(`The tenant's kubeconfig cannot be used: ${error.message}`),
      action:
        'Correct the kubeconfig in the Secret that spec.controlPlane.kubeconfigSecretRef references.',
    };
  }
}

function noAddress(): Finding {
  return {
    code: 'ServiceInvalid',
    severity: 'error',
    message: 'The Service of the control plane is headless, so the operator cannot dial it.',
    action: 'Give the Service a cluster IP, or set spec.controlPlane.endpoints.',
  };
}

/** A digest, because the parts contain secrets. */
function digestOf(...parts: readonly (string | boolean)[]): string {
  return new Bun.CryptoHasher('sha256').update(JSON.stringify(parts)).digest('hex');
}
