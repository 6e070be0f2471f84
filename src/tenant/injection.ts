/**
 * Direct injection: the API server sets the host of the edge in KUBERNETES_SERVICE_HOST of new pods, which then dial
 * the edge by name, without the proxy. A MutatingAdmissionPolicy does this, so there is no webhook to run.
 *
 * Pods in kube-system and pods on the host network are excluded. They provide the network and DNS, so they must not
 * depend on a name. They use the proxy.
 */
import type { KubeObject } from '../kube/object.ts';
import { MANAGED_BY } from '../api/labels.ts';
import { VERSIONED_FEATURES, isSupported } from '../api/versions.ts';

/** The label that excludes a pod or a namespace, if its value is "false". */
export const INJECT_LABEL = 'snicket.dev/inject';

const NAME = 'snicket-inject.snicket.dev';
const HOST_VARIABLE = 'KUBERNETES_SERVICE_HOST';
const PORT_VARIABLE = 'KUBERNETES_SERVICE_PORT';

/** Reports whether an API server of this version (`v1.36.0+k0s`) has MutatingAdmissionPolicy. */
export function supportsInjection(version: string): boolean {
  return isSupported(VERSIONED_FEATURES.mutatingAdmissionPolicy, version) === true;
}

/** Returns the policy and its binding. */
export function injectionPolicy(host: string, port: number): readonly KubeObject[] {
  const metadata = { name: NAME, labels: MANAGED_BY };
  const notOptedOut = { key: INJECT_LABEL, operator: 'NotIn', values: ['false'] };
  const notSystem = {
    key: 'kubernetes.io/metadata.name',
    operator: 'NotIn',
    values: ['kube-system'],
  };
  const policy = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicy',
    metadata,
    spec: {
      // A pod without the variables still works, by the proxy. A rejected pod does not.
      failurePolicy: 'Ignore',
      // Other policies and webhooks may add containers.
      reinvocationPolicy: 'IfNeeded',
      matchConstraints: {
        namespaceSelector: { matchExpressions: [notSystem, notOptedOut] },
        objectSelector: { matchExpressions: [notOptedOut] },
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
        ],
      },
      matchConditions: [
        { name: 'not-on-the-host-network', expression: '!object.spec.?hostNetwork.orValue(false)' },
      ],
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: { expression: injection(host, port) },
        },
      ],
    },
  };
  const binding = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: NAME },
  };
  return [policy, binding];
}

function injection(host: string, port: number): string {
  const lists = ['initContainers', 'containers'].map(
    (list) => `    ${list}: ${variablesIn(list, host, port)}`,
  );
  return `Object{\n  spec: Object.spec{\n${lists.join(',\n')}\n  }\n}`;
}

/** Returns the CEL expression for the containers that set neither variable. */
function variablesIn(list: string, host: string, port: number): string {
  const type = `Object.spec.${list}`;
  const variable = (name: string, value: string): string =>
    `${type}.env{name: ${JSON.stringify(name)}, value: ${JSON.stringify(value)}}`;
  const variables = [HOST_VARIABLE, PORT_VARIABLE].map((name) => JSON.stringify(name)).join(', ');
  return [
    `object.spec.?${list}.orValue([])`,
    `.filter(c, !c.?env.orValue([]).exists(e, e.name in [${variables}]))`,
    `.map(c, ${type}{name: c.name, env: [${variable(HOST_VARIABLE, host)}, ${variable(PORT_VARIABLE, String(port))}]})`,
  ].join('');
}
