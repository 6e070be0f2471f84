import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  compareVersions,
  VERSIONED_FEATURES,
  featureFindings,
  parseVersion,
  isSupported,
} from './versions.ts';

describe('a version', () => {
  test.each([
    ['v1.35.7', [1, 35, 7]],
    ['1.36', [1, 36, 0]],
    ['v1.34.1-k0s.0', [1, 34, 1]],
    ['v1.34.1+k0s.0', [1, 34, 1]],
    [' v1.36.0-rc.1 ', [1, 36, 0]],
    ['v1.33.4-gke.1234+abc', [1, 33, 4]],
  ])('parses %s', (text, [major, minor, patch]) => {
    expect(parseVersion(text)).toEqual({ major, minor, patch } as never);
  });

  test.each(['', 'latest', 'v1', '1.x', '1.34.1.2', 'v-1.2.3', '1.34.1 k0s', 'v99999.1.1'])(
    'returns undefined for %j',
    (text) => {
      expect(parseVersion(text)).toBeUndefined();
    },
  );

  test('compares major, minor and patch, in that order', () => {
    const version = fc.record({ major: fc.nat(9), minor: fc.nat(99), patch: fc.nat(99) });
    fc.assert(
      fc.property(version, version, (first, second) => {
        const [a, b] = [first, second].map(
          ({ major, minor, patch }) => major * 1e4 + minor * 100 + patch,
        );

        expect(Math.sign(compareVersions(first, second))).toBe(Math.sign(a! - b!));
      }),
    );
  });
});

describe('k0s supports a port in an external address', () => {
  test.each([
    ['v1.31.12-k0s.0', false],
    ['v1.31.13-k0s.0', true],
    ['v1.32.9', false],
    ['v1.32.10', true],
    ['v1.33.5', false],
    ['v1.33.6', true],
    ['v1.34.0', false],
    ['v1.34.1', true],
    ['v1.35.0', true],
    ['v1.30.99', false],
    ['v2.0.0', true],
    ['newest', 'unknown'],
  ] as const)('%s: %p', (version, expected) => {
    expect(isSupported(VERSIONED_FEATURES.k0sAddressWithPort, version)).toBe(expected);
  });
});

test('the finding names the feature and its versions', () => {
  const place = 'spec.version of Cluster tenants/red';

  expect(featureFindings(VERSIONED_FEATURES.k0sAddressWithPort, 'v1.35.1-k0s.0', place)).toEqual(
    [],
  );
  expect(
    featureFindings(
      VERSIONED_FEATURES.mutatingAdmissionPolicy,
      'v1.35.7',
      'the version of the tenant',
    ),
  ).toEqual([
    {
      code: 'VersionUnsupported',
      severity: 'error',
      message:
        'Version v1.35.7 (the version of the tenant) is too old: Kubernetes supports MutatingAdmissionPolicy without a feature gate since v1.36.0.',
      action: 'Upgrade to v1.36.0 or newer.',
    },
  ]);
  expect(featureFindings(VERSIONED_FEATURES.k0sAddressWithPort, 'main', place)).toMatchObject([
    {
      code: 'VersionUnsupported',
      action: 'Check that the version is one of v1.31.13, v1.32.10, v1.33.6, v1.34.1 or newer.',
    },
  ]);
});
