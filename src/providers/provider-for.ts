/**
 * The providers, by the objects that they own.
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

/** All providers, by name. */
export const PROVIDERS: Readonly<Record<ProviderName, Provider>> = {
  kamaji,
  steward,
  k0smotron,
  k0rdent,
  'capi-k0smotron': capiK0smotron,
};

/**
 * Returns the provider of an object or of an owner reference, in any version; undefined if no provider has this kind.
 */
export function providerFor(reference: {
  readonly apiVersion: string;
  readonly kind: string;
}): Provider | undefined {
  return providerForReference({ group: groupOf(reference.apiVersion), kind: reference.kind });
}

/**
 * Returns the provider of the object that `spec.controlPlane.objectRef` references; undefined if no provider has this
 * kind.
 */
export function providerForReference(reference: KindReference): Provider | undefined {
  return Object.values(PROVIDERS).find(({ resource }) => isReferenceTo(resource, reference));
}

/** Returns the kind of a provider's object, in the version of the object. @throws TypeError for any other object */
export function resourceOfProvider(object: KubeObject): Resource {
  const provider = providerFor(object);
  if (provider !== undefined) return inVersionOf(provider.resource, object);
  throw new TypeError(`${object.apiVersion} ${object.kind} is not a kind of any provider`);
}
