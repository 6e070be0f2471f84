/**
 * The control plane that an Exposure is for: a provider's object, a Service, or plain addresses.
 */
import * as z from 'zod';
import { objectName, setOf, type DeepReadonly } from './values/kubernetes-values.ts';
import { domain, endpoint, port } from './values/network-values.ts';
import { withRules } from './values/rule.ts';

const secretKey = z.string().min(1).max(253);

/** The values of `spec.controlPlane.type`, the discriminator of the union. */
const CONTROL_PLANE_TYPES = ['Object', 'Service', 'Endpoints'] as const;
/** One of {@link CONTROL_PLANE_TYPES}. */
type ControlPlaneType = (typeof CONTROL_PLANE_TYPES)[number];

const objectRef = z.strictObject({
  group: z
    .string()
    .min(1)
    .max(253)
    .describe(
      'group is the API group of the object, such as kamaji.clastix.io. Snicket selects the version.',
    ),
  kind: z.string().min(1).max(63).describe('kind is the kind of the object.'),
  name: objectName.describe('name is the name of the object, in the namespace of the Exposure.'),
});

const service = withRules(
  z.strictObject({
    name: objectName.describe('name is the name of the Service, in the namespace of the Exposure.'),
    apiPort: port
      .default(6443)
      .describe('apiPort is the Service port of the API server. Defaults to 6443.'),
    konnectivityPort: port
      .optional()
      .describe(
        'konnectivityPort is the Service port of the konnectivity server. If unset, the control plane has none.',
      ),
  }),
  {
    cel: '!has(self.konnectivityPort) || self.konnectivityPort != self.apiPort',
    holds: ({ apiPort, konnectivityPort }) => konnectivityPort !== apiPort,
    sentence: 'konnectivityPort must differ from apiPort',
  },
);

const endpoints = z.strictObject({
  api: setOf(endpoint, 16).describe(
    'api lists where API servers listen, as IP:PORT, or [IP]:PORT for IPv6.',
  ),
  konnectivity: setOf(endpoint, 16)
    .optional()
    .describe(
      'konnectivity lists where konnectivity servers listen. If unset, the control plane has none.',
    ),
});

const caSecretRef = z.strictObject({
  name: objectName.describe('name is the name of the Secret, in the namespace of the Exposure.'),
  certificateKey: secretKey
    .default('tls.crt')
    .describe(
      'certificateKey is the key of the Secret that holds the certificate, as PEM. Defaults to tls.crt.',
    ),
  privateKeyKey: secretKey
    .default('tls.key')
    .describe(
      'privateKeyKey is the key of the Secret that holds the private key, as PEM. Only worker mode Terminate requires it. Defaults to tls.key.',
    ),
});

const kubeconfigSecretRef = z.strictObject({
  name: objectName.describe('name is the name of the Secret, in the namespace of the Exposure.'),
  key: secretKey
    .default('admin.conf')
    .describe(
      'key is the key of the Secret that holds the kubeconfig. Snicket connects to the Service or the endpoints instead of the server in it. Defaults to admin.conf.',
    ),
});

/**
 * The control plane of an Exposure is immutable. After a change, the objects that Snicket created in the previous
 * tenant would remain there.
 */
const RECREATE =
  'To expose another control plane, delete this Exposure and create a new one; this removes Snicket from the tenant first.';

const immutable = [
  {
    cel: 'self.type == oldSelf.type',
    sentence: `type is immutable: this Exposure has type {oldSelf.type}. ${RECREATE}`,
  },
  {
    cel: '!has(oldSelf.objectRef) || !has(self.objectRef) || self.objectRef == oldSelf.objectRef',
    sentence: `objectRef is immutable: this Exposure is for {oldSelf.objectRef.kind} {oldSelf.objectRef.name} of {oldSelf.objectRef.group}. ${RECREATE}`,
  },
  {
    cel: '!has(oldSelf.service) || !has(self.service) || self.service.name == oldSelf.service.name',
    sentence: `service.name is immutable: this Exposure is for Service {oldSelf.service.name}. ${RECREATE}`,
  },
];

