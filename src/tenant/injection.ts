/**
 * Direct injection: pods are given the host of the edge in place of the Service's address, dial it by name, and need no
 * proxy. The API server does it by a policy; there is no webhook that has to be kept alive.
 *
 * Left alone are the pods on which everything else waits: those in kube-system and those on the network of their node.
 * They bring up the network and DNS, so they must not depend on a name. The proxy is there for them.
 */
import type { KubeObject } from '../kube/object.ts';
import { MANAGED_BY } from '../api/labels.ts';
import { GATES, passes } from '../api/versions.ts';

/** With "false" on a pod or a namespace: it is left alone. */
export const INJECT_LABEL = 'snicket.dev/inject';

const NAME = 'snicket-inject.snicket.dev';
const HOST_VARIABLE = 'KUBERNETES_SERVICE_HOST';
const PORT_VARIABLE = 'KUBERNETES_SERVICE_PORT';

/** Whether a server of this version (`v1.36.0+k0s`) has the policy. */
export function supportsInjection(version: string): boolean {
  return passes(GATES.mutatingAdmissionPolicy, version) === true;
}

/** The policy, and the binding that puts it in force. */
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
      // A pod without the variables still has the proxy; a pod that is refused has nothing.
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

/** For the containers that set neither variable themselves. */
function variablesIn(list: string, host: string, port: number): string {
  const type = `Object.spec.${list}`;
  const variable = (name: string, value: string): string =>
    `${type}.env{name: ${JSON.stringify(name)}, value: ${JSON.stringify(value)}}`;
  const ours = [HOST_VARIABLE, PORT_VARIABLE].map((name) => JSON.stringify(name)).join(', ');
  return [
    `object.spec.?${list}.orValue([])`,
    `.filter(c, !c.?env.orValue([]).exists(e, e.name in [${ours}]))`,
    `.map(c, ${type}{name: c.name, env: [${variable(HOST_VARIABLE, host)}, ${variable(PORT_VARIABLE, String(port))}]})`,
  ].join('');
}
