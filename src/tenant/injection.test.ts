import { expect, test } from 'bun:test';
import { injectionPolicy, supportsInjection } from './injection.ts';

test.each(['v1.36.0', 'v1.36.0+k0s', '1.36', 'v1.37.0-alpha.1', 'v1.100.2', 'v2.0.0'])(
  '%s has the policy',
  (version) => {
    expect(supportsInjection(version)).toBe(true);
  },
);

test.each(['v1.35.6', 'v1.4.0', 'v1.35.0+k0s.0', 'v0.36.0', '', 'unknown'])(
  '%p does not have the policy',
  (version) => {
    expect(supportsInjection(version)).toBe(false);
  },
);

test('the binding names the policy', () => {
  const [policy, binding] = injectionPolicy('blue.k8s.example.com', 8443);

  expect(policy?.kind).toBe('MutatingAdmissionPolicy');
  expect(binding).toMatchObject({
    kind: 'MutatingAdmissionPolicyBinding',
    spec: { policyName: policy?.metadata.name },
  });
});

test('the policy writes the host and the port into containers and init containers', () => {
  const [policy] = injectionPolicy('blue.k8s.example.com', 8443);

  const { mutations } = (policy as unknown as { spec: { mutations: Mutation[] } }).spec;

  expect(mutations[0]?.applyConfiguration.expression).toMatchInlineSnapshot(`
    "Object{
      spec: Object.spec{
        initContainers: object.spec.?initContainers.orValue([]).filter(c, !c.?env.orValue([]).exists(e, e.name in ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"])).map(c, Object.spec.initContainers{name: c.name, env: [Object.spec.initContainers.env{name: "KUBERNETES_SERVICE_HOST", value: "blue.k8s.example.com"}, Object.spec.initContainers.env{name: "KUBERNETES_SERVICE_PORT", value: "8443"}]}),
        containers: object.spec.?containers.orValue([]).filter(c, !c.?env.orValue([]).exists(e, e.name in ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"])).map(c, Object.spec.containers{name: c.name, env: [Object.spec.containers.env{name: "KUBERNETES_SERVICE_HOST", value: "blue.k8s.example.com"}, Object.spec.containers.env{name: "KUBERNETES_SERVICE_PORT", value: "8443"}]})
      }
    }"
  `);
});

interface Mutation {
  readonly applyConfiguration: { readonly expression: string };
}
