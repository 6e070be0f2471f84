/**
 * Kamaji: a TenantControlPlane. Its Service has the ports of the API and of konnectivity, and one certificate serves
 * both.
 */
import type { KubeObject } from '../kube/object.ts';
import { numberAt } from '../kube/unstructured.ts';
import {
  flagEntry,
  type DesiredField,
  type Preparation,
  type PreparationSpec,
} from './preparation/preparation.ts';
import type { Provider } from './provider.ts';
import { inVersionOf, PROVIDER_RESOURCES } from './provider-resources.ts';
import {
  API_SERVER_ARGUMENTS,
  commonFields,
  commonFindings,
  hasKonnectivity,
  KONNECTIVITY,
  pendingRollout,
  readTenantControlPlane,
} from './tenant-control-plane.ts';

const PAUSED = 'kamaji.clastix.io/paused';

/** The provider Kamaji. */
export const kamaji: Provider = {
  name: 'kamaji',
  resource: PROVIDER_RESOURCES.kamaji,
  read: async (object, objects) =>
    readTenantControlPlane(object, { provider: 'kamaji', displayName: 'Kamaji' }, objects),
  prepare: (objects, spec) => objects.map((object) => prepareOne(object, spec)),
  clearedBeforeRemoval: [API_SERVER_ARGUMENTS],
  pendingRollout,
};

function prepareOne(object: KubeObject, spec: PreparationSpec): Preparation {
  const { hosts, port } = spec;
  // For a host name without a port, Kamaji uses the port of the API server. If the edge has that port, both forms match.
  const isApiPort = (numberAt(object, 'spec', 'networkProfile', 'port') ?? 6443) === port;
  const addresses = [`${hosts.api}:${port}`, ...(isApiPort ? [hosts.api] : [])] as const;
  return {
    object,
    resource: inVersionOf(PROVIDER_RESOURCES.kamaji, object),
    fields: [...commonFields(object, spec, addresses), ...agentFields(object, spec)],
    findings: commonFindings(object, spec, { displayName: 'Kamaji', pausedBy: PAUSED }),
  };
}

/**
 * Returns the flags of the agents. Kamaji points agents at the address of the Service, which workers cannot reach. A
 * flag in extraArgs replaces Kamaji's flag of the same name.
 */
function agentFields(
  object: KubeObject,
  { hosts: { konnectivity = '' }, port }: PreparationSpec,
): readonly DesiredField[] {
  if (!hasKonnectivity(object)) return [];
  return [
    {
      path: [...KONNECTIVITY, 'agent', 'extraArgs'],
      entries: [
        flagEntry('--proxy-server-host', konnectivity),
        flagEntry('--proxy-server-port', String(port)),
      ],
      purpose: 'the konnectivity agents of the workers connect to the edge',
    },
  ];
}
