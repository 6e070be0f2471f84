/**
 * The management cluster of a dry run.
 */
import { TenantRouteIndex } from '../api/tenant-route-index.ts';
import type { TenantRoute } from '../api/tenant-route.ts';
import type { RecordingObjectClient } from '../kube/client/recording-client.ts';
import type { ObjectKey } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import { DelegatingView } from '../management/delegating-view.ts';
import type { ManagementAccess, ManagementView } from '../management/management-view.ts';

/** A management cluster whose writes are recorded. */
export class RecordedManagement extends DelegatingView implements ManagementAccess {
  readonly #client: RecordingObjectClient;
  readonly #tenantRoutes: TenantRouteIndex<TenantRoute>;

  /** @param exposure - The key of the only Exposure whose TenantRoutes are written. */
  constructor(view: ManagementView, client: RecordingObjectClient, exposure: string) {
    super(view);
    this.#client = client;
    this.#tenantRoutes = new TenantRouteIndex(view.tenantRoutes.ofExposure(exposure));
  }

  /** Those of the Exposure, apart from the view: its recorded TenantRoutes own no hosts in the next dry run. */
  override get tenantRoutes(): TenantRouteIndex<TenantRoute> {
    return this.#tenantRoutes;
  }

  override get client(): RecordingObjectClient {
    return this.#client;
  }

  override async currentSecret(key: ObjectKey, signal: AbortSignal) {
    return this.#client.get(RESOURCES.secret, key, { signal });
  }
}
