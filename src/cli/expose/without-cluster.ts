/**
 * Drafts an Exposure from flags alone, without a cluster. Assumes defaults for what only a cluster would have, and
 * lists them as not checked.
 */
import { DEFAULT_EDGE_ANNOTATION } from '../../api/edge.ts';
import type { DiscoveredApis } from '../../edges/driver.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import { groupOf, RESOURCES } from '../../kube/resource.ts';
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { readerOf } from '../sources/object-reader.ts';
import { CannotExpose } from './cannot-expose.ts';
import { resourcesNamed, type NamedControlPlane } from './control-planes.ts';
import { decideExposure, type RequestedExposure } from './decide.ts';
import { SecretsSource } from './decide-secrets.ts';
import { NO_TERMINAL } from './questions.ts';
import type { ProgressIo } from '../output/progress.ts';

/** The draft. */
export interface Draft {
  readonly object: KubeObject;
  /** The assumptions that were not checked: `Edge shared exists`. */
  readonly unchecked: readonly string[];
}

/** Assumes that every kind is served, in its newest version. */
const EVERYTHING: DiscoveredApis = { has: () => true };

/** Reports whether the flags identify the control plane, so that no cluster has to be searched. */
export function isNamedInFull({ controlPlane, endpoints }: RequestedExposure): boolean {
  return endpoints !== undefined || controlPlane?.kind !== undefined;
}

/** Returns the Exposure that the flags describe. @throws CannotExpose, AnswerMissing */
export async function draftWithoutCluster(
  io: ProgressIo,
  requested: RequestedExposure,
): Promise<Draft> {
  const namespace = requested.namespace ?? requested.defaultNamespace;
  const { controlPlane } = requested;
  const meant = controlPlane && assumedControlPlane(controlPlane, namespace);
  const objects = [ASSUMED_EDGE, namespaceCalled(namespace), ...(meant ? [meant] : [])];
  const management = new ManagementSnapshot(objects, EVERYTHING, readerOf(objects));
  const secrets = new SecretsSource(NO_SECRETS, new AbortController().signal);
  const object = await decideExposure(requested, {
    io,
    management,
    secrets,
    questions: NO_TERMINAL,
  });
  if (object === undefined)
    throw new CannotExpose('no control plane given; pass KIND/NAME or --endpoints');
  return { object, unchecked: [...placeSentences(object, requested), ...sourceSentences(meant)] };
}

function placeSentences(
  object: KubeObject,
  { edge, apiHost }: RequestedExposure,
): readonly string[] {
  const { namespace } = object.metadata;
  return [
    `namespace ${namespace} exists, without ${objectText(object)}`,
    `${edge === undefined ? 'a default Edge' : `Edge ${edge}`} exists${apiHost === undefined ? ', with a domain to derive hosts from' : `, and ${apiHost} is not used yet`}`,
  ];
}

function sourceSentences(meant: KubeObject | undefined): readonly string[] {
  if (meant === undefined) return [SECRETS];
  const there = `${objectText(meant)} exists`;
  if (meant.kind !== RESOURCES.service.kind) return [`${there}, served as ${meant.apiVersion}`];
  return [
    `${there}; set apiPort if its API port is not 6443, and konnectivityPort if it has konnectivity`,
    SECRETS,
  ];
}

const SECRETS =
  'the Secrets exist, with the keys tls.crt, tls.key and admin.conf; set other keys if they differ';

/** Returns the control plane as a cluster would have it; undefined for an unknown kind. */
function assumedControlPlane(
  { kind = '', name }: NamedControlPlane,
  namespace: string,
): KubeObject | undefined {
  const called = resourcesNamed(kind);
  const [resource] = called;
  if (resource === undefined) return undefined;
  if (called.length > 1) {
    const words = called.map(
      (one) => `${one.kind.toLowerCase()}.${groupOf(one.apiVersion)}/${name}`,
    );
    throw new CannotExpose(`kind ${kind} is ambiguous; pass ${words.join(' or ')}`);
  }
  const object = {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: { name, namespace },
  };
  return resource === RESOURCES.service ? { ...object, ...DEFAULT_SERVICE } : object;
}

const DEFAULT_SERVICE = { spec: { ports: [{ port: 6443 }] } };

function namespaceCalled(name: string): KubeObject {
  const { apiVersion, kind } = RESOURCES.namespace;
  return { apiVersion, kind, metadata: { name } };
}

/** A default Edge with a domain, so that neither the Edge nor hosts have to be given. The Exposure does not name it. */
const ASSUMED_EDGE: KubeObject & { readonly spec: object } = {
  apiVersion: RESOURCES.edge.apiVersion,
  kind: RESOURCES.edge.kind,
  metadata: { name: 'assumed', annotations: { [DEFAULT_EDGE_ANNOTATION]: 'true' } },
  spec: { driver: 'snicket', domain: 'example.com' },
};

/** Finds no Secrets, so that those named by flags are used as given. */
const NO_SECRETS: ConstructorParameters<typeof SecretsSource>[0] = {
  get: async () => Promise.resolve(undefined),
  list: async () => Promise.resolve({ items: [], resourceVersion: '' }),
};
