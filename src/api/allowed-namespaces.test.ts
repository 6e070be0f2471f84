import { expect, test } from 'bun:test';
import { labelsOfNamespace, namespaceFault } from './allowed-namespaces.ts';
import { parseEdge, parseExposure } from './objects.ts';
import { edgeOf, exposureOf } from './testing/objects.ts';

function exposureIn(namespace: string) {
  return parseExposure({ ...exposureOf({}), metadata: { name: 'blue', namespace } });
}

function edgeFor(allowedNamespaces?: object) {
  return parseEdge(edgeOf({ driver: 'snicket', ...(allowedNamespaces && { allowedNamespaces }) }));
}

test('an Edge allows all namespaces by default', () => {
  expect(namespaceFault(exposureIn('tenants'), edgeFor(), {})).toBeUndefined();
});

test('an Edge allows the namespaces that its selector matches', () => {
  const edge = edgeFor({ from: 'Selector', selector: { matchLabels: { team: 'a' } } });

  expect(namespaceFault(exposureIn('tenants'), edge, { team: 'a', tier: 'b' })).toBeUndefined();
  expect(namespaceFault(exposureIn('shop'), edge, { tier: 'b' })).toEqual({
    code: 'NamespaceNotAllowed',
    severity: 'error',
    message:
      'Edge shared does not allow Exposures in namespace shop, whose labels do not match team=a.',
    action:
      'Label the namespace to match spec.allowedNamespaces of the Edge, change that field, or choose another Edge.',
  });
});

test('a namespace can be selected by its name, with or without an API server that labels it', () => {
  const values = ['tenants', 'more'];
  const matchExpressions = [{ key: 'kubernetes.io/metadata.name', operator: 'In', values }];
  const edge = edgeFor({ from: 'Selector', selector: { matchExpressions } });
  const fault = (name: string) =>
    namespaceFault(exposureIn(name), edge, labelsOfNamespace(name))?.code;

  expect([fault('tenants'), fault('shop')]).toEqual([undefined, 'NamespaceNotAllowed']);
});
