/**
 * Edge: the shared address of tenants, and the ingress controller or gateway behind it.
 */
import * as z from 'zod';
import type { KubeObject } from '../kube/object.ts';
import {
  conditions,
  mapTo,
  objectName,
  setOf,
  type DeepReadonly,
} from './values/kubernetes-values.ts';
import { address, domain, hostPattern, port } from './values/network-values.ts';
import { withRules } from './values/rule.ts';

/** The drivers. Each one configures one kind of ingress controller or gateway. */
export const DRIVERS = [
  'snicket',
  'haproxy',
  'haproxy-ingress',
  'nginx',
  'nginx-inc',
  'traefik',
  'contour',
  'gateway-api',
  'ingress',
] as const;
/** One of {@link DRIVERS}. */
export type Driver = (typeof DRIVERS)[number];

/** The annotation that makes an Edge the default for Exposures without an edgeRef, if its value is "true". */
export const DEFAULT_EDGE_ANNOTATION = 'snicket.dev/is-default';

/** The default of `spec.traefik.entryPoints`. */
export const DEFAULT_ENTRY_POINTS = ['websecure'] as const;

/** The values of `spec.annotations`: whether annotations on provider objects create Exposures on the Edge. */
export const ANNOTATION_POLICIES = ['Allowed', 'Ignored'] as const;

/** The values of `spec.allowedNamespaces.from`. */
export const NAMESPACES_FROM = ['All', 'Selector'] as const;

/** The condition types of an Edge. */
export const EDGE_CONDITIONS = ['Accepted', 'Ready'] as const;

/** The drivers that use `spec.ingress`. */
const INGRESS_DRIVERS: readonly Driver[] = [
  'haproxy',
  'haproxy-ingress',
  'nginx',
  'nginx-inc',
  'contour',
  'ingress',
];

const parentRef = z.strictObject({
  namespace: objectName.describe('The namespace of the Gateway.'),
  name: objectName.describe('The name of the Gateway.'),
  sectionName: objectName
    .optional()
    .describe(
      'The listener: protocol TLS, mode Passthrough. Default: every listener that takes the route.',
    ),
  port: port.optional().describe('Only listeners on this port. Default: any.'),
});

const labelSelectorRequirement = withRules(
  z.strictObject({
    key: z.string().min(1).max(317).describe('key is the label key.'),
    operator: z
      .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
      .describe('operator relates the label to values.'),
    values: z
      .array(z.string().max(63))
      .max(64)
      .optional()
      .describe('values lists label values. Required with operators In and NotIn.'),
  }),
  {
    cel: "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
    holds: ({ operator, values = [] }) =>
      (operator === 'In' || operator === 'NotIn') === values.length > 0,
    sentence:
      'values must be set if operator is In or NotIn, and only then; operator is {self.operator}',
  },
);

const labelSelector = z.strictObject({
  matchLabels: mapTo(z.string().max(63), 32)
    .optional()
    .describe('matchLabels maps label keys to the values that they must have.'),
  matchExpressions: z
    .array(labelSelectorRequirement)
    .max(32)
    .optional()
    .describe('matchExpressions lists requirements, all of which must be met.'),
});

const allowedNamespaces = withRules(
  z.strictObject({
    from: z
      .enum(NAMESPACES_FROM)
      .default('All')
      .describe('from is All, or Selector for the namespaces that selector matches.'),
    selector: labelSelector
      .optional()
      .describe(
        'selector matches labels of namespaces. Kubernetes labels every namespace with kubernetes.io/metadata.name. Required with from Selector.',
      ),
  }),
  {
    cel: "(self.from == 'Selector') == has(self.selector)",
    holds: ({ from, selector }) => (from === 'Selector') === (selector !== undefined),
    sentence: 'selector must be set if from is Selector, and only then; from is {self.from}',
  },
);