/** The schema of `spec.controlPlane`. */
export const controlPlaneSpec = withRules(
  z.strictObject({
    type: z
      .enum(CONTROL_PLANE_TYPES)
      .describe(
        'type selects how the control plane is identified. Object: objectRef references the object of a provider. Service: service names the Service of the control plane. Endpoints: endpoints lists its addresses. Immutable.',
      ),
    objectRef: objectRef
      .optional()
      .describe(
        'objectRef references the object of a provider: a TenantControlPlane of Kamaji or Steward, a Cluster of k0smotron, a K0smotronControlPlane, or a ClusterDeployment of k0rdent. Snicket reads everything else from that object. Required with type Object. Immutable.',
      ),
    service: service
      .optional()
      .describe(
        'service identifies the Service of the control plane. Required with type Service, together with caSecretRef and kubeconfigSecretRef. Its name is immutable.',
      ),
    endpoints: endpoints
      .optional()
      .describe(
        'endpoints lists the addresses of the control plane. Required with type Endpoints, together with caSecretRef and kubeconfigSecretRef.',
      ),
    caSecretRef: caSecretRef
      .optional()
      .describe(
        'caSecretRef references the Secret with the CA of the tenant. Required with types Service and Endpoints, and not allowed with type Object.',
      ),
    kubeconfigSecretRef: kubeconfigSecretRef
      .optional()
      .describe(
        "kubeconfigSecretRef references the Secret with a kubeconfig of the tenant's administrator. Required with types Service and Endpoints, and not allowed with type Object.",
      ),
    clusterDomain: domain
      .optional()
      .describe(
        'clusterDomain is the DNS domain of the tenant, such as cluster.local. Defaults to the domain that the tenant reports.',
      ),
  }),
  {
    cel: "(self.type == 'Object') == has(self.objectRef)",
    holds: (spec) => (spec.type === 'Object') === (spec.objectRef !== undefined),
    sentence: 'objectRef must be set if type is Object, and only then; type is {self.type}',
  },
  {
    cel: "(self.type == 'Service') == has(self.service)",
    holds: (spec) => (spec.type === 'Service') === (spec.service !== undefined),
    sentence: 'service must be set if type is Service, and only then; type is {self.type}',
  },
  {
    cel: "(self.type == 'Endpoints') == has(self.endpoints)",
    holds: (spec) => (spec.type === 'Endpoints') === (spec.endpoints !== undefined),
    sentence: 'endpoints must be set if type is Endpoints, and only then; type is {self.type}',
  },
  {
    cel: "self.type == 'Object' || (has(self.caSecretRef) && has(self.kubeconfigSecretRef))",
    holds: (spec) =>
      spec.type === 'Object' ||
      (spec.caSecretRef !== undefined && spec.kubeconfigSecretRef !== undefined),
    sentence: 'caSecretRef and kubeconfigSecretRef must be set if type is {self.type}',
  },
  {
    cel: "self.type != 'Object' || (!has(self.caSecretRef) && !has(self.kubeconfigSecretRef))",
    holds: (spec) =>
      spec.type !== 'Object' ||
      (spec.caSecretRef === undefined && spec.kubeconfigSecretRef === undefined),
    sentence:
      "caSecretRef and kubeconfigSecretRef must not be set if type is Object, which uses the provider's own Secrets",
  },
  ...immutable,
);

type Given = DeepReadonly<z.output<typeof controlPlaneSpec>>;
type Source = 'objectRef' | 'service' | 'endpoints';
type Secrets = 'caSecretRef' | 'kubeconfigSecretRef';
/** The union member for one type, with the fields that it has and the fields that it must not have. */
type Member<
  Type extends ControlPlaneType,
  Present extends keyof Given,
  Absent extends keyof Given,
> = Pick<Given, 'clusterDomain'> & { readonly type: Type } & {
  readonly [Key in Present]-?: NonNullable<Given[Key]>;
} & { readonly [Key in Absent]?: undefined };

/**
 * The validated `spec.controlPlane`: the member that `type` selects, with the Secret references unless the type is
 * Object.
 */
export type ControlPlaneSpec =
  | Member<'Object', 'objectRef', Exclude<Source, 'objectRef'> | Secrets>
  | Member<'Service', 'service' | Secrets, Exclude<Source, 'service'>>
  | Member<'Endpoints', 'endpoints' | Secrets, Exclude<Source, 'endpoints'>>;

/**
 * Reports whether the control plane may have konnectivity, by its Exposure alone. The object of a provider always may.
 */
export function mayHaveKonnectivity(spec: ControlPlaneSpec): boolean {
  switch (spec.type) {
    case 'Object':
      return true;
    case 'Service':
      return spec.service.konnectivityPort !== undefined;
    case 'Endpoints':
      return spec.endpoints.konnectivity !== undefined;
  }
}
