/**
 * The proxies on the worker nodes: `spec.worker` of an Exposure.
 */
import * as z from 'zod';
import { LOG_LEVELS } from '../telemetry/log.ts';
import { IMAGE_PATTERN, MAX_IMAGE_LENGTH } from './values/image-name.ts';
import {
  mapBy,
  mapTo,
  objectName,
  quantities,
  setOf,
  type DeepReadonly,
} from './values/kubernetes-values.ts';
import { SUBDOMAIN_PATTERN } from './values/name-patterns.ts';
import { address, oneOfEachFamily, port, virtualAddress } from './values/network-values.ts';
import { matching, withRules } from './values/rule.ts';

/** The values of `mode`: how the proxy identifies the tenant to the edge. */
export const WORKER_MODES = ['Passthrough', 'Terminate'] as const;
/** One of {@link WORKER_MODES}. */
export type WorkerMode = (typeof WORKER_MODES)[number];

/** The values of `address`: where pods reach the proxy of their node. */
export const WORKER_ADDRESSES = ['Virtual', 'Node'] as const;
/** One of {@link WORKER_ADDRESSES}. */
export type WorkerAddress = (typeof WORKER_ADDRESSES)[number];

/** The default of `virtualAddresses`. */
export const DEFAULT_VIRTUAL_ADDRESS = '100.64.64.1';

/** The default memory limit: far more than the pods of a node need, and a bound on unlimited growth. */
export const DEFAULT_MEMORY_LIMIT = '512Mi';

/** Binding a host port below this requires a capability that the proxy does not have. */
const FIRST_UNPRIVILEGED_PORT = 1024;
const hostPort = port.min(FIRST_UNPRIVILEGED_PORT);

const toleration = withRules(
  z.strictObject({
    key: z.string().max(317).optional().describe('The key of the taint. Default: every key.'),
    operator: z
      .enum(['Exists', 'Equal'])
      .default('Equal')
      .describe('Exists: whatever its value. Equal: with this value.'),
    value: z.string().max(63).optional().describe('The value of the taint.'),
    effect: z
      .enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
      .optional()
      .describe('The effect of the taint. Default: every effect.'),
  }),
  {
    cel: "self.operator == 'Exists' || has(self.key)",
    holds: ({ operator, key }) => operator === 'Exists' || key !== undefined,
    sentence: 'operator Equal needs a key; write the key of the taint, or operator Exists for all',
  },
  {
    cel: "self.operator == 'Equal' || !has(self.value)",
    holds: ({ operator, value }) => operator === 'Equal' || value === undefined,
    sentence: 'operator Exists takes no value; remove "{self.value}", or write operator Equal',
  },
);

const imagePullSecret = z.strictObject({
  name: objectName.describe('name is the name of the Secret.'),
});

const hostAlias = z.strictObject({
  ip: address.describe('The address.'),
  hostnames: setOf(
    withRules(
      z.string().max(253),
      matching(SUBDOMAIN_PATTERN, '"{self}" is no host name; write a DNS name in lower case'),
    ),
    16,
  ).describe('The names that lead there.'),
});

/** The schema of `spec.worker`. */
export const workerSpec = withRules(
  z.strictObject({
    mode: z
      .enum(WORKER_MODES)
      .optional()
      .describe(
        "mode selects how the proxy names the tenant to the edge. Passthrough: it sends a signed header in front of the pod's own TLS, which stays intact from end to end; this requires an Edge with driver snicket. Terminate: it terminates the pod's TLS and opens its own connection to the edge; this works with every driver, but client certificates of pods are lost. Defaults to Passthrough with driver snicket, and to Terminate with every other driver.",
      ),
    address: z
      .enum(WORKER_ADDRESSES)
      .default('Virtual')
      .describe(
        'address selects the endpoint of the Service default/kubernetes at which pods reach the proxy. Virtual: an address that every node carries; this works before a node has an address of its own. Node: the address of the node; choose it where NET_ADMIN is not permitted.',
      ),
    virtualAddresses: withRules(z.array(virtualAddress).min(1).max(2), oneOfEachFamily)
      .default([DEFAULT_VIRTUAL_ADDRESS])
      .describe(
        'virtualAddresses lists the addresses for address Virtual: at most one IPv4 and one IPv6 address. Snicket adds them to the loopback device of each node; nothing else may use them.',
      ),
    port: hostPort
      .default(7443)
      .describe('Where the proxy listens on each node. Must be free on all of them.'),
    healthPort: hostPort
      .default(7444)
      .describe(
        'Where the proxy answers for its health on each node, at an address of the loopback device: nothing outside the node reaches it. Must be free on all of them.',
      ),
    directInjection: z
      .boolean()
      .default(false)
      .describe(
        'Give new pods the host of the API in KUBERNETES_SERVICE_HOST, so that they dial the edge themselves. The tenant needs Kubernetes 1.36; the proxy stays for everything else.',
      ),
    image: withRules(
      z.string().max(MAX_IMAGE_LENGTH),
      matching(
        IMAGE_PATTERN.source,
        '"{self}" is no name of an image; write one such as registry.example.com/snicket:v1',
      ),
    )
      .optional()
      .describe("The image of the proxy. Default: the operator's own."),
    imagePullSecrets: mapBy('name', imagePullSecret, 16)
      .optional()
      .describe(
        'imagePullSecrets references the Secrets with which nodes pull the image. They must exist in namespace kube-system of the tenant: Snicket does not create them.',
      ),
    resources: z
      .strictObject({
        requests: quantities
          .default({ cpu: '10m', memory: '32Mi' })
          .describe('What the proxy is sure to get, by resource.'),
        limits: quantities
          .optional()
          .describe(
            `What it may use at most, by resource; {} for no limits. Default: ${DEFAULT_MEMORY_LIMIT} of memory, unless more than that is requested.`,
          ),
      })
      .prefault({})
      .describe('CPU and memory of the proxy on each node.'),
    hostAliases: mapBy('ip', hostAlias, 16)
      .optional()
      .describe(
        "More lines for the proxy's hosts file. If they name the API host, proxies dial these addresses instead of those of the Edge.",
      ),
    tolerations: z
      .array(toleration)
      .max(32)
      .default([{ operator: 'Exists' }])
      .describe(
        'The taints that the proxy bears. Default: all of them, since pods of nodes with any taint may need the API.',
      ),
    nodeSelector: mapTo(z.string().max(63), 32)
      .optional()
      .describe(
        'Labels of the nodes that get a proxy. Default: all nodes; on the others pods do not reach the API.',
      ),
    logLevel: z.enum(LOG_LEVELS).default('info').describe('How much the proxy logs.'),
  }),
  {
    // The API server also applies the rule to the default {}, before it fills in the nested defaults.
    cel: '!has(self.port) || !has(self.healthPort) || self.port != self.healthPort',
    holds: (worker) => worker.port !== worker.healthPort,
    sentence: 'port and healthPort are the same; write another one for one of them',
  },
);

/** `spec.worker`, with defaults. */
export type WorkerSpec = DeepReadonly<z.output<typeof workerSpec>>;
