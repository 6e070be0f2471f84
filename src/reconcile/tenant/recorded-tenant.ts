/**
 * The tenant of a dry run.
 */
import type { Finding } from '../../api/finding.ts';
import type { Clock } from '../../clock/clock.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { RecordingClient, type RecordedWrite } from '../../kube/client/recording-client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { placeholder } from '../../plan/placeholder.ts';
import { OWNER_LEASE, readOwnerLease } from '../../tenant/owner-lease.ts';
import type { connectToTenant } from './connect-to-tenant.ts';
import { TenantLink } from './link/tenant-link.ts';
import type { TenantAddress, TenantConnections } from './link/tenant-links.ts';

/** Longer than a dry run takes: what was read is not read again. */
const FRESH_MS = 60_000;

/** The connection to the tenant of one Exposure. Its writes are recorded. */
export class RecordedTenant implements TenantConnections {
  /** Whether the tenant is owned. */
  isOwned: (client: KubeClient) => boolean = () => false;
  readonly #key: string;
  readonly #connect: typeof connectToTenant;
  readonly #clock: Clock;
  #clusterId: string | undefined;
  #link: TenantLink | undefined;
  #recording: RecordingClient | undefined;

  constructor(
    key: string,
    clusterId: string | undefined,
    connect: typeof connectToTenant,
    clock: Clock,
  ) {
    this.#key = key;
    this.#clusterId = clusterId;
    this.#connect = connect;
    this.#clock = clock;
  }

  /** Of the management cluster. A folder of files has none that is known. */
  get clusterId(): string {
    return this.#clusterId ?? placeholder('uid of Namespace kube-system');
  }

  get writes(): readonly RecordedWrite[] {
    return this.#recording?.writes ?? [];
  }

  async open(
    _exposure: string,
    address: TenantAddress,
    signal: AbortSignal,
  ): Promise<TenantLink | Finding> {
    const client = await this.#connect(address, signal);
    if ('code' in client) return client;
    this.#clusterId ??= await this.#ownClusterId(client, signal);
    const recording = new RecordingClient(client);
    this.#recording = recording;
    this.#link = new TenantLink({
      client: recording,
      isOwned: () => this.isOwned(recording),
      watchesNodes: address.watchesNodes,
      freshMs: FRESH_MS,
      onChange: () => {},
      clock: this.#clock,
      random: Math.random,
    });
    this.#link.open();
    return this.#link;
  }

  /** As the Lease has it, if that names this Exposure: `snicket run` keeps the id to itself. */
  async #ownClusterId(client: KubeClient, signal: AbortSignal): Promise<string | undefined> {
    // A tenant that fails here fails the reconcile too, which says why.
    const found = await client
      .get(RESOURCES.lease, OWNER_LEASE, { signal })
      .catch((error: unknown) => {
        if (isKubeError(error)) return undefined;
        throw error;
      });
    const holder = found === undefined ? '' : readOwnerLease(found).holderIdentity;
    const suffix = `/${this.#key}`;
    return holder.endsWith(suffix) ? holder.slice(0, -suffix.length) : undefined;
  }

  current(): TenantLink | undefined {
    return this.#link;
  }

  failed(): void {}

  answered(): void {}

  failuresOf(): number {
    return 0;
  }

  forget(): void {
    this.close();
  }

  close(): void {
    this.#link?.close();
  }
}
