/**
 * Versions of Kubernetes and k0s, and the features that Snicket requires of them.
 */
import type { Finding } from './finding.ts';
import { quoted } from '../text/quote.ts';

/** The numbers of a version. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/**
 * Matches `v1.35.7`, `1.36`, `v1.34.1-k0s.0`, `v1.34.1+k0s.0`, `v1.36.0-rc.1`. Only the numbers count: a release
 * candidate has the features of its release.
 */
const VERSION =
  /^v?(?<major>\d{1,4})\.(?<minor>\d{1,4})(?:\.(?<patch>\d{1,4}))?(?:[-+][0-9A-Za-z.+-]{1,64})?$/;

/** Returns the numbers of a version; undefined if it cannot be parsed. */
export function parseVersion(text: string): Version | undefined {
  const { major, minor, patch = '0' } = VERSION.exec(text.trim())?.groups ?? {};
  if (major === undefined || minor === undefined) return undefined;
  return { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

/** Returns a negative number if the first version is older, and 0 if they are equal. */
export function compareVersions(a: Version, b: Version): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}

/** A feature and the versions that introduced it. */
interface VersionedFeature {
  readonly product: 'k0s' | 'Kubernetes';
  /** The feature, as in `k0s supports a port in the address of the API`. */
  readonly feature: string;
  /** The first patch release with the feature, per minor version. Every version after the last one has it too. */
  readonly since: readonly string[];
  /** A sentence that corrects the versions in other documentation. Default: none. */
  readonly correction?: string;
}

/** The features. Each k0s patch release was verified: the patch release before it does not have the feature. */
export const VERSIONED_FEATURES = {
  k0sAddressWithPort: {
    product: 'k0s',
    feature:
      'a port in the external address of the API, so that kubeconfigs and join tokens point to the edge',
    since: ['1.31.13', '1.32.10', '1.33.6', '1.34.1'],
    correction:
      'The documentation of k0smotron lists v1.34.1, v1.33.5, v1.32.9 and v1.31.13, but k0s v1.33.5 and v1.32.9 reject an address with a port.',
  },
  mutatingAdmissionPolicy: {
    product: 'Kubernetes',
    feature: 'MutatingAdmissionPolicy without a feature gate',
    since: ['1.36.0'],
  },
} as const satisfies Record<string, VersionedFeature>;

/** Reports whether a version supports a feature; `unknown` if the version cannot be parsed. */
export function isSupported(versioned: VersionedFeature, version: string): boolean | 'unknown' {
  const found = parseVersion(version);
  if (found === undefined) return 'unknown';
  const releases = versioned.since.flatMap((text) => parseVersion(text) ?? []);
  const release = releases.find(
    ({ major, minor }) => major === found.major && minor === found.minor,
  );
  const first = release ?? releases.at(-1);
  return first !== undefined && compareVersions(found, first) >= 0;
}

/** Returns the findings about a version that lacks a feature or cannot be parsed; none if it has the feature. */
export function featureFindings(
  versioned: VersionedFeature,
  version: string,
  subject: string,
): readonly Finding[] {
  const supported = isSupported(versioned, version);
  if (supported === true) return [];
  const { product, feature, since, correction } = versioned;
  const versions = since.map((version) => `v${version}`).join(', ');
  if (supported === 'unknown') {
    return [
      {
        code: 'VersionUnsupported',
        severity: 'warning',
        message: `Version ${quoted(JSON.stringify(version))} (${subject}) is invalid, so it is unknown whether this ${product} supports ${feature}.`,
        action: `Check that the version is one of ${versions} or newer.`,
      },
    ];
  }
  return [
    {
      code: 'VersionUnsupported',
      severity: 'error',
      message: `Version ${version} (${subject}) is too old: ${product} supports ${feature} since ${versions}.${correction === undefined ? '' : ` ${correction}`}`,
      action: `Upgrade to ${versions} or newer.`,
    },
  ];
}
