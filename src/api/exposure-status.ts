/**
 * The status of an Exposure: the endpoint of the tenant, and the result of each hop on the path to it.
 */
import * as z from 'zod';
import { conditions, mapBy, time, type DeepReadonly } from './values/kubernetes-values.ts';

/** The condition types of an Exposure. */
export const EXPOSURE_CONDITIONS = [
  'Accepted',
  'Prepared',
  'Routed',
  'WorkersReady',
  'KonnectivityReady',
  'Reachable',
  'Ready',
] as const;
/** One of {@link EXPOSURE_CONDITIONS}. */
export type ExposureConditionType = (typeof EXPOSURE_CONDITIONS)[number];

/** The results of probing a hop. Skip: an earlier hop failed. */
export const HOP_STATES = ['Pass', 'Fail', 'Skip'] as const;
/** One of {@link HOP_STATES}. */
export type HopState = (typeof HOP_STATES)[number];

const hop = z.object({
  name: z.string().min(1).max(63).describe('The step: dns, edge, sni, certificate, api and so on.'),
  state: z
    .string()
    .min(1)
    .max(63)
    .describe('state is Pass, Fail, or Skip if an earlier hop failed. More values may be added.'),
  reason: z.string().min(1).max(256).describe('Why, as a stable code for programs.'),
  message: z.string().max(4096).describe('What was found, with the value.'),
  action: z.string().max(4096).optional().describe('What to do about it.'),
  at: time.describe('Since when it is so.'),
});

/** The schema of the status of an Exposure. */
export const exposureStatus = z.object({
  observedGeneration: z
    .int()
    .min(0)
    .optional()
    .describe('The metadata.generation that this status is about.'),
  endpoint: z
    .string()
    .max(260)
    .optional()
    .describe('Where the API is found: its host and the port of the edge.'),
  edgeRef: z
    .object({ name: z.string().max(253).describe('name is the name of the Edge.') })
    .optional()
    .describe('edgeRef references the Edge in use.'),
  driver: z.string().max(63).optional().describe('driver is the driver of that Edge.'),
  mode: z
    .string()
    .max(63)
    .optional()
    .describe('mode is the mode of the proxies, such as Passthrough or Terminate.'),
  proxies: z
    .object({
      ready: z.int().min(0).describe('Nodes whose proxy is ready.'),
      desired: z.int().min(0).describe('Nodes that have to have a proxy.'),
      summary: z.string().max(32).describe('Both, as 12/12.'),
    })
    .optional()
    .describe('The proxies on the nodes of the tenant.'),
  certificate: z
    .object({
      notAfter: time.describe('When it ends.'),
      renewAt: time.describe('When the next one is made.'),
      authority: z
        .string()
        .max(128)
        .describe('SHA-256 fingerprint of the tenant CA that signed it.'),
    })
    .optional()
    .describe('The certificate that the proxies serve; in mode Terminate only.'),
  hops: mapBy('name', hop, 32)
    .optional()
    .describe('Each step of the way to the tenant, as last probed.'),
  conditions: conditions
    .optional()
    .describe(
      'Accepted: the spec is valid and its hosts are free. Prepared: the control plane is set up for it. Routed: the edge took the routes. WorkersReady: the proxies serve. KonnectivityReady: agents come through. Reachable: clients reach the API by its host. Ready: Accepted, Prepared, Routed and WorkersReady.',
    ),
});

/** The status of an Exposure. */
export type ExposureStatus = DeepReadonly<z.output<typeof exposureStatus>>;
/** A hop on the path to the tenant, with the result of its last probe. */
export type Hop = DeepReadonly<z.output<typeof hop>>;
