/** The edge as the proxy uses it: resolves and probes its addresses, and balances dials over them. */
import type { Clock } from '../../clock/clock.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { TenantKey } from '../../wire/tenant-key.ts';
import type { EdgeAddress } from '../../net/edge-address.ts';
import { EdgeLoadBalancer } from './edge-load-balancer.ts';
import { EdgeHealth } from './edge-health.ts';
import { EdgeResolver, hostsText, type Lookup } from './edge-resolver.ts';
import { EdgeProber } from './edge-prober.ts';

interface EdgeOptions {
  /** Returns the current names and addresses of the edge, never empty. */
  readonly targets: () => readonly EdgeAddress[];
  /** The name that its certificate must have. */
  readonly serverName: string;
  /** Returns the current authorities as PEM. */
  readonly authorities: () => string;
  /** Returns the current key. Undefined if connections do not begin with a signed header. */
  readonly tenantKey: (() => TenantKey) | undefined;
  readonly dialTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly lookup: Lookup | undefined;
}

/** The edge. Resolves and probes it from {@link Edge.start} to {@link Edge.stop}. */
export class Edge {
  readonly loadBalancer: EdgeLoadBalancer;
  readonly health: EdgeHealth;
  readonly #resolver: EdgeResolver;
  readonly #targets: () => readonly EdgeAddress[];
  #isStopped = false;

  constructor(options: EdgeOptions) {
    const { targets, serverName, authorities, tenantKey, clock, log, lookup } = options;
    const loadBalancer = new EdgeLoadBalancer(clock);
    this.#targets = targets;
    this.loadBalancer = loadBalancer;
    this.#resolver = new EdgeResolver({ targets, loadBalancer, clock, log, lookup });
    const timeoutMs = options.dialTimeoutMs;
    const noAddress = (): string => this.#noAddress();
    const prober = new EdgeProber({
      loadBalancer,
      serverName,
      authorities,
      tenantKey,
      timeoutMs,
      noAddress,
    });
    this.health = new EdgeHealth({ probe: async () => prober.probe(), clock, log });
  }

  /** Starts the lookups and probes. A name that cannot be looked up yet only delays readiness. */
  start(): void {
    void this.#resolver.start().then(() => {
      if (!this.#isStopped) this.health.start();
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#resolver.stop();
    this.health.stop();
  }

  /** Handles a changed file, which may have new targets. New connections use the new targets; open connections stay. */
  retarget(): void {
    this.health.suspect();
    void this.#resolver.retarget().then(() => {
      if (!this.#isStopped) this.health.suspect();
    });
  }

  /** Handles a failed dial: the edge may have moved, or be down. */
  readonly suspect = (): void => {
    this.#resolver.suspect();
    this.health.suspect();
  };

  /** Returns why the edge cannot be used, as a message. Undefined if it can. */
  fault(): string | undefined {
    return this.loadBalancer.size === 0 ? this.#noAddress() : this.health.reason();
  }

  #noAddress(): string {
    return (
      this.#resolver.failure ?? `the addresses of ${hostsText(this.#targets())} are being resolved`
    );
  }
}
