/**
 * Which control plane an Exposure is for: a provider's object, a Service, or plain addresses.
 */
import * as z from 'zod';
import { objectName, setOf, type DeepReadonly } from './values/kubernetes-values.ts';
import { domain, endpoint, port } from './values/network-values.ts';
import { withRules } from './values/rule.ts';

const secretKey = z.string().min(1).max(253);

const ref = z.strictObject({
  apiVersion: z
    .string()
    .min(1)
    .max(317)
    .describe('Its API version, such as kamaji.clastix.io/v1alpha1.'),
  kind: z.string().min(1).max(63).describe('Its kind, such as TenantControlPlane.'),
  name: objectName.describe("Its name, in the Exposure's namespace."),
});

const service = withRules(
  z.strictObject({
    name: objectName.describe("Its name, in the Exposure's namespace."),
    apiPort: port.default(6443).describe("The Service's port of the API server."),
    konnectivityPort: port
      .optional()
      .describe("The Service's port of the konnectivity server. Default: there is none."),
  }),
  {
    cel: '!has(self.konnectivityPort) || self.konnectivityPort != self.apiPort',
    holds: ({ apiPort, konnectivityPort }) => konnectivityPort !== apiPort,
    sentence:
      'apiPort and konnectivityPort are the same; write the port of each, or leave konnectivityPort out',
  },
);

const endpoints = z.strictObject({
  api: setOf(endpoint, 16).describe('Where API servers listen: IP:PORT, or [IP]:PORT for IPv6.'),
  konnectivity: setOf(endpoint, 16)
    .optional()
    .describe('Where konnectivity servers listen. Default: there are none.'),
});

const caSecret = z.strictObject({
  name: objectName.describe("Its name, in the Exposure's namespace."),
  certificateKey: secretKey.default('tls.crt').describe('The key with the certificate, as PEM.'),
  privateKeyKey: secretKey
    .default('tls.key')
    .describe('The key with the private key, as PEM. Only mode terminate needs it to be there.'),
});

const kubeconfigSecret = z.strictObject({
  name: objectName.describe("Its name, in the Exposure's namespace."),
  key: secretKey
    .default('admin.conf')
    .describe(
      'The key with the kubeconfig. Its server is not used: Snicket goes by the Service or the endpoints.',
    ),
});

/**
 * An Exposure keeps to its control plane: with another one, what Snicket has put into the former tenant would stay there.
 * A version of the API is not what makes an object another.
 */
const ANOTHER_ONE =
  'delete the Exposure and make another one: this takes Snicket away from the former tenant first';

const group = (self: 'self' | 'oldSelf') => `${self}.ref.apiVersion.split('/')[0]`;

const keepsControlPlane = [
  {
    cel: `!has(oldSelf.ref) || (has(self.ref) && self.ref.kind == oldSelf.ref.kind && self.ref.name == oldSelf.ref.name && ${group('self')} == ${group('oldSelf')})`,
    sentence: `this Exposure is for {oldSelf.ref.kind} {oldSelf.ref.name} of {oldSelf.ref.apiVersion}; ${ANOTHER_ONE}`,
  },
  {
    cel: '!has(oldSelf.service) || (has(self.service) && self.service.name == oldSelf.service.name)',
    sentence: `this Exposure is for Service {oldSelf.service.name}; ${ANOTHER_ONE}`,
  },
  {
    cel: '!has(oldSelf.endpoints) || has(self.endpoints)',
    sentence: `this Exposure is for the control plane at its endpoints, whose addresses may change; ${ANOTHER_ONE}`,
  },
];

/** Which control plane. */
export const controlPlaneSpec = withRules(
  z.strictObject({
    ref: ref
      .optional()
      .describe(
        'An object of a provider: a TenantControlPlane of Kamaji or Steward, a Cluster of k0smotron, a K0smotronControlPlane, a ClusterDeployment of k0rdent. Everything else is read from there.',
      ),
    service: service
      .optional()
      .describe('A Service in front of the control plane. Needs caSecret and kubeconfigSecret.'),
    endpoints: endpoints
      .optional()
      .describe('Addresses of the control plane. Needs caSecret and kubeconfigSecret.'),
    caSecret: caSecret
      .optional()
      .describe('The Secret with the CA of the tenant: with service and endpoints only.'),
    kubeconfigSecret: kubeconfigSecret
      .optional()
      .describe(
        "The Secret with a kubeconfig of the tenant's administrator: with service and endpoints only.",
      ),
    clusterDomain: domain
      .optional()
      .describe(
        'The DNS domain of the tenant, such as cluster.local. Default: as the tenant says.',
      ),
  }),
  {
    cel: '[has(self.ref), has(self.service), has(self.endpoints)].filter(given, given).size() == 1',
    holds: (spec) =>
      [spec.ref, spec.service, spec.endpoints].filter((given) => given !== undefined).length === 1,
    sentence: 'one control plane is wanted; write exactly one of ref, service and endpoints',
  },
  {
    cel: '!(has(self.service) || has(self.endpoints)) || (has(self.caSecret) && has(self.kubeconfigSecret))',
    holds: (spec) =>
      (spec.service === undefined && spec.endpoints === undefined) ||
      (spec.caSecret !== undefined && spec.kubeconfigSecret !== undefined),
    sentence:
      'service and endpoints tell nothing of certificates; write caSecret and kubeconfigSecret with the names of the Secrets',
  },
  {
    cel: '!has(self.ref) || (!has(self.caSecret) && !has(self.kubeconfigSecret))',
    holds: (spec) =>
      spec.ref === undefined ||
      (spec.caSecret === undefined && spec.kubeconfigSecret === undefined),
    sentence:
      'with ref the Secrets are those that its provider made; remove caSecret and kubeconfigSecret, or write service in place of ref',
  },
  ...keepsControlPlane,
);

type Given = DeepReadonly<z.output<typeof controlPlaneSpec>>;
type Source = 'ref' | 'service' | 'endpoints';
type Secrets = 'caSecret' | 'kubeconfigSecret';
/** With these fields, and without those. */
type Having<Present extends keyof Given, Absent extends keyof Given> = Pick<
  Given,
  'clusterDomain'
> & {
  readonly [Key in Present]-?: NonNullable<Given[Key]>;
} & { readonly [Key in Absent]?: undefined };

/** Which control plane, as the rules leave it: one source, and the Secrets unless the provider knows them. */
export type ControlPlaneSpec =
  | Having<'ref', Exclude<Source, 'ref'> | Secrets>
  | Having<'service' | Secrets, Exclude<Source, 'service'>>
  | Having<'endpoints' | Secrets, Exclude<Source, 'endpoints'>>;

/** Whether there is konnectivity, as far as the Exposure says: an object of a provider mostly has it. */
export function mayHaveKonnectivity({ service, endpoints }: ControlPlaneSpec): boolean {
  if (service !== undefined) return service.konnectivityPort !== undefined;
  return endpoints === undefined || endpoints.konnectivity !== undefined;
}
