/**
 * Drafts an Exposure from flags alone, without a cluster. Assumes that the objects it refers to exist, and lists these
 * assumptions as not checked.
 */
import { DEFAULT_EDGE_ANNOTATION } from '../../api/edge.ts';
import type { DiscoveredApis } from '../../edges/driver.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import { groupOf, RESOURCES } from '../../kube/resource.ts';
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { readerOf } from '../sources/object-reader.ts';
import { CommandError } from '../output/messages.ts';
import { resourcesNamed, type NamedControlPlane } from './control-planes.ts';
import { decideExposure, type RequestedExposure } from './decide.ts';
import { SecretsSource } from './decide-secrets.ts';
import { NO_TERMINAL } from './questions.ts';
import type { ProgressIo } from '../output/progress.ts';

/** The Exposure, and the assumptions it is based on. */
interface Draft {
  readonly object: KubeObject;
  /** The assumptions that were not checked, such as `whether Edge shared exists`. */
  readonly unchecked: readonly string[];
}

/** Assumes that every kind is served, in its newest version. */
const ALL_APIS: DiscoveredApis = { has: () => true };

/** Reports whether the flags identify the control plane, so that no cluster has to be searched. */
export function isNamedInFull({ controlPlane, endpoints }: RequestedExposure): boolean {
  return endpoints !== undefined || controlPlane?.kind !== undefined;
}

/** Returns the Exposure that the flags describe. @throws CommandError */
export async function draftWithoutCluster(
  io: ProgressIo,
  requested: RequestedExposure,
): Promise<Draft> {
  const namespace = requested.namespace ?? requested.defaultNamespace;
  const { controlPlane } = requested;
  const source = controlPlane && assumedControlPlane(controlPlane, namespace);
  const objects = [ASSUMED_EDGE, namespaceObject(namespace), ...(source ? [source] : [])];
  const management = new ManagementSnapshot(objects, ALL_APIS, readerOf(objects));
  const secrets = new SecretsSource(NO_SECRETS, new AbortController().signal);
  const object = await decideExposure(requested, {
    io,
    management,
    secrets,
    questions: NO_TERMINAL,
  });
  if (object === undefined)
    throw new CommandError('no control plane given', 'pass KIND/NAME or --endpoints');
  return {
    object,
    unchecked: [...targetAssumptions(object, requested), ...sourceAssumptions(source)],
  };
}

/** Returns the assumptions about the namespace, the Edge and the host. */
function targetAssumptions(
  object: KubeObject,
  { edge, apiHost }: RequestedExposure,
): readonly string[] {
  const { namespace } = object.metadata;
  return [
    `whether namespace ${namespace} exists and ${objectText(object)} does not`,
    `whether ${edge === undefined ? 'a default Edge' : `Edge ${edge}`} exists${apiHost === undefined ? ' with a domain to derive hosts from' : ` and host ${apiHost} is not used yet`}`,
  ];
}

/** Returns the assumptions about the control plane and its Secrets. */
function sourceAssumptions(source: KubeObject | undefined): readonly string[] {
  if (source === undefined) return [SECRET_ASSUMPTION];
  const exists = `whether ${objectText(source)} exists`;
  if (source.kind !== RESOURCES.service.kind)
    return [`${exists} in API version ${source.apiVersion}`];
  return [
    `${exists}; set spec.controlPlane.service.apiPort if its API port is not 6443, and spec.controlPlane.service.konnectivityPort if it has konnectivity`,
    SECRET_ASSUMPTION,
  ];
}

const SECRET_ASSUMPTION =
  'whether the Secrets exist with the keys tls.crt, tls.key and admin.conf; set spec.controlPlane.caSecretRef and spec.controlPlane.kubeconfigSecretRef if the keys differ';

/** Returns an object for the control plane, with a Service's default port; undefined for an unknown kind. */
function assumedControlPlane(
  { kind = '', name }: NamedControlPlane,
  namespace: string,
): KubeObject | undefined {
  const resources = resourcesNamed(kind);
  const [resource] = resources;
  if (resource === undefined) return undefined;
  if (resources.length > 1) {
    const qualified = resources.map(
      (match) => `${match.kind.toLowerCase()}.${groupOf(match.apiVersion)}/${name}`,
    );
    throw new CommandError(`kind ${kind} is ambiguous`, `pass ${qualified.join(' or ')}`);
  }
  const object = {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: { name, namespace },
  };
  return resource === RESOURCES.service ? { ...object, ...DEFAULT_SERVICE } : object;
}

const DEFAULT_SERVICE = { spec: { ports: [{ port: 6443 }] } };

function namespaceObject(name: string): KubeObject {
  const { apiVersion, kind } = RESOURCES.namespace;
  return { apiVersion, kind, metadata: { name } };
}

/** A default Edge with a domain, so that neither --edge nor hosts are required. The Exposure does not reference it. */
const ASSUMED_EDGE: KubeObject & { readonly spec: object } = {
  apiVersion: RESOURCES.edge.apiVersion,
  kind: RESOURCES.edge.kind,
  metadata: { name: 'assumed', annotations: { [DEFAULT_EDGE_ANNOTATION]: 'true' } },
  spec: { driver: 'snicket', domain: 'example.com' },
};

/** A client without Secrets, so that Secret names in flags are used without checks. */
const NO_SECRETS: ConstructorParameters<typeof SecretsSource>[0] = {
  get: async () => Promise.resolve(undefined),
  list: async () => Promise.resolve({ items: [], resourceVersion: '' }),
};
