/**
 * The clients, caches and settings of reconciles and cleanups. With clients that record, the same code previews what it would
 * write.
 */
import type { ExposureStatus } from '../api/exposure.ts';
import type { Clock } from '../clock/clock.ts';
import type { Applier } from '../kube/apply/apply.ts';
import type { EventRecorder } from '../kube/events/events.ts';
import type { StatusWriter } from '../kube/status-writer.ts';
import type { ManagementAccess } from '../management/management-view.ts';
import type { MasterKeys } from '../management/master-keys.ts';
import type { Logger } from '../telemetry/log.ts';
import type { ObserveDeps } from './observe.ts';
import type { Preparer } from './preparation/preparer.ts';
import type { SecretRenewals } from './preparation/secret-renewals.ts';
import type { TenantConnections } from './tenant/link/tenant-links.ts';
import type { TenantOwnership } from './tenant/ownership/tenant-ownership.ts';
import type { RolloutPacer } from './tenant/rollout-pacing.ts';

/** The clients, caches and settings. */
export interface ReconcileDeps extends ObserveDeps {
  readonly management: ManagementAccess;
  /** Applies route objects. */
  readonly applier: Applier;
  /**
   * Called with the key of an Exposure when the writes of its first TenantRoutes for these hosts have ended, or when one of
   * its TenantRoutes has given them back.
   */
  readonly onHostsReleased: (hosts: readonly string[], key: string) => void;
  readonly preparer: Preparer;
  readonly renewals: SecretRenewals;
  /** What this process has written to Exposures. The watch may deliver it later. */
  readonly statuses: StatusWriter<ExposureStatus>;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Whether tenants are reconciled. Without that, nothing is known about them. */
  readonly readsTenants: boolean;
  readonly links: TenantConnections;
  readonly ownership: TenantOwnership;
  /** The rollouts of all tenants. */
  readonly pacer: RolloutPacer;
  readonly masterKeys: () => Promise<MasterKeys>;
  /** How long one attempt in a tenant may take: a tenant that hangs must not delay the others. */
  readonly tenantTimeoutMs: number;
  /** How long a deleted Exposure waits for a tenant that cannot be reached. */
  readonly cleanupTimeoutMs: number;
  readonly log: Logger;
  readonly clock: Clock;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
}
