import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { exposureLabelValue, routeMetadata, routeObjectName } from './names.ts';
import { BLUE } from './testing/blue.ts';

/** Names of Exposures, some of which must be shortened. */
const exposureName = fc
  .tuple(
    fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,30}[a-z0-9])?$/),
    fc.integer({ min: 0, max: 8 }),
    fc.stringMatching(/^[a-z0-9]{1,6}$/),
  )
  .map(([label, times, end]) => `${`${label}-`.repeat(times)}${end}`.slice(0, 253))
  .filter((name) => IS_NAME.test(name));

/** The patterns of apimachinery. */
const IS_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const IS_LABEL_VALUE = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

test('objects are named after their Exposure', () => {
  expect(routeObjectName('blue')).toBe('snicket-blue');
  expect(routeObjectName('blue', '-api')).toBe('snicket-blue-api');
  expect(routeObjectName('blue', '-konnectivity')).toBe('snicket-blue-konnectivity');
  expect(routeObjectName('blue', '.nginx')).toBe('snicket-blue.nginx');
});

test('two drivers of the same kind never use the same name', () => {
  expect(routeObjectName('blue', '.haproxy-ingress')).not.toBe(
    routeObjectName('blue-haproxy', '.ingress'),
  );
});

test('a name that is too long ends in a stable hash', () => {
  const name = 'x'.repeat(253);

  expect(routeObjectName(name)).toBe(`snicket-${'x'.repeat(224)}-fbc8a750f36a072f10dd`);
  expect(exposureLabelValue(name)).toHaveLength(63);
});

test('a name is shortened at a valid position', () => {
  const dotted = `${'a'.repeat(41)}.${'b'.repeat(200)}`;

  expect(exposureLabelValue(dotted)).toStartWith(`${'a'.repeat(41)}0-`);
});

test('every name and every label value is valid', () => {
  fc.assert(
    fc.property(
      exposureName,
      fc.constantFrom('', '-api', '-konnectivity', '.haproxy'),
      (name, kind) => {
        const objectName = routeObjectName(name, kind);
        const label = exposureLabelValue(name);

        expect(objectName).toMatch(IS_NAME);
        expect(objectName.length).toBeLessThanOrEqual(253);
        expect(label).toMatch(IS_LABEL_VALUE);
        expect(label.length).toBeLessThanOrEqual(63);
      },
    ),
  );
});

test('two Exposures never share an object name or a label value', () => {
  const kinds = ['', '-api', '-konnectivity', '.haproxy'] as const;
  fc.assert(
    fc.property(exposureName, exposureName, (a, b) => {
      fc.pre(a !== b);

      for (const kind of kinds) expect(routeObjectName(a, kind)).not.toBe(routeObjectName(b, kind));
      expect(routeObjectName(a, '-api')).not.toBe(routeObjectName(b, '-konnectivity'));
      expect(exposureLabelValue(a)).not.toBe(exposureLabelValue(b));
    }),
  );
});

test('no name equals the shortened form of another name', () => {
  const long = 'victim'.repeat(42);
  const shortened = routeObjectName(long);
  const chosen = shortened.slice('snicket-'.length);

  expect(routeObjectName(chosen)).not.toBe(shortened);
  expect(exposureLabelValue(exposureLabelValue(long))).not.toBe(exposureLabelValue(long));
});

test('empty annotations are omitted, as the API server does', () => {
  expect(routeMetadata(BLUE)).toEqual({
    name: 'snicket-blue',
    namespace: 'tenants',
    labels: { 'app.kubernetes.io/managed-by': 'snicket', 'snicket.dev/exposure': 'blue' },
  });
});
