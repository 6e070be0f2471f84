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
  'None',
] as const;
/** One of {@link DRIVERS}. */
export type Driver = (typeof DRIVERS)[number];

/** The annotation that makes an Edge the default for Exposures without an edgeRef, if its value is "true". */
export const DEFAULT_EDGE_ANNOTATION = 'snicket.dev/is-default';

/** The default of `spec.traefik.entryPoints`. */
export const DEFAULT_ENTRY_POINTS = ['websecure'] as const;

/** The values of `spec.annotations`: whether annotations on provider objects create Exposures on the Edge. */
const ANNOTATION_POLICIES = ['Allowed', 'Ignored'] as const;

/** The values of `spec.allowedNamespaces.from`. */
const NAMESPACES_FROM = ['All', 'Selector'] as const;

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
  namespace: objectName.describe('namespace is the namespace of the Gateway.'),
  name: objectName.describe('name is the name of the Gateway.'),
  sectionName: objectName
    .optional()
    .describe(
      'sectionName is the name of a listener with protocol TLS and TLS mode Passthrough. Defaults to all listeners that accept the route.',
    ),
  port: port.optional().describe('port selects listeners by their port. Defaults to all ports.'),
});

const labelSelectorRequirement = withRules(
  z.strictObject({
    key: z.string().min(1).max(317).describe('key is the label key.'),
    operator: z
      .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
      .describe(
        'operator is the relation between the label and values: In, NotIn, Exists or DoesNotExist.',
      ),
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
      .describe(
        'from is All for every namespace, or Selector for the namespaces that selector matches. Defaults to All.',
      ),
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
        "driver selects what routes connections to tenants. snicket: Snicket's own gateway. haproxy (HAProxy Technologies), haproxy-ingress (community), nginx (ingress-nginx), nginx-inc (F5), traefik, contour, gateway-api: that controller, for which Snicket creates routes. ingress: any other ingress controller, for which Snicket creates Ingresses with the annotations in spec.ingress. None: you create the routes, and Snicket checks them. After a change, Snicket moves the routes of all Exposures.",
      ),
    domain: domain
      .optional()
      .describe(
        'domain is the DNS domain for the hosts of Exposures that set none: NAMESPACE-NAME.k8s.DOMAIN for the API, and NAMESPACE-NAME.konnectivity.DOMAIN for konnectivity. If unset, every Exposure must set its hosts.',
      ),
    port: port
      .default(443)
      .describe('port is the port of the edge that clients connect to. Defaults to 443.'),
    addresses: setOf(address, 16)
      .optional()
      .describe(
        "addresses lists the public IP addresses of the edge. DNS records must point to them, and workers use them before DNS is available. Defaults to the addresses in the status of the controller's Service or Gateway.",
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
        'annotations selects whether annotations on provider objects create Exposures on this Edge. Allowed: they do. Ignored: they do not, and Snicket deletes the Exposures that annotations created before. Defaults to Allowed.',
      ),
    ingress: z
      .strictObject({
        className: objectName
          .optional()
          .describe(
            "className is the ingress class of the objects that Snicket creates. Defaults to the usual class of the controller, or to the cluster's default class.",
          ),
        annotations: mapTo(z.string().max(4096), 64)
          .optional()
          .describe(
            'annotations lists annotations for the objects that Snicket creates, in addition to those of the driver. With driver ingress, set the annotations that enable TLS passthrough in your controller.',
          ),
      })
      .optional()
      .describe(
        'ingress configures drivers haproxy, haproxy-ingress, nginx, nginx-inc, contour and ingress.',
      ),
    traefik: z
      .strictObject({
        entryPoints: setOf(z.string().min(1).max(63), 8)
          .default([...DEFAULT_ENTRY_POINTS])
          .describe('entryPoints lists the Traefik entry points for TLS. Defaults to websecure.'),
        ingressClassName: objectName
          .optional()
          .describe(
            'ingressClassName is the ingress class that Traefik was started with. Defaults to no class.',
          ),
      })
      .optional()
      .describe('traefik configures driver traefik.'),
    gatewayApi: z
      .strictObject({
        parentRefs: z
          .array(parentRef)
          .min(1)
          .max(8)
          .describe(
            'parentRefs references the Gateways that Snicket attaches TLSRoutes to. You create the Gateways and their listeners.',
          ),
      })
      .optional()
      .describe('gatewayApi configures driver gateway-api. Required with that driver.'),
  }),
  {
    cel: "self.driver != 'gateway-api' || has(self.gatewayApi)",
    holds: (spec) => spec.driver !== 'gateway-api' || spec.gatewayApi !== undefined,
    sentence:
      'gatewayApi must be set if driver is gateway-api: set gatewayApi.parentRefs to the namespace and name of a Gateway',
  },
  {
    cel: "self.driver == 'gateway-api' || !has(self.gatewayApi)",
    holds: (spec) => spec.driver === 'gateway-api' || spec.gatewayApi === undefined,
    sentence:
      'gatewayApi must not be set if driver is {self.driver}: remove it, or set driver to gateway-api',
  },
  {
    cel: "self.driver == 'traefik' || !has(self.traefik)",
    holds: (spec) => spec.driver === 'traefik' || spec.traefik === undefined,
    sentence:
      'traefik must not be set if driver is {self.driver}: remove it, or set driver to traefik',
  },
  {
    cel: `self.driver in [${INGRESS_DRIVERS.map((driver) => `'${driver}'`).join(', ')}] || !has(self.ingress)`,
    holds: (spec) => INGRESS_DRIVERS.includes(spec.driver) || spec.ingress === undefined,
    sentence: `ingress must not be set if driver is {self.driver}: remove it, or set driver to one of ${INGRESS_DRIVERS.join(', ')}`,
  },
  {
    cel: "self.driver != 'ingress' || (has(self.ingress) && (has(self.ingress.className) || has(self.ingress.annotations)))",
    holds: ({ driver, ingress }) =>
      driver !== 'ingress' ||
      ingress?.className !== undefined ||
      ingress?.annotations !== undefined,
    sentence:
      'ingress must be set if driver is ingress: set ingress.className, or the ingress.annotations that enable TLS passthrough in your controller',
  },
);

/** The schema of the status of an Edge. */
export const edgeStatus = z.object({
  observedGeneration: z
    .int()
    .min(0)
    .optional()
    .describe('observedGeneration is the metadata.generation that this status describes.'),
  addresses: z
    .array(z.string().max(253))
    .max(16)
    .optional()
    .describe(
      'addresses lists the addresses of the edge, from spec.addresses or from the status of its controller.',
    ),
  addressSummary: z
    .string()
    .max(1024)
    .optional()
    .describe(
      'addressSummary is a short form of addresses: the first three, and the number of the others.',
    ),
  exposures: z
    .int()
    .min(0)
    .optional()
    .describe('exposures is the number of Exposures that use this Edge.'),
  conditions: conditions
    .optional()
    .describe(
      'conditions describes the state of the Edge. Accepted: the spec is valid. Ready: the edge accepts routes.',
    ),
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
