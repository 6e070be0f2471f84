/**
 * For tests only: every write to a tenant, with the operator that sent it and the owner that the tenant's Lease named at
 * that moment.
 */
import type { ClusterAccess } from '../../kube/access/cluster-access.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/kube-error.ts';
import { RESOURCES, resourceOf } from '../../kube/resource.ts';
import { OWNER_LEASE, readOwnerLease } from '../../tenant/owner-lease.ts';
import type { LabTenant } from './lab-tenant.ts';
import type { OperatorLab } from './operator-lab.ts';

/** A write to a tenant. */
export interface TenantWrite {
  /** The lab whose operator sent it. */
  readonly by: OperatorLab;
  readonly verb: 'create' | 'replace' | 'apply' | 'patch' | 'delete';
  readonly kind: string;
  /** The owner in the Lease when the write was sent. */
  readonly holderIdentity: string | undefined;
}

/** The owner in the Lease of a tenant. */
export function holderIn({ server }: LabTenant): string | undefined {
  const lease = server.read(RESOURCES.lease, OWNER_LEASE);
  return lease && readOwnerLease(lease).holderIdentity;
}

/** The identity of the Exposure of a lab. */
export function identityIn({ management }: OperatorLab, exposure = 'blue'): string {
  const { uid } = management.read(RESOURCES.namespace, { name: 'kube-system' })?.metadata ?? {};
  return `${uid}/tenants/${exposure}`;
}

/** Records the writes of operators to one tenant. */
export class TenantWrites {
  readonly all: TenantWrite[] = [];
  /** Called after each write that is recorded, before it is sent. */
  onWrite: (write: TenantWrite) => void = () => {};
  /** Labs whose operators cannot reach the tenant. */
  readonly cutOff = new Set<OperatorLab>();
  readonly #tenant: LabTenant;

  constructor(tenant: LabTenant) {
    this.#tenant = tenant;
  }

  /** How the operator of a lab connects to tenants. */
  connect(by: OperatorLab): (access: ClusterAccess) => KubeClient {
    const connectTenant = by.environment.operatorOptions.connectTenant;
    if (connectTenant === undefined) throw new TypeError('the lab has no clients in memory');
    return (access) => this.#recorded(by, connectTenant(access));
  }

  /** Writes by operators that did not own the tenant, except those to the Lease itself. */
  byOthers(): readonly TenantWrite[] {
    return this.all.filter(
      ({ by, kind, holderIdentity }) =>
        kind !== RESOURCES.lease.kind && holderIdentity !== identityIn(by),
    );
  }

  /** What the operator of a lab wrote. */
  of(lab: OperatorLab): readonly TenantWrite[] {
    return this.all.filter(({ by }) => by === lab);
  }

  #recorded(by: OperatorLab, client: KubeClient): KubeClient {
    const reach = () => {
      if (this.cutOff.has(by)) throw new KubeError('Unreachable', 'the tenant is cut off');
    };
    const record = (verb: TenantWrite['verb'], kind: string) => {
      reach();
      const write = { by, verb, kind, holderIdentity: holderIn(this.#tenant) };
      this.all.push(write);
      this.onWrite(write);
    };
    return {
      server: client.server,
      get: async (...args) => {
        reach();
        return client.get(...args);
      },
      list: async (...args) => {
        reach();
        return client.list(...args);
      },
      watch: (...args) => {
        reach();
        return client.watch(...args);
      },
      kubeletStatus: async (...args) => {
        reach();
        return client.kubeletStatus(...args);
      },
      version: async (...args) => {
        reach();
        return client.version(...args);
      },
      count: async (...args) => client.count(...args),
      currentVersion: async (...args) => client.currentVersion(...args),
      discoverPlurals: async (...args) => client.discoverPlurals(...args),
      create: async (resource, ...args) => {
        record('create', resource.kind);
        return client.create(resource, ...args);
      },
      replace: async (resource, ...args) => {
        record('replace', resource.kind);
        return client.replace(resource, ...args);
      },
      apply: async (object, options) => {
        record('apply', resourceOf(object).kind);
        return client.apply(object, options);
      },
      patch: async (resource, ...args) => {
        record('patch', resource.kind);
        return client.patch(resource, ...args);
      },
      delete: async (resource, ...args) => {
        record('delete', resource.kind);
        return client.delete(resource, ...args);
      },
    };
  }
}
