/**
 * Exposure: exposes a hosted control plane through an Edge.
 */
import * as z from 'zod';
import type { KubeObject, ObjectMeta } from '../kube/object.ts';
import { controlPlaneSpec, type ControlPlaneSpec } from './control-plane-spec.ts';
import type { ExposureStatus } from './exposure-status.ts';
import { allowedSources, routeLimits } from './route-policy.ts';
import { objectName, type DeepReadonly } from './values/kubernetes-values.ts';
import { host } from './values/network-values.ts';
import { withRules } from './values/rule.ts';
import { workerSpec } from './worker.ts';

export type { ControlPlaneSpec } from './control-plane-spec.ts';
export { EXPOSURE_CONDITIONS } from './exposure-status.ts';
export type { ExposureConditionType, ExposureStatus, Hop, HopState } from './exposure-status.ts';
export type { WorkerAddress, WorkerMode, WorkerSpec } from './worker.ts';

/**
 * The values of `spec.prepare`: what Snicket does if the control plane's own object lacks a field that the edge
 * requires.
 */
export const PREPARE_POLICIES = ['Patch', 'Force', 'Report'] as const;
/** One of {@link PREPARE_POLICIES}. */
export type PreparePolicy = (typeof PREPARE_POLICIES)[number];

const edgeReference = z.strictObject({
  name: objectName.describe('name is the name of the Edge.'),
});

/** The schema of the spec of an Exposure. */
export const exposureSpec = z.strictObject({
  edgeRef: edgeReference
    .optional()
    .describe(
      'edgeRef references the Edge that exposes this control plane. Defaults to the Edge with the annotation snicket.dev/is-default: "true". If several Edges have it, to the one that the TenantRoutes of the Exposure are on, else to the oldest.',
    ),
  controlPlane: controlPlaneSpec.describe(
    'controlPlane describes the control plane to expose: type, and the one member that it selects.',
  ),
  hosts: withRules(
    z.strictObject({
      api: host.optional().describe('The host of the API. Default: NAMESPACE-NAME.k8s.DOMAIN.'),
      konnectivity: host
        .optional()
        .describe('The host of konnectivity. Default: NAMESPACE-NAME.konnectivity.DOMAIN.'),
    }),
    {
      cel: '!has(self.api) || !has(self.konnectivity) || self.api != self.konnectivity',
      holds: ({ api, konnectivity }) => api === undefined || api !== konnectivity,
      sentence:
        'api and konnectivity are both {self.api}; the edge tells them apart by name, so write another one for konnectivity',
    },
  )
    .prefault({})
    .describe(
      'The hosts by which the edge knows the tenant. Both may be left out if the Edge has a domain.',
    ),
  prepare: z
    .enum(PREPARE_POLICIES)
    .default('Patch')
    .describe(
      "What is done if the control plane's own object lacks something, such as a name in its certificate. Patch: add it, but stop where somebody else owns the field. Force: take the field over. Report: touch nothing and say what to write.",
    ),
  limits: routeLimits
    .optional()
    .describe(
      "limits limits what the tenant takes of Snicket's gateway, each of its hosts by itself. Edges with other drivers do not enforce it.",
    ),
  access: z
    .strictObject({
      allowedSources: allowedSources
        .optional()
        .describe(
          'allowedSources lists the networks that clients and workers may connect from. Default: any.',
        ),
    })
    .optional()
    .describe(
      "access limits who reaches the tenant through Snicket's gateway. Edges with other drivers do not enforce it.",
    ),
  worker: workerSpec
    .prefault({})
    .describe("The proxy on every worker, by which pods reach the tenant's API."),
});

/** The spec of an Exposure, with defaults. */
export type ExposureSpec = DeepReadonly<Omit<z.output<typeof exposureSpec>, 'controlPlane'>> & {
  readonly controlPlane: ControlPlaneSpec;
};

/** An Exposure, with defaults. */
export interface Exposure extends KubeObject {
  readonly apiVersion: 'snicket.dev/v1alpha1';
  readonly kind: 'Exposure';
  readonly metadata: ObjectMeta & { readonly namespace: string };
  readonly spec: ExposureSpec;
  readonly status?: ExposureStatus | undefined;
}
