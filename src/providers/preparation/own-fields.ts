/**
 * The fields that Snicket writes, by kind, and the entries that it writes into lists. A user with permission to write
 * an Exposure can write its record too, without permission for the provider's object. Therefore cleanup only restores
 * these fields, whatever a record says, and only puts another value of Snicket's own flags into a list.
 */
import { isPublicEndpoint, NO_OWN_PROXY } from '../k0s/patches.ts';
import { isFlag, pathText, type FieldPath } from './preparation.ts';
import type { FieldRecord } from './record.ts';

/** The entries that a record may contain, and the entries that they may have replaced. */
interface ListRule {
  readonly isEntry: (entry: unknown) => boolean;
  readonly isReplaced: (was: unknown, entry: unknown) => boolean;
}

type FieldRule = 'value' | ListRule;

const NAMES: ListRule = {
  isEntry: (entry) => typeof entry === 'string',
  isReplaced: () => false,
};

function flags(...names: readonly string[]): ListRule {
  return {
    isEntry: (entry) => names.some((name) => isFlag(name, entry)),
    isReplaced: (was, entry) => names.some((name) => isFlag(name, entry) && isFlag(name, was)),
  };
}

const PATCHES: ListRule = {
  isEntry: (entry) => Bun.deepEquals(entry, NO_OWN_PROXY) || isPublicEndpoint(entry),
  isReplaced: (was, entry) => isPublicEndpoint(entry) && isPublicEndpoint(was),
};

const TENANT_CONTROL_PLANE: readonly (readonly [string, FieldRule])[] = [
  ['.spec.controlPlane.ingress.hostname', 'value'],
  ['.spec.controlPlane.ingress.ingressClassName', 'value'],
  ['.spec.controlPlane.deployment.extraArgs.apiServer', flags('--endpoint-reconciler-type')],
  ['.spec.networkProfile.certSANs', NAMES],
];

const K0S: readonly (readonly [string, FieldRule])[] = [
  ['.spec.ingress.deploy', 'value'],
  ['.spec.ingress.apiHost', 'value'],
  ['.spec.ingress.konnectivityHost', 'value'],
  ['.spec.ingress.port', 'value'],
  ['.spec.externalAddress', 'value'],
  ['.spec.patches', PATCHES],
];

const CHART_INGRESS = ['enabled', 'deploy', 'apiHost', 'konnectivityHost', 'port', 'className'];

/** The rules, by group and kind, and by path. */
const OWN_FIELDS: ReadonlyMap<string, ReadonlyMap<string, FieldRule>> = new Map([
  [
    'kamaji.clastix.io TenantControlPlane',
    new Map([
      ...TENANT_CONTROL_PLANE,
      [
        '.spec.addons.konnectivity.agent.extraArgs',
        flags('--proxy-server-host', '--proxy-server-port'),
      ],
    ]),
  ],
  [
    'steward.butlerlabs.dev TenantControlPlane',
    new Map([...TENANT_CONTROL_PLANE, ['.spec.controlPlane.ingress.controllerType', 'value']]),
  ],
  ['k0smotron.io Cluster', new Map(K0S)],
  ['controlplane.cluster.x-k8s.io K0smotronControlPlane', new Map(K0S)],
  [
    'k0rdent.mirantis.com ClusterDeployment',
    new Map([
      ...CHART_INGRESS.flatMap((field): readonly (readonly [string, FieldRule])[] => [
        [`.spec.config.ingress.${field}`, 'value'],
        [`.spec.config.controlPlane.ingress.${field}`, 'value'],
      ]),
      ['.spec.config.k0smotron.service.type', 'value'],
      ['.spec.config.controlPlane.service.type', 'value'],
    ]),
  ],
]);

/** A kind, in any version. */
interface Kind {
  readonly group: string;
  readonly kind: string;
}

/** Reports whether Snicket writes this field of this kind. */
export function isOwnField(kind: Kind, path: FieldPath): boolean {
  return ruleFor(kind, path) !== undefined;
}

/** Reports whether Snicket could have written this record of a field. */
export function isOwnRecord(kind: Kind, field: FieldRecord): boolean {
  const rule = ruleFor(kind, field.path);
  if (rule === undefined) return false;
  if ('wrote' in field) return rule === 'value';
  if (rule === 'value') return false;
  return field.entries.every(
    ({ entry, was }) => rule.isEntry(entry) && (was === undefined || rule.isReplaced(was, entry)),
  );
}

function ruleFor({ group, kind }: Kind, path: FieldPath): FieldRule | undefined {
  // No field of Snicket has a dot in its name.
  if (path.some((name) => name.includes('.'))) return undefined;
  return OWN_FIELDS.get(`${group} ${kind}`)?.get(pathText(path));
}
