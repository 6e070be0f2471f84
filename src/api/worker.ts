/**
 * The proxies on the worker nodes: `spec.worker` of an Exposure.
 */
import * as z from 'zod';
import { LOG_LEVELS } from '../telemetry/log.ts';
import { IMAGE_PATTERN, MAX_IMAGE_LENGTH } from './values/image-reference.ts';
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
const WORKER_ADDRESSES = ['Virtual', 'Node'] as const;

/** The default of `virtualAddresses`. */
export const DEFAULT_VIRTUAL_ADDRESS = '100.64.64.1';

/** The default memory limit: far more than the pods of a node need, and a bound on unlimited growth. */
export const DEFAULT_MEMORY_LIMIT = '512Mi';

/** Binding a host port below this requires a capability that the proxy does not have. */
const FIRST_UNPRIVILEGED_PORT = 1024;
const hostPort = port.min(FIRST_UNPRIVILEGED_PORT);

const toleration = withRules(
  z.strictObject({
    key: z
      .string()
      .max(317)
      .optional()
      .describe('key is the key of the taint. Defaults to every key.'),
    operator: z
      .enum(['Exists', 'Equal'])
      .default('Equal')
      .describe(
        'operator is Exists for any value of the taint, or Equal for this value. Defaults to Equal.',
      ),
    value: z.string().max(63).optional().describe('value is the value of the taint.'),
    effect: z
      .enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
      .optional()
      .describe('effect is the effect of the taint. Defaults to every effect.'),
  }),
  {
    cel: "self.operator == 'Exists' || has(self.key)",
    holds: ({ operator, key }) => operator === 'Exists' || key !== undefined,
    sentence:
      'key must be set if operator is Equal: set the key of the taint, or use operator Exists for all taints',
  },
  {
    cel: "self.operator == 'Equal' || !has(self.value)",
    holds: ({ operator, value }) => operator === 'Equal' || value === undefined,
    sentence:
      'value must not be set if operator is Exists: remove "{self.value}", or use operator Equal',
  },
);

const imagePullSecret = z.strictObject({
  name: objectName.describe('name is the name of the Secret.'),
});

const hostAlias = z.strictObject({
  ip: address.describe('ip is the address that the names resolve to.'),
  hostnames: setOf(
    withRules(
      z.string().max(253),
      matching(SUBDOMAIN_PATTERN, 'invalid host name "{self}": must be a lowercase DNS name'),
    ),
    16,
  ).describe('hostnames lists the names for this address.'),
});

/** The schema of `spec.worker`. */
export const workerSpec = withRules(
  z.strictObject({
    mode: z
      .enum(WORKER_MODES)
      .optional()
      .describe(
        'mode selects how the proxy identifies the tenant to the edge. Passthrough: the proxy sends a signed header before the TLS of the pod, which stays end to end. This mode requires an Edge with driver snicket. Terminate: the proxy terminates the TLS of the pod and opens its own connection to the edge. This mode works with every driver, but client certificates of pods do not reach the API. Defaults to Passthrough with driver snicket, and to Terminate with every other driver.',
      ),
    address: z
      .enum(WORKER_ADDRESSES)
      .default('Virtual')
      .describe(
        'address selects the endpoint of the Service default/kubernetes at which pods reach the proxy. Virtual: an address that Snicket adds to every node. It works before a cloud provider has set the addresses of a node. Node: the address of the node. Use it where NET_ADMIN is not permitted. Defaults to Virtual.',
      ),
    virtualAddresses: withRules(z.array(virtualAddress).min(1).max(2), oneOfEachFamily)
      .default([DEFAULT_VIRTUAL_ADDRESS])
      .describe(
        'virtualAddresses lists the addresses for address Virtual: at most one IPv4 and one IPv6 address. Snicket adds them to the loopback device of each node. They must not be used elsewhere in the tenant. Defaults to 100.64.64.1.',
      ),
    port: hostPort
      .default(7443)
      .describe(
        'port is the port of the proxy on each node. It must be free on all nodes. Defaults to 7443.',
      ),
    healthPort: hostPort
      .default(7444)
      .describe(
        'healthPort is the port of the health endpoint on each node. The proxy serves it on the loopback device only. It must be free on all nodes. Defaults to 7444.',
      ),
    directInjection: z
      .boolean()
      .default(false)
      .describe(
        'directInjection sets KUBERNETES_SERVICE_HOST of new pods to the host of the API, so that they connect to the edge directly. All other pods use the proxy. Requires Kubernetes 1.36 in the tenant. Defaults to false.',
      ),
    image: withRules(
      z.string().max(MAX_IMAGE_LENGTH),
      matching(
        IMAGE_PATTERN.source,
        'invalid image "{self}": must be an image reference, such as registry.example.com/snicket:v1',
      ),
    )
      .optional()
      .describe(
        'image is the container image of the proxy. Defaults to the image of the operator.',
      ),
    imagePullSecrets: mapBy('name', imagePullSecret, 16)
      .optional()
      .describe(
        'imagePullSecrets references the Secrets with which nodes pull the image. They must exist in namespace kube-system of the tenant, since Snicket does not create them.',
      ),
    resources: z
      .strictObject({
        requests: quantities
          .default({ cpu: '10m', memory: '32Mi' })
          .describe(
            'requests lists the requested amount of each resource. Defaults to cpu 10m and memory 32Mi.',
          ),
        limits: quantities
          .optional()
          .describe(
            `limits lists the limit of each resource; {} sets no limits. Defaults to memory ${DEFAULT_MEMORY_LIMIT}, or to the memory request if that is larger.`,
          ),
      })
      .prefault({})
      .describe('resources sets CPU and memory of the proxy on each node.'),
    hostAliases: mapBy('ip', hostAlias, 16)
      .optional()
      .describe(
        'hostAliases lists additional entries for the hosts file of the proxy. With an entry for the API host, proxies connect to its address instead of those of the Edge.',
      ),
    tolerations: z
      .array(toleration)
      .max(32)
      .default([{ operator: 'Exists' }])
      .describe(
        'tolerations lists the taints that the proxy tolerates. Defaults to all taints, since pods on any node may need the API.',
      ),
    nodeSelector: mapTo(z.string().max(63), 32)
      .optional()
      .describe(
        'nodeSelector selects the nodes with a proxy by their labels. Pods on other nodes cannot reach the API. Defaults to all nodes.',
      ),
    logLevel: z
      .enum(LOG_LEVELS)
      .default('info')
      .describe('logLevel is the log level of the proxy. Defaults to info.'),
  }),
  {
    // The API server also applies the rule to the default {}, before it fills in the nested defaults.
    cel: '!has(self.port) || !has(self.healthPort) || self.port != self.healthPort',
    holds: (worker) => worker.port !== worker.healthPort,
    sentence: 'port and healthPort must differ',
  },
);

/** `spec.worker`, with defaults. */
export type WorkerSpec = DeepReadonly<z.output<typeof workerSpec>>;
