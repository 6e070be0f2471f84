/**
 * A view of a management cluster that overrides parts of another view.
 */
import type { KubeClient } from '../kube/client/client.ts';
import type { KubeObject, ObjectKey } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';
import type { ManagementView } from './management-view.ts';

/** Delegates to another view. Subclasses override what differs. */
export class DelegatingView implements ManagementView {
  protected readonly view: ManagementView;

  constructor(view: ManagementView) {
    this.view = view;
  }

  get client(): Pick<KubeClient, 'get'> {
    return this.view.client;
  }

  get clusterId() {
    return this.view.clusterId;
  }

  get served() {
    return this.view.served;
  }

  get tenantRoutes() {
    return this.view.tenantRoutes;
  }

  get exposureIndex() {
    return this.view.exposureIndex;
  }

  async secret(key: ObjectKey, signal: AbortSignal) {
    return this.view.secret(key, signal);
  }

  async currentSecret(key: ObjectKey, signal: AbortSignal) {
    return this.view.currentSecret(key, signal);
  }

  async object(resource: Resource, key: ObjectKey, signal: AbortSignal) {
    return this.view.object(resource, key, signal);
  }

  readErrorOf(resource: Resource) {
    return this.view.readErrorOf(resource);
  }

  service(key: ObjectKey) {
    return this.view.service(key);
  }

  namespaceLabels(name: string) {
    return this.view.namespaceLabels(name);
  }

  all(resource: Resource) {
    return this.view.all(resource);
  }

  claimants(hosts: readonly string[]) {
    return this.view.claimants(hosts);
  }

  ownedBy(exposure: KubeObject) {
    return this.view.ownedBy(exposure);
  }
}
