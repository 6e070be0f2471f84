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
const HOP_STATES = ['Pass', 'Fail', 'Skip'] as const;
/** One of {@link HOP_STATES}. */
export type HopState = (typeof HOP_STATES)[number];

const hop = z.object({
  name: z
    .string()
    .min(1)
    .max(63)
    .describe('name is the name of the hop, such as dns, edge, sni, certificate or api.'),
  state: z
    .string()
    .min(1)
    .max(63)
    .describe('state is Pass, Fail, or Skip if an earlier hop failed. More values may be added.'),
  reason: z
    .string()
    .min(1)
    .max(256)
    .describe('reason is the reason for the state, as a stable code for programs.'),
  message: z.string().max(4096).describe('message describes the result for humans.'),
  action: z.string().max(4096).optional().describe('action is what to do about it, if anything.'),
  at: time.describe('at is the time of the last change of the result.'),
});

/** The schema of the status of an Exposure. */
export const exposureStatus = z.object({
  observedGeneration: z
    .int()
    .min(0)
    .optional()
    .describe('observedGeneration is the metadata.generation that this status describes.'),
  endpoint: z
    .string()
    .max(260)
    .optional()
    .describe('endpoint is the address of the API, as HOST:PORT.'),
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
      ready: z.int().min(0).describe('ready is the number of nodes with a ready proxy.'),
      desired: z.int().min(0).describe('desired is the number of nodes that must have a proxy.'),
      summary: z.string().max(32).describe('summary is both numbers, such as 12/12.'),
    })
    .optional()
    .describe('proxies counts the proxies on the nodes of the tenant.'),
  certificate: z
    .object({
      notAfter: time.describe('notAfter is the time at which the certificate expires.'),
      renewAt: time.describe('renewAt is the time at which Snicket renews the certificate.'),
      authority: z
        .string()
        .max(128)
        .describe(
          'authority is the SHA-256 fingerprint of the tenant CA that signed the certificate.',
        ),
    })
    .optional()
    .describe(
      'certificate describes the certificate that the proxies serve. Set only with mode Terminate.',
    ),
  hops: mapBy('name', hop, 32)
    .optional()
    .describe(
      'hops lists the hops on the path to the tenant, with the results of their last probes.',
    ),
  conditions: conditions
    .optional()
    .describe(
      'conditions describes the state of the Exposure. Accepted: the spec is valid, and no other Exposure owns its hosts. Prepared: the control plane has the required configuration. Routed: the edge has accepted the routes. WorkersReady: the proxies are ready. KonnectivityReady: konnectivity agents reach their server. Reachable: clients reach the API by its host. Ready: Accepted, Prepared, Routed and WorkersReady are True.',
    ),
});

/** The status of an Exposure. */
export type ExposureStatus = DeepReadonly<z.output<typeof exposureStatus>>;
/** A hop on the path to the tenant, with the result of its last probe. */
export type Hop = DeepReadonly<z.output<typeof hop>>;