/** The schema of the spec of an Edge. */
export const edgeSpec = withRules(
  z.strictObject({
    driver: z
      .enum(DRIVERS)
      .describe(
        "How tenants are routed. snicket: Snicket's own gateway. haproxy (HAProxy Technologies), haproxy-ingress (the community's), nginx (ingress-nginx), nginx-inc (F5), traefik, contour, gateway-api: by the objects of that controller. ingress: by a plain Ingress with the annotations in spec.ingress. It may be changed: the routes of all Exposures move.",
      ),
    domain: domain
      .optional()
      .describe(
        'The domain below which hosts are made for Exposures that name none: NAMESPACE-NAME.k8s.DOMAIN for the API, NAMESPACE-NAME.konnectivity.DOMAIN for konnectivity.',
      ),
    port: port.default(443).describe('The port of the edge as clients see it.'),
    addresses: setOf(address, 16)
      .optional()
      .describe(
        "The public IP addresses of the edge: what DNS has to say, and what workers dial before they have DNS. Default: as the status of the controller's Service or Gateway says.",
      ),
    allowedNamespaces: allowedNamespaces
      .default({ from: 'All' })
      .describe(
        'allowedNamespaces selects the namespaces whose Exposures may use this Edge. Snicket does not accept Exposures of other namespaces. Defaults to all namespaces.',
      ),
    allowedHosts: setOf(hostPattern, 64)
      .optional()
      .describe(
        'allowedHosts lists the hosts that Exposures may claim: exact names, or patterns with a leading wildcard label. As for hostnames of the Gateway API, *.example.com covers names of any depth below example.com, and not example.com itself. Defaults to all names below domain, and without a domain to any name.',
      ),
    annotations: z
      .enum(ANNOTATION_POLICIES)
      .default('Allowed')
      .describe(
        'annotations says whether annotations on the objects of providers create Exposures on this Edge. Allowed: they do. Ignored: they do not, and Snicket deletes the Exposures that annotations created before. Defaults to Allowed.',
      ),
    ingress: z
      .strictObject({
        className: objectName
          .optional()
          .describe(
            "The class of the objects. Default: the controller's own, or the cluster's default.",
          ),
        annotations: mapTo(z.string().max(4096), 64)
          .optional()
          .describe(
            'Annotations for the objects, besides those that the driver knows. With driver ingress: those that make your controller pass TLS through untouched.',
          ),
      })
      .optional()
      .describe('For drivers haproxy, haproxy-ingress, nginx, nginx-inc, contour and ingress.'),
    traefik: z
      .strictObject({
        entryPoints: setOf(z.string().min(1).max(63), 8)
          .default([...DEFAULT_ENTRY_POINTS])
          .describe("Traefik's entry points that take TLS."),
        ingressClassName: objectName
          .optional()
          .describe('The class that Traefik was started with, if it was. Default: none.'),
      })
      .optional()
      .describe('For driver traefik.'),
    gatewayApi: z
      .strictObject({
        parentRefs: z
          .array(parentRef)
          .min(1)
          .max(8)
          .describe(
            'The Gateways that take the routes; theirs is the listener, ours the TLSRoutes.',
          ),
      })
      .optional()
      .describe('For driver gateway-api, which needs it.'),
  }),
  {
    cel: "self.driver != 'gateway-api' || has(self.gatewayApi)",
    holds: (spec) => spec.driver !== 'gateway-api' || spec.gatewayApi !== undefined,
    sentence:
      'driver gateway-api needs a Gateway; write gatewayApi.parentRefs with its namespace and name',
  },
  {
    cel: "self.driver == 'gateway-api' || !has(self.gatewayApi)",
    holds: (spec) => spec.driver === 'gateway-api' || spec.gatewayApi === undefined,
    sentence:
      'gatewayApi means nothing to driver {self.driver}; remove it or write driver gateway-api',
  },
  {
    cel: "self.driver == 'traefik' || !has(self.traefik)",
    holds: (spec) => spec.driver === 'traefik' || spec.traefik === undefined,
    sentence: 'traefik means nothing to driver {self.driver}; remove it or write driver traefik',
  },
  {
    cel: `self.driver in [${INGRESS_DRIVERS.map((driver) => `'${driver}'`).join(', ')}] || !has(self.ingress)`,
    holds: (spec) => INGRESS_DRIVERS.includes(spec.driver) || spec.ingress === undefined,
    sentence: `ingress means nothing to driver {self.driver}; remove it or write one of the drivers ${INGRESS_DRIVERS.join(', ')}`,
  },
  {
    cel: "self.driver != 'ingress' || (has(self.ingress) && (has(self.ingress.className) || has(self.ingress.annotations)))",
    holds: ({ driver, ingress }) =>
      driver !== 'ingress' ||
      ingress?.className !== undefined ||
      ingress?.annotations !== undefined,
    sentence:
      'driver ingress knows no controller; write ingress.className, or ingress.annotations that make yours pass TLS through',
  },
);

/** The schema of the status of an Edge. */
export const edgeStatus = z.object({
  observedGeneration: z
    .int()
    .min(0)
    .optional()
    .describe('The metadata.generation that this status is about.'),
  addresses: z
    .array(z.string().max(253))
    .max(16)
    .optional()
    .describe('The addresses of the edge: those of the spec, or as its controller tells them.'),
  addressSummary: z
    .string()
    .max(1024)
    .optional()
    .describe('The addresses in one line: the first three, and how many more.'),
  exposures: z.int().min(0).optional().describe('How many Exposures use this Edge.'),
  conditions: conditions
    .optional()
    .describe('Accepted: the spec can be carried out. Ready: the edge takes routes.'),
});

/** The spec of an Edge, with defaults. */
export type EdgeSpec = DeepReadonly<z.output<typeof edgeSpec>>;
/** The status of an Edge. */
export type EdgeStatus = DeepReadonly<z.output<typeof edgeStatus>>;

/** An Edge, with defaults. */
export interface Edge extends KubeObject {
  readonly apiVersion: 'snicket.dev/v1alpha1';
  readonly kind: 'Edge';
  readonly spec: EdgeSpec;
  readonly status?: EdgeStatus | undefined;
}
