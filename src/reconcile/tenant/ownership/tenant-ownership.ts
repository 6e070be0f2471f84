/**
 * Which tenants this operator owns, by the Lease `kube-system/snicket-owner` in each of them.
 *
 * An Exposure acquires the Lease before its first write to the tenant, by create or by an update of the version that it
 * read, so that of two management clusters exactly one succeeds. The owner renews it every third of its duration. An owner
 * that could not renew for two thirds of the duration stops writing; another management cluster waits for all of it, and
 * reads the Lease every minute meanwhile.
 */
import type { Clock } from '../../../clock/clock.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { isKubeError, KubeError } from '../../../kube/kube-error.ts';
import { isLowerVersion, keyText } from '../../../kube/object.ts';
import { RESOURCES } from '../../../kube/resource.ts';
import type { Logger } from '../../../telemetry/log.ts';
import {
  exposureOfCluster,
  expiresInMs,
  observeLease,
  OWNER_LEASE,
  ownerIdentity,
  ownerText,
  readOwnerLease,
  renewedLease,
  type LeaseObservation,
  type OwnerLease,
} from '../../../tenant/owner-lease.ts';

interface TenantOwnershipOptions {
  /** Identifies the management cluster. */
  readonly clusterId: () => string;
  /** Whether this management cluster has an Exposure of this key, `namespace/name`. */
  readonly hasExposure: (key: string) => boolean;
  readonly durationMs: number;
  /** Calls {@link TenantOwnership.tend} for the key after this time. */
  readonly schedule: (key: string, delayMs: number) => void;
  /** The Lease was lost, or can be acquired: reconcile the Exposure of this key. */
  readonly onChange: (key: string) => void;
  readonly log: Logger;
  readonly clock: Clock;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
}

/** Whether an Exposure owns its tenant. */
export type Ownership =
  /** `isNew`: it did not a moment ago, so whatever was read before may be out of date. */
  | { readonly kind: 'Owned'; readonly isNew: boolean }
  /** Another management cluster does. `expiresInMs` is 0 if the Lease has expired and was not acquired. */
  | { readonly kind: 'Elsewhere'; readonly holderIdentity: string; readonly expiresInMs: number }
  /** Another Exposure of this management cluster does. */
  | { readonly kind: 'Here'; readonly exposure: string }
  /** The Exposure is being deleted, and does not begin to own anything. */
  | { readonly kind: 'Deleting' };

/** Options of {@link TenantOwnership.acquire}. */
export interface AcquireOptions {
  /** Called before the Lease is written for the first time. False: the Exposure is being deleted. */
  readonly beforeWrite?: () => Promise<boolean>;
  /** Read the Lease even if it is known to be held: before something else is written. Default false. */
  readonly confirm?: boolean;
  /** Whether an expired Lease of another owner is acquired. Default true. */
  readonly takesOver?: boolean;
}

/** A Lease that is held. */
interface HeldLease {
  readonly client: KubeClient;
  readonly lease: OwnerLease;
  /** Until when the owner writes. */
  readonly validUntilMs: number;
  readonly renewAtMs: number;
}

/** A Lease of another owner. */
interface ForeignLease {
  readonly client: KubeClient;
  readonly observation: LeaseObservation;
}

/** Parts of the duration: the owner renews after the one, and stops writing after the other if it could not. */
const RENEW_AFTER = 1 / 3;
const VALID_FOR = 2 / 3;
/** Renewals are spread by this part of their interval to both sides. */
const JITTER = 0.1;
/** A renewal that failed is repeated after this part of the interval. */
const RETRY_AFTER = 1 / 5;
/** A Lease of another owner is read this often. */
const POLL_MS = 60_000;
/** Of one renewal, and of one such read. */
const TEND_TIMEOUT_MS = 5_000;
/** Other writers of the Lease come in between now and then. */
const MAX_ATTEMPTS = 3;

/** The tenants that this operator owns, by the key of their Exposure. */
export class TenantOwnership {
  readonly #options: TenantOwnershipOptions;
  readonly #held = new Map<string, HeldLease>();
  /** Those that Exposures wait for. */
  readonly #foreign = new Map<string, ForeignLease>();
  /** Exposures whose last renewal or read failed. */
  readonly #failing = new Set<string>();

  constructor(options: TenantOwnershipOptions) {
    this.#options = options;
  }

  /** Whether the Exposure may write to its tenant by this client now. */
  isOwned(key: string, client: KubeClient): boolean {
    const held = this.#held.get(key);
    return held?.client === client && this.#options.clock.nowMs() < held.validUntilMs;
  }

