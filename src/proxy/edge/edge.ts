/**
 * The edge as the proxy knows it: where it is, which of its addresses answer, and whether it is who it should be.
 */
import type { Clock } from '../../clock/clock.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { TenantKey } from '../../wire/tenant-key.ts';
import type { EdgeAddress } from '../../net/edge-address.ts';
import { EdgeEndpoints } from './edge-endpoints.ts';
import { EdgeHealth } from './edge-health.ts';
import { EdgeResolver, hostsText, type Lookup } from './edge-resolver.ts';
import { EdgeScout } from './edge-scout.ts';

/** Options of {@link Edge}. */
export interface EdgeOptions {
  /** Names and addresses of the edge at this moment; never empty. */
  readonly targets: () => readonly EdgeAddress[];
  /** What its certificate has to carry. */
  readonly serverName: string;
  /** The authorities of this moment, as PEM. */
  readonly authorities: () => string;
  /** The key of this moment, where connections begin with a signed header. */
  readonly tenantKey: (() => TenantKey) | undefined;
  readonly dialTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly lookup: Lookup | undefined;
}

/** Looked up and probed from {@link Edge.start} to {@link Edge.stop}. */
export class Edge {
  readonly endpoints: EdgeEndpoints;
  readonly health: EdgeHealth;
  readonly #resolver: EdgeResolver;
  readonly #targets: () => readonly EdgeAddress[];
  #isStopped = false;

  constructor(options: EdgeOptions) {
    const { targets, serverName, authorities, tenantKey, clock, log, lookup } = options;
    const endpoints = new EdgeEndpoints(clock);
    this.#targets = targets;
    this.endpoints = endpoints;
    this.#resolver = new EdgeResolver({ targets, endpoints, clock, log, lookup });
    const timeoutMs = options.dialTimeoutMs;
    const noAddress = (): string => this.#noAddress();
    const scout = new EdgeScout({
      endpoints,
      serverName,
      authorities,
      tenantKey,
      timeoutMs,
      noAddress,
    });
    this.health = new EdgeHealth({ probe: async () => scout.probe(), clock, log });
  }

  /** A name that cannot be looked up yet holds up nothing but readiness. */
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

  /** A file has changed, perhaps that of the targets. New connections use the new ones; open ones stay. */
  retarget(): void {
    this.health.suspect();
    void this.#resolver.retarget().then(() => {
      if (!this.#isStopped) this.health.suspect();
    });
  }

  /** A dial has failed: perhaps the edge has moved, perhaps it is gone. */
  readonly suspect = (): void => {
    this.#resolver.suspect();
    this.health.suspect();
  };

  /** Why nothing can be carried to it, as a sentence; nothing if all is well. */
  fault(): string | undefined {
    return this.endpoints.size === 0 ? this.#noAddress() : this.health.reason();
  }

  #noAddress(): string {
    return (
      this.#resolver.failure ?? `the addresses of ${hostsText(this.#targets())} are being looked up`
    );
  }
}
