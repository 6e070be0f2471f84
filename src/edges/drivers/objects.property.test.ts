import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { DRIVERS } from '../../api/edge.ts';
import type { ExposureRoutes } from '../route.ts';
import { claimsOf } from '../claims/claims.ts';
import { driverFor } from '../driver-for.ts';
import { edge, serving, SPECS } from '../testing/blue.ts';

const WRITING = DRIVERS.filter((name) => driverFor(name).requires.length > 0);

describe.each(WRITING)('for any routes, %s', (name) => {
  const objectsOf = (input: ExposureRoutes) =>
    driverFor(name).objects(input, edge(SPECS[name]), serving());

  const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
  const host = fc.tuple(label, label, label).map((labels) => `${labels.join('.')}.example`);
  const port = fc.integer({ min: 1, max: 65_535 });
  const routes = fc
    .record({
      name: label,
      namespace: label,
      service: label,
      hosts: fc.uniqueArray(host, { minLength: 1, maxLength: 2 }),
      port,
      other: port,
    })
    .map(
      ({
        name: exposure,
        namespace,
        service,
        hosts: [api = '', konnectivity],
        port: apiPort,
        other,
      }) => ({
        name: exposure,
        namespace,
        api: { kind: 'api' as const, host: api, service, port: apiPort, portName: '' },
        konnectivity:
          konnectivity === undefined
            ? undefined
            : {
                kind: 'konnectivity' as const,
                host: konnectivity,
                service,
                port: other,
                portName: '',
              },
      }),
    );

  test('claims each host once, and no other host', () => {
    fc.assert(
      fc.property(routes, (input) => {
        const claimed = objectsOf(input).flatMap(claimsOf);

        expect(claimed.map((claim) => claim.host)).toEqual(
          [input.api.host, input.konnectivity?.host].filter((wanted) => wanted !== undefined),
        );
        expect(claimed.every(({ match }) => match === 'exact')).toBe(true);
      }),
    );
  });

  test('labels every object, in the namespace of the Exposure', () => {
    fc.assert(
      fc.property(routes, (input) => {
        for (const { metadata } of objectsOf(input)) {
          expect(metadata.namespace).toBe(input.namespace);
          expect(metadata.labels).toEqual({
            'app.kubernetes.io/managed-by': 'snicket',
            'snicket.dev/exposure': input.name,
          });
        }
      }),
    );
  });

  test('gives two Exposures of a namespace different objects', () => {
    fc.assert(
      fc.property(routes, routes, (a, b) => {
        fc.pre(a.name !== b.name);
        const names = [a, b].map((input) => objectsOf(input).map(({ metadata }) => metadata.name));

        expect(new Set(names.flat()).size).toBe(names.flat().length);
      }),
    );
  });

  test('writes nothing that an API server would drop', () => {
    fc.assert(
      fc.property(routes, (input) => {
        for (const object of objectsOf(input)) {
          expect(emptyPaths(object)).toEqual([]);
          expect(JSON.parse(JSON.stringify(object))).toEqual(object);
        }
      }),
    );
  });
});

/** Returns the paths of empty maps and lists, and of undefined fields. */
function emptyPaths(value: unknown, path = ''): readonly string[] {
  if (value === undefined || value === null) return [path];
  if (typeof value !== 'object') return [];
  const entries = Object.entries(value);
  if (entries.length === 0) return [path];
  return entries.flatMap(([key, inner]) => emptyPaths(inner, `${path}.${key}`));
}
