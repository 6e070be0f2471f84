/**
 * Derives an Exposure from flags and the cluster. Asks the user for what is still missing.
 */
import type { Edge } from '../../api/edge.ts';
import { namespaceFault } from '../../api/allowed-namespaces.ts';
import { mayHaveKonnectivity } from '../../api/control-plane-spec.ts';
import { modeOfFlag, type ModeFlag } from '../../api/mode.ts';
import { host } from '../../api/values/network-values.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import { groupOf, RESOURCES } from '../../kube/resource.ts';
import type { ManagementView } from '../../management/management-view.ts';
import type { Service } from '../../providers/reading/control-plane-reading.ts';
import { CommandError } from '../output/messages.ts';
import {
  portsIn,
  serviceNames,
  type ControlPlaneSource,
  type FoundControlPlane,
} from './control-planes.ts';
import { decideControlPlane, type RequestedControlPlane } from './decide-control-plane.ts';
import { draftExposure, type ExposureDraft } from './draft.ts';
import type { Questions } from './questions.ts';
import { decideSecrets, type SecretNames, type SecretsSource } from './decide-secrets.ts';
import type { ProgressIo } from '../output/progress.ts';

/** Options that describe the Exposure. */
export interface RequestedExposure extends RequestedControlPlane, SecretNames {
  readonly endpoints?: readonly string[] | undefined;
  readonly konnectivityEndpoints?: readonly string[] | undefined;
  readonly name?: string | undefined;
  readonly edge?: string | undefined;
  readonly apiHost?: string | undefined;
  readonly konnectivityHost?: string | undefined;
  readonly mode?: ModeFlag | undefined;
  readonly prepare?: string | undefined;
}

/** The cluster, and how to ask the user. */
interface Known {
  readonly io: ProgressIo;
  readonly management: ControlPlaneSource &
    Pick<ManagementView, 'exposureIndex' | 'namespaceLabels'>;
  readonly secrets: SecretsSource;
  readonly questions: Questions;
}

/**
 * Returns the Exposure to create, or undefined if the user wants none.
 *
 * @throws CommandError, KubeError
 */
export async function decideExposure(
  requested: RequestedExposure,
  known: Known,
): Promise<KubeObject | undefined> {
  const hasAddresses = requested.endpoints !== undefined;
  const found = hasAddresses ? undefined : await decideControlPlane(requested, known);
  if (found === undefined && !hasAddresses) return undefined;
  const namespace =
    found?.object.metadata.namespace ?? requested.namespace ?? requested.defaultNamespace;
  const name = requested.name ?? found?.object.metadata.name ?? (await askName(known.questions));
  const namespaces = known.management.all(RESOURCES.namespace);
  if (!namespaces.some(({ metadata }) => metadata.name === namespace)) {
    throw new CommandError(
      `namespace not found: ${namespace}`,
      `create it: kubectl create namespace ${namespace}, or pass another with -n`,
    );
  }
  if (found?.exposedBy !== undefined && found.exposedBy !== `${namespace}/${name}`) {
    throw new CommandError(
      `${objectText(found.object)} is already exposed by Exposure ${found.exposedBy}`,
      'use that Exposure, or delete it first',
    );
  }
  const draft: ExposureDraft = {
    name,
    namespace,
    edge: await decideEdge(namespace, requested, known),
    controlPlane: await controlPlaneSpec(found, { namespace, name }, requested, known),
    apiHost: requested.apiHost,
    konnectivityHost: requested.konnectivityHost,
    mode: requested.mode && modeOfFlag(requested.mode),
    prepare: requested.prepare,
  };
  return draftExposure({ ...draft, ...(await askHosts(draft, known)) });
}

async function askName(questions: Questions): Promise<string> {
  const question = {
    question: 'Name of the tenant?',
    flag: '--name',
    value: 'the name of the Exposure',
  };
  return questions.text(question, (text) =>
    /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)
      ? undefined
      : 'The name must be a lowercase RFC 1123 label of at most 63 characters.',
  );
}

