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
export type { WorkerMode, WorkerSpec } from './worker.ts';

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
      'edgeRef references the Edge that exposes this control plane. Defaults to the Edge with the annotation snicket.dev/is-default: "true". If several Edges have that annotation, an Exposure with TenantRoutes stays on the Edge of these, and a new Exposure uses the oldest Edge.',
    ),
  controlPlane: controlPlaneSpec.describe(
    'controlPlane identifies the control plane to expose. Set type, and the field that it selects: objectRef, service or endpoints.',
  ),
  hosts: withRules(
    z.strictObject({
      api: host
        .optional()
        .describe(
          'api is the host of the API. Defaults to NAMESPACE-NAME.k8s.DOMAIN, with spec.domain of the Edge.',
        ),
      konnectivity: host
        .optional()
        .describe(
          'konnectivity is the host of konnectivity. Defaults to NAMESPACE-NAME.konnectivity.DOMAIN, with spec.domain of the Edge.',
        ),
    }),
    {
      cel: '!has(self.api) || !has(self.konnectivity) || self.api != self.konnectivity',
      holds: ({ api, konnectivity }) => api === undefined || api !== konnectivity,
      sentence:
        'api and konnectivity must differ, since the edge routes by host; both are {self.api}',
    },
  )
    .prefault({})
    .describe(
      'hosts lists the DNS names by which the edge routes connections to the tenant. Both are optional if the Edge has a domain.',
    ),
  prepare: z
    .enum(PREPARE_POLICIES)
    .default('Patch')
    .describe(
      "prepare selects what Snicket does if the control plane's own object lacks a required value, such as a name in its certificate. Patch: add it, unless another field manager owns the field. Force: add it, and take ownership of the field. Report: change nothing, and report what to set. Defaults to Patch.",
    ),
  limits: routeLimits
    .optional()
    .describe(
      "limits sets connection limits of the tenant on Snicket's gateway, for each of its hosts separately. Edges with other drivers do not enforce them.",
    ),
  access: z
    .strictObject({
      allowedSources: allowedSources
        .optional()
        .describe(
          'allowedSources lists the networks that clients and workers may connect from. Defaults to all networks.',
        ),
    })
    .optional()
    .describe(
      "access restricts access to the tenant through Snicket's gateway. Edges with other drivers do not enforce it.",
    ),
  worker: workerSpec
    .prefault({})
    .describe(
      "worker configures the proxy on each worker node, through which pods reach the tenant's API.",
    ),
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
