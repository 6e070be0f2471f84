/**
 * The provider of an object.
 */
import { capiK0smotron } from './capi-k0smotron.ts';
import type { KubeObject } from '../kube/object.ts';
import { groupOf, type Resource } from '../kube/resource.ts';
import type { ProviderName } from './reading/control-plane-reading.ts';
import { k0rdent } from './k0rdent.ts';
import { k0smotron } from './k0smotron.ts';
import { kamaji } from './kamaji.ts';
import type { Provider } from './provider.ts';
import { inVersionOf, isReferenceTo, type KindReference } from './provider-resources.ts';
import { steward } from './steward.ts';

/** All of them. */
export const PROVIDERS: Readonly<Record<ProviderName, Provider>> = {
  kamaji,
  steward,
  k0smotron,
  k0rdent,
  'capi-k0smotron': capiK0smotron,
};

/** The provider of an object or of an owner reference, in any version; undefined if no provider has this kind. */
export function providerFor(of: {
  readonly apiVersion: string;
  readonly kind: string;
}): Provider | undefined {
  return providerForReference({ group: groupOf(of.apiVersion), kind: of.kind });
}

/** The provider of the object that `spec.controlPlane.objectRef` references; undefined if no provider has this kind. */
export function providerForReference(reference: KindReference): Provider | undefined {
  return Object.values(PROVIDERS).find(({ resource }) => isReferenceTo(resource, reference));
}

/** The kind of a provider's object, in the version that the object has. @throws TypeError for any other object */
export function resourceOfProvider(object: KubeObject): Resource {
  const provider = providerFor(object);
  if (provider !== undefined) return inVersionOf(provider.resource, object);
  throw new TypeError(`${object.apiVersion} ${object.kind} is of no provider`);
}
