/**
 * For tests only: a management cluster with one tenant of Kamaji, and a Preparer for it.
 */
import { ManualClock } from '../../../clock/manual-clock.ts';
import type { PreparePolicy } from '../../../api/exposure.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { keyText, type KubeObject } from '../../../kube/object.ts';
import { RESOURCES, type Resource } from '../../../kube/resource.ts';
import { MemoryApiServer } from '../../../kube/testing/memory/memory-api-server.ts';
import type { ApiObject } from '../../../kube/store/object-store.ts';
import { RECORD_ANNOTATION } from '../../../providers/preparation/record.ts';
import { PreparedObjects } from '../../../management/prepared-objects.ts';
import { planProvided } from '../../../providers/plan-provided.ts';
import {
  pasteText,
  type PreparationOwner,
} from '../../../providers/preparation/plan-preparation.ts';
import type { PreparationSpec } from '../../../providers/preparation/preparation.ts';
import { PROVIDER_RESOURCES } from '../../../providers/provider-resources.ts';
import {
  changed,
  newTenantControlPlane,
  NAMESPACE,
} from '../../../providers/testing/provider-objects.ts';
import type { PreparationOutcome } from '../next-step.ts';
import { Preparer } from '../preparer.ts';
import { restore } from '../restore.ts';

/** The place of the tenant. */
export const BLUE = { name: 'blue', namespace: NAMESPACE };

/** The spec of its preparation. */
export const SPEC: PreparationSpec = {
  hosts: { api: 'blue.k8s.example.test', konnectivity: 'blue.konnectivity.example.test' },
  port: 443,
};

const RESOURCE = PROVIDER_RESOURCES.kamaji;

/** A lab. `await using lab = await PreparationLab.start()` ends it with the scope. */
export class PreparationLab implements AsyncDisposable {
  readonly server: MemoryApiServer;
  readonly clock = new ManualClock();
  /** The client that created the tenant, by server-side apply. */
  readonly user: KubeClient;
  /** Another client. */
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
    await lab.addExposure('blue');
    return lab;
  }

  /** The tenant as it is. */
  tenant(): ApiObject {
    const tenant = this.server.read(RESOURCE, BLUE);
    if (tenant === undefined) throw new Error('the tenant is gone');
    return tenant;
  }

  /** An Exposure, as its user applies it. */
  async addExposure(
    name: string,
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const { apiVersion, kind } = RESOURCES.exposure;
    const metadata = { name, namespace: NAMESPACE, annotations };
    await this.user.apply({ apiVersion, kind, metadata, spec: {} } as KubeObject);
  }

  exposure(name = 'blue'): ApiObject {
    const exposure = this.server.read(RESOURCES.exposure, { name, namespace: NAMESPACE });
    if (exposure === undefined) throw new Error(`Exposure ${name} is gone`);
    return exposure;
  }

  /** The text of the record of an Exposure. */
  record(name = 'blue'): string | undefined {
    return this.exposure(name).metadata.annotations?.[RECORD_ANNOTATION];
  }

  /** Another client changes the record; null removes it. */
  async changeRecord(text: string | null, name = 'blue'): Promise<void> {
    const metadata = { annotations: { [RECORD_ANNOTATION]: text } };
    const key = { name, namespace: NAMESPACE };
    await this.other.patch(RESOURCES.exposure, key, 'merge', { metadata });
  }

  /** The owner of a preparation, as the operator has it. */
  owner(exposure: KubeObject = this.exposure()): PreparationOwner {
    const prepared = new PreparedObjects();
    const exposures = this.server.readAll().filter(({ kind }) => kind === 'Exposure');
    for (const object of exposures) prepared.put(object);
    const key = keyText(exposure.metadata);
    return { exposure, otherOwner: (uid) => prepared.otherOwnerOf(uid, key) };
  }

  /** Prepares it, as it is now or as it was read before. */
  async prepare(
    policy: PreparePolicy = 'Patch',
    { spec = SPEC, object = this.tenant(), exposure = this.exposure() } = {},
  ): Promise<PreparationOutcome> {
    const provided = { provider: 'kamaji' as const, objects: [object] };
    const input = { policy, provided, spec, owner: this.owner(exposure) };
    return this.preparer.prepare(input, AbortSignal.timeout(10_000));
  }

  /** What is still to be written, as YAML for people. */
  paste(): string {
    const provided = { provider: 'kamaji' as const, objects: [this.tenant()] };
    return planProvided(provided, SPEC, this.owner()).map(pasteText).join('---\n');
  }

  /** Restores it; says what has to be waited for. */
  async restore({ isLate = false, exposure = this.exposure(), client = this.client } = {}): Promise<
    string | undefined
  > {
    const objects = {
      service: () => undefined,
      secret: async () => undefined,
      object: this.client.get.bind(this.client),
    };
    const servedAs = (resource: Resource) => resource;
    const input = { exposure, servedAs, objects, isLate };
    return restore(client, input, AbortSignal.timeout(10_000));
  }

  /** The user applies the tenant with these fields, and nothing else. */
  async userApplies(fields: Readonly<Record<string, unknown>>, force = false): Promise<void> {
    await this.user.apply(tenantWith(fields), { resource: RESOURCE, force });
  }

  /** Changes a field, as another client. */
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
  } = newTenantControlPlane('kamaji', 'blue').metadata;
  return changed({ ...newTenantControlPlane('kamaji', 'blue'), metadata }, fields);
}
