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
import { CannotExpose } from './cannot-expose.ts';
import {
  portsIn,
  serviceNames,
  type ControlPlanePlaces,
  type FoundControlPlane,
} from './control-planes.ts';
import { decideControlPlane, type ControlPlaneWishes } from './decide-control-plane.ts';
import { draftExposure, type DraftWish } from './draft.ts';
import type { Questions } from './questions.ts';
import { decideSecrets, type SecretNames, type SecretsSource } from './decide-secrets.ts';
import type { ProgressIo } from '../output/progress.ts';

/** Options that describe the Exposure. */
export interface ExposeWishes extends ControlPlaneWishes, SecretNames {
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
export interface Known {
  readonly io: ProgressIo;
  readonly management: ControlPlanePlaces &
    Pick<ManagementView, 'exposureIndex' | 'namespaceLabels'>;
  readonly secrets: SecretsSource;
  readonly questions: Questions;
}

/**
 * Returns the Exposure to create, or undefined if the user wants none.
 *
 * @throws CannotExpose, AnswerMissing, KubeError
 */
export async function decideExposure(
  wishes: ExposeWishes,
  known: Known,
): Promise<KubeObject | undefined> {
  const hasAddresses = wishes.endpoints !== undefined;
  const found = hasAddresses ? undefined : await decideControlPlane(wishes, known);
  if (found === undefined && !hasAddresses) return undefined;
  const namespace = found?.object.metadata.namespace ?? wishes.namespace ?? wishes.usualNamespace;
  const name = wishes.name ?? found?.object.metadata.name ?? (await askName(known.questions));
  const namespaces = known.management.all(RESOURCES.namespace);
  if (!namespaces.some(({ metadata }) => metadata.name === namespace)) {
    throw new CannotExpose(
      `there is no namespace ${namespace}; make it with kubectl create namespace ${namespace}, or name another with -n`,
    );
  }
  if (found?.exposedBy !== undefined && found.exposedBy !== `${namespace}/${name}`) {
    throw new CannotExpose(
      `${objectText(found.object)} has an Exposure already: ${found.exposedBy}; a control plane has one only`,
    );
  }
  const wish: DraftWish = {
    name,
    namespace,
    edge: await decideEdge(namespace, wishes, known),
    controlPlane: await controlPlaneSpec(found, { namespace, name }, wishes, known),
    apiHost: wishes.apiHost,
    konnectivityHost: wishes.konnectivityHost,
    mode: wishes.mode && modeOfFlag(wishes.mode),
    prepare: wishes.prepare,
  };
  return draftExposure({ ...wish, ...(await askHosts(wish, known)) });
}

async function askName(questions: Questions): Promise<string> {
  return questions.text({ question: 'What is the tenant called?', flag: '--name' }, (text) =>
    /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)
      ? undefined
      : 'Write up to 63 lower-case letters, digits and dashes.',
  );
}

/** Returns the name of the Edge; undefined for the default Edge. */
async function decideEdge(
  namespace: string,
  { edge }: ExposeWishes,
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
  const usual = exposureIndex.edgeOf({ spec: {} }).value;
  if (usual !== undefined && isOpen(usual)) return undefined;
  const edges = management
    .all(RESOURCES.edge)
    .flatMap((one) => exposureIndex.edgeIn(one).value ?? []);
  const open = edges.filter(isOpen);
  const [only] = open;
  if (only === undefined) {
    throw new CannotExpose(
      edges.length === 0
        ? 'there is no Edge; make one first: kubectl explain edge.spec'
        : `no Edge allows Exposures in namespace ${namespace}; label it to match spec.allowedNamespaces of one of ${edges.map(({ metadata }) => metadata.name).join(', ')}, or change that field`,
    );
  }
  if (open.length === 1) return only.metadata.name;
  return questions.choose(
    { question: 'Which Edge?', flag: '--edge' },
    open.map(({ metadata, spec }) => ({
      text: `${metadata.name} (driver ${spec.driver}${spec.domain === undefined ? '' : `, ${spec.domain}`})`,
      value: metadata.name,
    })),
  );
}

async function controlPlaneSpec(
  found: FoundControlPlane | undefined,
  place: { readonly namespace: string; readonly name: string },
  wishes: ExposeWishes,
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
            api: wishes.endpoints,
            ...(wishes.konnectivityEndpoints !== undefined && {
              konnectivity: wishes.konnectivityEndpoints,
            }),
          },
        }
      : { type: 'Service', service: serviceSpec(found.object) };
  const neighbours = serviceNames(known.management, place.namespace);
  const secrets = await decideSecrets({ ...place, name: called, neighbours }, wishes, known);
  return { ...source, ...secrets };
}

function serviceSpec(service: Service): object {
  const { api, konnectivity } = portsIn(service);
  if (api === undefined) {
    throw new CannotExpose(
      `none of the ports of ${objectText(service)} looks like that of an API server; call one "https", or write the Exposure yourself: docs/expose.md`,
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
  wish: DraftWish,
  { management, questions }: Known,
): Promise<Pick<DraftWish, 'apiHost' | 'konnectivityHost'>> {
  const { exposureIndex } = management;
  const { value: exposure } = exposureIndex.exposureIn(draftExposure(wish));
  const edge = exposure && exposureIndex.edgeOf(exposure).value;
  if (exposure === undefined || edge === undefined || edge.spec.domain !== undefined) return {};
  const { apiHost, konnectivityHost } = wish;
  const fault = (text: string) =>
    host.safeParse(text).success ? undefined : 'Write a DNS name, such as blue.example.com.';
  const noDomain = `Edge ${edge.metadata.name} has no domain`;
  const api = { question: `${noDomain}: what is the host of the API?`, flag: '--api-host' };
  const konnectivity = {
    question: 'And that of konnectivity, if it has any?',
    flag: '--konnectivity-host',
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
