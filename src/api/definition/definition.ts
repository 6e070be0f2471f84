/**
 * The CustomResourceDefinitions of the snicket.dev kinds, generated from their zod schemas.
 */
import * as z from 'zod';
import type { KubeObject } from '../../kube/object.ts';
import { groupOf, RESOURCES, type Resource } from '../../kube/resource.ts';
import { edgeObject, exposureObject, tenantRouteObject } from '../objects.ts';

/** A structural OpenAPI 3.0 schema, as a CustomResourceDefinition carries it. */
export interface StructuralSchema {
  type?: string;
  description?: string;
  format?: string;
  pattern?: string;
  default?: unknown;
  enum?: readonly unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  required?: readonly string[];
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema | boolean;
  items?: StructuralSchema;
  anyOf?: unknown;
  readonly [extension: `x-kubernetes-${string}`]: unknown;
}

/** An additional printer column of `kubectl get`. */
interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  /** 1: the column appears with `-o wide` only. */
  readonly priority?: 1;
}

/** A snicket.dev kind, with what its CustomResourceDefinition needs. */
export interface Kind {
  readonly resource: Resource;
  readonly shortNames: readonly string[];
  /** The first paragraph of `kubectl explain`. */
  readonly description: string;
  readonly columns: readonly Column[];
  readonly schema: z.ZodType;
  /** Whether the kind has the status subresource. Default true. */
  readonly hasStatus?: boolean;
}

const ready = (field: 'status' | 'reason') => `.status.conditions[?(@.type=="Ready")].${field}`;

const AGE: Column = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'Time since creation.',
};
const READY: Column = {
  name: 'Ready',
  type: 'string',
  jsonPath: ready('status'),
  description: 'Status of the condition Ready.',
};

/** The snicket.dev kinds, in the order of the API reference. */
export const KINDS: readonly Kind[] = [
  {
    resource: RESOURCES.edge,
    // The singular name, edge, is short enough.
    shortNames: [],
    description:
      'An Edge is one address that hosted control planes share, and the ingress controller or gateway behind it. The Edge with the annotation snicket.dev/is-default: "true" is the default for Exposures without an edgeRef.',
    columns: [
      column('Driver', '.spec.driver', 'What routes connections to tenants.'),
      column('Domain', '.spec.domain', 'DNS domain for generated hosts.'),
      column('Addresses', '.status.addressSummary', 'Addresses of the edge.'),
      {
        ...column('Exposures', '.status.exposures', 'Number of Exposures that use the Edge.'),
        type: 'integer',
      },
      READY,
      AGE,
      {
        ...column(
          'Namespaces',
          '.spec.allowedNamespaces.from',
          'Namespaces whose Exposures may use the Edge.',
        ),
        priority: 1,
      },
    ],
    schema: edgeObject,
  },
  {
    resource: RESOURCES.exposure,
    shortNames: ['exp'],
    description:
      'An Exposure makes one hosted control plane reachable through an Edge: by host name for kubelets and users, and at the Service kubernetes for pods on its workers. Its status reports each step on that path.',
    columns: [
      column('Endpoint', '.status.endpoint', 'Host and port of the API.'),
      column('Edge', '.status.edgeRef.name', 'Edge in use.'),
      column('Mode', '.status.mode', 'Mode of the proxies.'),
      column('Proxies', '.status.proxies.summary', 'Nodes with a ready proxy, of all nodes.'),
      READY,
      column(
        'Reachable',
        '.status.conditions[?(@.type=="Reachable")].status',
        'Whether clients reach the API by its host.',
      ),
      column('Reason', ready('reason'), 'Reason of the condition Ready.'),
      AGE,
      { ...column('Driver', '.status.driver', 'Driver of the Edge.'), priority: 1 },
    ],
    schema: exposureObject,
  },
  {
    resource: RESOURCES.tenantRoute,
    shortNames: ['troute'],
    description:
      "A TenantRoute routes one host of one Edge to a port of a tenant's Service. The operator writes TenantRoutes for Exposures, and Snicket's gateway serves them. The oldest TenantRoute of a host decides which Exposure owns that host.",
    columns: [
      column('Host', '.spec.host', 'DNS name that clients send in the TLS ClientHello.'),
      column('Type', '.spec.type', 'What the host serves.'),
      column('Service', '.spec.backend.service.name', 'Service behind the host.'),
      column('Edge', '.spec.edgeRef.name', 'Edge that serves the host.'),
      AGE,
      { ...column('Driver', '.spec.driver', 'Driver of the Edge.'), priority: 1 },
      {
        ...column('Exposure', '.spec.exposureRef.name', 'Exposure that owns the host.'),
        priority: 1,
      },
    ],
    schema: tenantRouteObject,
    hasStatus: false,
  },
];

function column(name: string, jsonPath: string, description: string): Column {
  return { name, type: 'string', jsonPath, description };
}

/** A CustomResourceDefinition. */
interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: StructuralSchema };
      readonly [field: string]: unknown;
    }[];
    readonly [field: string]: unknown;
  };
}

/** Returns the CustomResourceDefinition of a kind. */
export function definitionOf({ resource, ...kind }: Kind): CustomResourceDefinition {
  const { apiVersion, plural } = resource;
  const group = groupOf(apiVersion);
  return {
    apiVersion: RESOURCES.customResourceDefinition.apiVersion,
    kind: RESOURCES.customResourceDefinition.kind,
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: resource.namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind: resource.kind,
        listKind: `${resource.kind}List`,
        plural,
        singular: resource.kind.toLowerCase(),
        ...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : {}),
        categories: ['snicket'],
      },
      versions: [
        {
          name: apiVersion.slice(group.length + 1),
          served: true,
          storage: true,
          ...(kind.hasStatus !== false && { subresources: { status: {} } }),
          additionalPrinterColumns: kind.columns,
          schema: {
            openAPIV3Schema: { description: kind.description, ...structuralSchema(kind.schema) },
          },
        },
      ],
    },
  };
}

/** Converts a zod schema to the structural schema that a CustomResourceDefinition accepts. */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  const root = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    override: ({ jsonSchema }) => adapt(jsonSchema as StructuralSchema),
  }) as StructuralSchema;
  // The API server defines these fields itself. A schema may only restrict metadata.name and metadata.generateName.
  const { apiVersion, kind, metadata } = root.properties ?? {};
  for (const known of [apiVersion, kind]) delete known?.enum;
  if (metadata !== undefined && root.properties !== undefined) {
    const name = metadata.properties?.name ?? {};
    root.properties.metadata = { type: 'object', properties: { name } };
  }
  root.required = ['spec'];
  return root;
}

/**
 * Removes keywords that a structural schema must not have, or that other keywords already express, from the output
 * of zod.
 */
function adapt(schema: StructuralSchema): void {
  // A structural schema must not use anyOf for types. For int-or-string, x-kubernetes-int-or-string replaces it.
  delete schema.anyOf;
  // The API server prunes unknown fields, and kubectl rejects them. A structural schema must not combine
  // `additionalProperties` with `properties`.
  if (schema.properties !== undefined) delete schema.additionalProperties;
  // The API server validates a format by itself.
  if (schema.format !== undefined) delete schema.pattern;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}