/** Returns the name of the Edge; undefined for the default Edge. */
async function decideEdge(
  namespace: string,
  { edge }: RequestedExposure,
  { management, questions }: Known,
): Promise<string | undefined> {
  if (edge !== undefined) return edge;
  const { exposureIndex } = management;
  const isOpen = (one: Edge) =>
    namespaceFault(
      { metadata: { name: '', namespace } },
      one,
      management.namespaceLabels(namespace),
    ) === undefined;
  const usual = exposureIndex.edges.edgeOf({ spec: {} }).value;
  if (usual !== undefined && isOpen(usual)) return undefined;
  const edges = management
    .all(RESOURCES.edge)
    .flatMap((one) => exposureIndex.edges.edgeIn(one).value ?? []);
  const open = edges.filter(isOpen);
  const [only] = open;
  if (only === undefined) {
    throw new CommandError(
      edges.length === 0
        ? 'no Edges found; create one first: kubectl explain edge.spec'
        : `no Edge allows Exposures in namespace ${namespace}; label it to match spec.allowedNamespaces of one of ${edges.map(({ metadata }) => metadata.name).join(', ')}, or change that field`,
    );
  }
  if (open.length === 1) return only.metadata.name;
  return questions.choose(
    { question: 'Which Edge?', flag: '--edge', value: 'the name of the Edge' },
    open.map(({ metadata, spec }) => ({
      text: `${metadata.name} (driver ${spec.driver}${spec.domain === undefined ? '' : `, ${spec.domain}`})`,
      value: metadata.name,
    })),
  );
}

async function controlPlaneSpec(
  found: FoundControlPlane | undefined,
  place: { readonly namespace: string; readonly name: string },
  requested: RequestedExposure,
  known: Known,
): Promise<object> {
  if (found !== undefined && !found.isService) {
    const { apiVersion, kind, metadata } = found.object;
    return {
      type: 'Object',
      objectRef: { group: groupOf(apiVersion), kind, name: metadata.name },
    };
  }
  const called = found?.object.metadata.name ?? place.name;
  const source =
    found === undefined
      ? {
          type: 'Endpoints',
          endpoints: {
            api: requested.endpoints,
            ...(requested.konnectivityEndpoints !== undefined && {
              konnectivity: requested.konnectivityEndpoints,
            }),
          },
        }
      : { type: 'Service', service: serviceSpec(found.object) };
  const neighbors = serviceNames(known.management, place.namespace);
  const secrets = await decideSecrets({ ...place, name: called, neighbors }, requested, known);
  return { ...source, ...secrets };
}

function serviceSpec(service: Service): object {
  const { api, konnectivity } = portsIn(service);
  if (api === undefined) {
    throw new CommandError(
      `cannot detect the API port of ${objectText(service)}`,
      'name one of its ports "https", or write the Exposure by hand: docs/tasks/expose.md',
    );
  }
  return {
    name: service.metadata.name,
    ...(api !== 6443 && { apiPort: api }),
    ...(konnectivity !== undefined && { konnectivityPort: konnectivity }),
  };
}

/** Asks for the hosts if the Edge has no domain to derive them from. */
async function askHosts(
  draft: ExposureDraft,
  { management, questions }: Known,
): Promise<Pick<ExposureDraft, 'apiHost' | 'konnectivityHost'>> {
  const { exposureIndex } = management;
  const { value: exposure } = exposureIndex.exposureIn(draftExposure(draft));
  const edge = exposure && exposureIndex.edges.edgeOf(exposure).value;
  if (exposure === undefined || edge === undefined || edge.spec.domain !== undefined) return {};
  const { apiHost, konnectivityHost } = draft;
  const fault = (text: string) =>
    host.safeParse(text).success
      ? undefined
      : 'The host must be a DNS name, such as blue.example.com.';
  const noDomain = `Edge ${edge.metadata.name} has no domain`;
  const api = {
    question: `${noDomain}. API host?`,
    flag: '--api-host',
    value: `the API host, because ${noDomain}`,
  };
  const konnectivity = {
    question: 'Konnectivity host, if any?',
    flag: '--konnectivity-host',
    value: 'the konnectivity host',
  };
  const asksKonnectivity =
    konnectivityHost === undefined && mayHaveKonnectivity(exposure.spec.controlPlane);
  return {
    apiHost: apiHost ?? (await questions.text(api, fault)),
    konnectivityHost: asksKonnectivity
      ? (await questions.text(konnectivity, fault, '')) || undefined
      : konnectivityHost,
  };
}
