/**
 * For tests only: a management cluster with one tenant of Kamaji, and somebody who prepares it.
 */
import { ManualClock } from '../../../clock/manual-clock.ts';
import type { PreparePolicy } from '../../../api/exposure.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { RESOURCES } from '../../../kube/resource.ts';
import { MemoryApiServer } from '../../../kube/testing/memory/memory-api-server.ts';
import type { ApiObject } from '../../../kube/store/object-store.ts';
import { planProvided } from '../../../providers/plan-provided.ts';
import { pasteText } from '../../../providers/preparation/plan-preparation.ts';
import type { PreparationWish } from '../../../providers/preparation/preparation.ts';
import { PROVIDER_RESOURCES } from '../../../providers/provider-resources.ts';
import { changed, freshTenant, NAMESPACE } from '../../../providers/testing/provider-objects.ts';
import { Preparer, type PreparationOutcome } from '../preparer.ts';
import { restore } from '../restore.ts';

/** The place of the tenant. */
export const BLUE = { name: 'blue', namespace: NAMESPACE };

/** What is wished for it. */
export const WISH: PreparationWish = {
  hosts: { api: 'blue.k8s.example.test', konnectivity: 'blue.konnectivity.example.test' },
  port: 443,
};

const RESOURCE = PROVIDER_RESOURCES.kamaji;

/** A lab. `await using lab = await PreparationLab.start()` ends it with the scope. */
export class PreparationLab implements AsyncDisposable {
  readonly server: MemoryApiServer;
  readonly clock = new ManualClock();
  /** Whoever wrote the tenant, by server-side apply. */
  readonly user: KubeClient;
  /** Somebody else. */
  readonly other: KubeClient;
  readonly client: KubeClient;
  preparer: Preparer;

  private constructor(server: MemoryApiServer) {
    this.server = server;
    const as = (fieldManager: string) => server.client({ fieldManager });
    this.user = as('user');
    this.other = as('argocd-controller');
    this.client = as('snicket');
    const now = () => new Date('2026-11-16T10:00:00Z');
    this.preparer = new Preparer(this.client, { clock: this.clock, now });
  }

  /** A server, and a tenant with these fields. */
  static async start(fields: Readonly<Record<string, unknown>> = {}): Promise<PreparationLab> {
    const resources = [...Object.values(RESOURCES), ...Object.values(PROVIDER_RESOURCES)];
    const lab = new PreparationLab(await MemoryApiServer.start({ resources }));
    lab.server.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    await lab.user.apply(tenantWith(fields), { resource: RESOURCE });
    return lab;
  }

  /** The tenant as it is. */
  tenant(): ApiObject {
    const tenant = this.server.read(RESOURCE, BLUE);
    if (tenant === undefined) throw new Error('the tenant is gone');
    return tenant;
  }

  /** Prepares it, as it is now or as it was read before. */
  async prepare(
    policy: PreparePolicy = 'Patch',
    {
      wish = WISH,
      object = this.tenant(),
      exposure = 'tenants/blue',
      exposures = ['tenants/blue'],
    } = {},
  ): Promise<PreparationOutcome> {
    const holder = { exposure, isThere: (key: string) => exposures.includes(key) };
    const provided = { provider: 'kamaji' as const, objects: [object] };
    return this.preparer.prepare({ policy, provided, wish, holder }, AbortSignal.timeout(10_000));
  }

  /** What is still to be written, as YAML for people. */
  paste(): string {
    const holder = { exposure: 'tenants/blue', isThere: () => true };
    const provided = { provider: 'kamaji' as const, objects: [this.tenant()] };
    return planProvided(provided, WISH, holder).map(pasteText).join('---\n');
  }

  /** Puts it back; says what has to be waited for. */
  async restore({
    isLate = false,
    object = this.tenant(),
    exposure = 'tenants/blue',
    exposures = ['tenants/blue'],
    client = this.client,
  } = {}): Promise<string | undefined> {
    const holder = { exposure, isThere: (key: string) => exposures.includes(key) };
    const provided = { provider: 'kamaji' as const, objects: [object] };
    const objects = {
      service: () => undefined,
      secret: async () => undefined,
      object: this.client.get.bind(this.client),
    };
    return restore(
      ...([client, { provided, holder, objects, isLate }] as const),
      AbortSignal.timeout(10_000),
    );
  }

  /** The user applies the tenant with these fields, and nothing else. */
  async userApplies(fields: Readonly<Record<string, unknown>>, force = false): Promise<void> {
    await this.user.apply(tenantWith(fields), { resource: RESOURCE, force });
  }

  /** Somebody changes a field. */
  async change(fields: Readonly<Record<string, unknown>>, by = this.other): Promise<void> {
    await by.patch(RESOURCE, BLUE, 'merge', changed({}, fields));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}

function tenantWith(fields: Readonly<Record<string, unknown>>): KubeObject {
  const {
    uid: _uid,
    resourceVersion: _version,
    ...metadata
  } = freshTenant('kamaji', 'blue').metadata;
  return changed({ ...freshTenant('kamaji', 'blue'), metadata }, fields);
}