  /** Whether the tenant did not answer when its Lease was last renewed or read. */
  isFailing(key: string): boolean {
    return this.#failing.has(key);
  }

  /** Acquires the Lease if it can be had. Asks the server only if it is not held, or to confirm. @throws KubeError */
  async acquire(
    key: string,
    client: KubeClient,
    { beforeWrite, confirm = false, takesOver = true }: AcquireOptions,
    signal: AbortSignal,
  ): Promise<Ownership> {
    if (!confirm && this.isOwned(key, client)) return { kind: 'Owned', isNew: false };
    const { clusterId, log } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const lease = await this.#read(client, signal);
      const previous = lease?.holderIdentity;
      const isOwn = previous === ownerIdentity(clusterId(), key);
      if (isOwn && this.#adopt(key, client, lease)) return { kind: 'Owned', isNew: false };
      if (!isOwn) {
        this.#held.delete(key);
        const other = lease && this.#otherOwner(key, client, lease, takesOver);
        if (other !== undefined) return other;
        if (beforeWrite !== undefined && !(await beforeWrite())) return { kind: 'Deleting' };
      }
      try {
        await this.#write(key, client, lease, signal);
        if (!isOwn) log.info('tenant lease acquired', { exposure: key, previous });
        return { kind: 'Owned', isNew: !isOwn };
      } catch (error) {
        const isLate = isKubeError(error, 'Conflict') || isKubeError(error, 'AlreadyExists');
        const isGone = lease !== undefined && isKubeError(error, 'NotFound');
        if (!(isLate || isGone) || attempt >= MAX_ATTEMPTS) throw error;
      }
    }
  }

