/**
 * Keeps the addresses of the edge up to date. The proxy starts before cluster DNS, and perhaps before any DNS. So it
 * retries a name that is not found instead of failing.
 */
import type { Clock } from '../../clock/clock.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { EdgeAddress } from '../../net/edge-address.ts';
import type { EdgeLoadBalancer, EdgeTarget } from './edge-load-balancer.ts';
import { ipVersion } from '../../wire/ip-address.ts';

/** Returns all addresses of a name. @throws the resolver's error, with its `code`. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** Interval of lookups while they succeed. */
const RESOLVE_MS = 30_000;

/** Minimum time between two lookups. */
const RETRY_MS = 2000;

interface EdgeResolverOptions {
  /** Returns the current names and addresses of the edge, never empty. */
  readonly targets: () => readonly EdgeAddress[];
  readonly loadBalancer: EdgeLoadBalancer;
  readonly clock: Clock;
  readonly log: Logger;
  /** Default: the resolver of the system, which knows the host aliases of a pod. */
  readonly lookup?: Lookup | undefined;
}

/** Looks up the names of the edge periodically. */
export class EdgeResolver {
  readonly #options: EdgeResolverOptions;
  readonly #lookup: Lookup;
  #stopTick: (() => void) | undefined;
  #isStopped = false;
  #resolving: Promise<void> | undefined;
  /** The targets of the last lookup. */
  #resolvedTargets: readonly EdgeAddress[] | undefined;
  #resolvedMs = -Infinity;
  #isStale = true;
  #failure: string | undefined;

  constructor(options: EdgeResolverOptions) {
    this.#options = options;
    this.#lookup = options.lookup ?? systemLookup;
  }

  /** Why the last lookup failed, as a message. The last valid addresses stay in use. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Starts the lookups. Resolves after the first one. */
  async start(): Promise<void> {
    await this.#resolveOnce();
  }

  /** Uses the current targets, if they have changed. */
  async retarget(): Promise<void> {
    // The lookup of the previous targets must finish before the lookup of the new targets.
    await this.#resolving;
    if (this.#isStopped || this.#resolvedTargets === this.#options.targets()) return;
    await this.#resolveOnce();
  }

  /** Looks up again soon, because the addresses do not answer and may have changed. */
  suspect(): void {
    this.#isStale = true;
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTick?.();
  }

  #tick(): void {
    const ageMs = this.#options.clock.nowMs() - this.#resolvedMs;
    if (ageMs >= (this.#isStale ? RETRY_MS : RESOLVE_MS)) void this.#resolveOnce();
  }

  async #resolveOnce(): Promise<void> {
    this.#resolvedMs = this.#options.clock.nowMs();
    this.#resolving ??= this.#resolve().finally(() => (this.#resolving = undefined));
    await this.#resolving;
  }

  async #resolve(): Promise<void> {
    const { loadBalancer, log } = this.#options;
    const targets = this.#options.targets();
    this.#resolvedTargets = targets;
    this.#scheduleLookups(targets);
    try {
      const all = await Promise.all(targets.map(async (target) => this.#addressesOf(target)));
      const found = uniqueTargets(all.flat());
      const before = loadBalancer.all().join();
      loadBalancer.replace(found);
      if (before !== loadBalancer.all().join()) {
        const addresses = loadBalancer.all().map(String);
        log.info('edge addresses resolved', { edge: hostsText(targets), addresses });
      }
      this.#failure = undefined;
      this.#isStale = false;
    } catch (error) {
      this.#fail(targets, error);
    }
  }

  /** Looks up names periodically. IP addresses need no lookup. */
  #scheduleLookups(targets: readonly EdgeAddress[]): void {
    const hasNames = targets.some(({ host }) => ipVersion(host) === 0);
    if (hasNames && !this.#isStopped) {
      this.#stopTick ??= this.#options.clock.every(RETRY_MS / 2, () => this.#tick());
    } else {
      this.#stopTick?.();
      this.#stopTick = undefined;
    }
  }

  async #addressesOf({ host, port }: EdgeAddress): Promise<readonly EdgeTarget[]> {
    if (ipVersion(host) !== 0) return [{ address: host, port }];
    const addresses = [...new Set(await this.#lookup(host))].toSorted();
    if (addresses.length === 0) throw new Error('the name has no addresses');
    return addresses.map((address) => ({ address, port }));
  }

  /** Logs a failure when it begins. The metrics show how long it lasts. */
  #fail(targets: readonly EdgeAddress[], error: unknown): void {
    const { loadBalancer, log } = this.#options;
    this.#isStale = true;
    const edge = hostsText(targets);
    const reason = error instanceof Error ? error.message : String(error);
    const remaining =
      loadBalancer.size === 0 ? 'no address is known yet' : 'the previous addresses stay in use';
    const message = `the addresses of ${edge} cannot be resolved (${reason}); ${remaining}`;
    if (this.#failure !== message) log.warn('cannot resolve edge', { edge, error: message });
    this.#failure = message;
  }
}

/** Removes duplicates, because two names may have an address in common. */
function uniqueTargets(targets: readonly EdgeTarget[]): readonly EdgeTarget[] {
  return [
    ...new Map(targets.map((target) => [`${target.address} ${target.port}`, target])).values(),
  ];
}

/** Returns the hosts of the edge as text, for messages. */
export function hostsText(targets: readonly EdgeAddress[]): string {
  return targets.map(({ host }) => host).join(', ');
}

/** Looks up by libc, which reads /etc/hosts and so hostAliases: the edge must be found before cluster DNS works. */
async function systemLookup(host: string): Promise<readonly string[]> {
  const answers = await Bun.dns.lookup(host, { backend: 'libc' });
  return answers.map(({ address }) => address);
}
