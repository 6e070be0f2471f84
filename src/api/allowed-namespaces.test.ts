import { expect, test } from 'bun:test';
import { namespaceFault } from './allowed-namespaces.ts';
import { parseEdge, parseExposure } from './objects.ts';
import { edgeOf, exposureOf } from './testing/objects.ts';

function exposureIn(namespace: string) {
  return parseExposure({ ...exposureOf({}), metadata: { name: 'blue', namespace } });
}

function edgeFor(...allowedNamespaces: readonly string[]) {
  return parseEdge(edgeOf({ driver: 'snicket', allowedNamespaces }));
}

test('an Edge that names no namespaces is for all of them', () => {
  const edge = parseEdge(edgeOf({ driver: 'snicket' }));

  expect(namespaceFault(exposureIn('tenants'), edge)).toBeUndefined();
});

test('an Edge takes Exposures of the namespaces that it names', () => {
  expect(namespaceFault(exposureIn('tenants'), edgeFor('more', 'tenants'))).toBeUndefined();
});

test('an Exposure from elsewhere is told which they are, and what to do', () => {
  expect(namespaceFault(exposureIn('shop'), edgeFor('more', 'tenants'))).toEqual({
    code: 'NamespaceNotAllowed',
    severity: 'error',
    message: 'Edge shared takes no Exposures of namespace shop, only of more, tenants',
    action:
      'make the Exposure in one of these, choose another Edge, or let shop be added to spec.allowedNamespaces of the Edge',
  });
});

test('of a long list, some are told', () => {
  const many = Array.from({ length: 12 }, (_, index) => `n${index}`);

  expect(namespaceFault(exposureIn('shop'), edgeFor(...many))?.message).toEndWith(
    'only of n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more',
  );
});