  /** The other owner that a Lease names; undefined if the Lease can be acquired. */
  #otherOwner(
    key: string,
    client: KubeClient,
    lease: OwnerLease,
    takesOver: boolean,
  ): Ownership | undefined {
    const { clusterId, hasExposure, schedule } = this.#options;
    const { holderIdentity } = lease;
    if (holderIdentity === '') return undefined;
    const leftMs = this.#observe(key, client, lease);
    const neighbor = exposureOfCluster(holderIdentity, clusterId());
    if (neighbor !== undefined && hasExposure(neighbor)) {
      schedule(key, POLL_MS);
      return { kind: 'Here', exposure: neighbor };
    }
    // An Exposure that this management cluster no longer has does not come back.
    if (takesOver && (neighbor !== undefined || leftMs === 0)) return undefined;
    if (takesOver) schedule(key, Math.min(POLL_MS, leftMs));
    return { kind: 'Elsewhere', holderIdentity, expiresInMs: leftMs };
  }

  /** Renews a Lease that is due, or reads one that the Exposure waits for. */
  async tend(key: string, signal: AbortSignal): Promise<void> {
    const held = this.#held.get(key);
    const foreign = this.#foreign.get(key);
    if (held !== undefined) await this.#renew(key, held, signal);
    else if (foreign !== undefined) await this.#poll(key, foreign, signal);
  }

  async #renew(key: string, held: HeldLease, signal: AbortSignal): Promise<void> {
    const { clock, schedule, log, durationMs } = this.#options;
    const dueInMs = held.renewAtMs - clock.nowMs();
    if (dueInMs > 0) {
      schedule(key, dueInMs);
      return;
    }
    const boundedSignal = AbortSignal.any([signal, clock.timeoutSignal(TEND_TIMEOUT_MS)]);
    try {
      await this.#write(key, held.client, held.lease, boundedSignal);
    } catch (error) {
      if (signal.aborted || !isKubeError(error)) throw error;
      // Acquired again or lost meanwhile. A Lease that was only read again is still due.
      if (this.#held.get(key)?.renewAtMs !== held.renewAtMs) return;
      const isChanged = isKubeError(error, 'Conflict') || isKubeError(error, 'NotFound');
      log.warn('tenant lease not renewed', { exposure: key, error });
      if (isChanged || clock.nowMs() >= held.validUntilMs) {
        this.#drop(key);
        this.#options.onChange(key);
        return;
      }
      this.#failing.add(key);
      schedule(key, durationMs * RENEW_AFTER * RETRY_AFTER);
    }
  }

  async #poll(key: string, { client }: ForeignLease, signal: AbortSignal): Promise<void> {
    const { clusterId, hasExposure, clock, schedule, onChange } = this.#options;
    const boundedSignal = AbortSignal.any([signal, clock.timeoutSignal(TEND_TIMEOUT_MS)]);
    let lease: OwnerLease | undefined;
    try {
      lease = await this.#read(client, boundedSignal);
    } catch (error) {
      if (signal.aborted || !isKubeError(error)) throw error;
      if (this.#foreign.get(key)?.client !== client) return; // acquired or forgotten meanwhile
      // The reconcile of the Exposure reports what is wrong with the tenant.
      this.#failing.add(key);
      schedule(key, POLL_MS);
      return;
    }
    this.#failing.delete(key);
    if (this.#foreign.get(key)?.client !== client) return; // acquired or forgotten meanwhile
    const leftMs = lease === undefined ? 0 : this.#observe(key, client, lease);
    const neighbor = lease && exposureOfCluster(lease.holderIdentity, clusterId());
    const isOrphan = neighbor !== undefined && !hasExposure(neighbor);
    if (leftMs === 0 || isOrphan) onChange(key);
    else schedule(key, Math.min(POLL_MS, leftMs));
  }

  /** Deletes the Lease, if it is this Exposure's. @throws KubeError */
  async release(key: string, client: KubeClient, signal: AbortSignal): Promise<void> {
    const identity = ownerIdentity(this.#options.clusterId(), key);
    this.#drop(key);
    for (let attempt = 1; ; attempt++) {
      const lease = await this.#read(client, signal);
      if (lease?.holderIdentity !== identity) return;
      const { uid, resourceVersion } = lease;
      try {
        await client.delete(RESOURCES.lease, OWNER_LEASE, { uid, resourceVersion, signal });
        return;
      } catch (error) {
        if (!isKubeError(error, 'Conflict') || attempt >= MAX_ATTEMPTS) throw error;
      }
    }
  }

  /** Nothing is left of the Exposure. */
  forget(key: string): void {
    this.#drop(key);
    this.#foreign.delete(key);
  }

  #drop(key: string): void {
    this.#held.delete(key);
    this.#failing.delete(key);
  }

  /** Notes the Lease of another owner; returns how long until it expires. */
  #observe(key: string, client: KubeClient, lease: OwnerLease): number {
    const { clock } = this.#options;
    const nowMs = clock.nowMs();
    const before = this.#foreign.get(key)?.observation;
    const observation = observeLease(before, lease, nowMs);
    this.#foreign.set(key, { client, observation });
    return expiresInMs(lease, observation, { nowMs, now: clock.now() });
  }

  async #read(client: KubeClient, signal: AbortSignal): Promise<OwnerLease | undefined> {
    const found = await client.get(RESOURCES.lease, OWNER_LEASE, { signal });
    return found && readOwnerLease(found);
  }

  /** Keeps the version of a Lease that is held and still ours; false if it has to be renewed first. */
  #adopt(key: string, client: KubeClient, lease: OwnerLease | undefined): boolean {
    const held = this.#held.get(key);
    if (
      lease === undefined ||
      held === undefined ||
      this.#options.clock.nowMs() >= held.validUntilMs
    )
      return false;
    // Another client may point to another tenant, whose Lease was renewed by this operator some other time.
    if (held.client !== client) return false;
    // A renewal may have been answered since this version was read.
    const isOlder = isLowerVersion(lease.resourceVersion ?? '', held.lease.resourceVersion ?? '');
    if (!isOlder) this.#held.set(key, { ...held, lease });
    return true;
  }

  /** Creates or updates the Lease. @throws KubeError `Conflict`, `AlreadyExists` if another writer was faster */
  async #write(
    key: string,
    client: KubeClient,
    before: OwnerLease | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { clusterId, clock, durationMs, random, schedule } = this.#options;
    const identity = ownerIdentity(clusterId(), key);
    // From before the request: others count from when the server has it.
    const sinceMs = clock.nowMs();
    const desired = renewedLease(identity, durationMs, before, clock.now());
    const written =
      before === undefined
        ? await client.create(RESOURCES.lease, desired, { signal })
        : await client.replace(RESOURCES.lease, desired, { signal });
    const lease = readOwnerLease(written);
    if (lease.holderIdentity !== identity) throw notStored(client, lease);
    const renewInMs = durationMs * RENEW_AFTER * (1 - JITTER + 2 * JITTER * random());
    this.#foreign.delete(key);
    this.#failing.delete(key);
    this.#held.set(key, {
      client,
      lease,
      validUntilMs: sinceMs + durationMs * VALID_FOR,
      renewAtMs: sinceMs + renewInMs,
    });
    schedule(key, renewInMs);
  }
}

/** An admission policy of the tenant, or an API server that does not behave like one, changed the Lease. */
function notStored({ server }: KubeClient, { holderIdentity }: OwnerLease): KubeError {
  return new KubeError(
    'Malformed',
    `${server} stored Lease ${keyText(OWNER_LEASE)} with the owner ${ownerText(holderIdentity)} instead of the one that was sent`,
  );
}
