/**
 * Versions, and what came with which: all that Snicket has to know, in one place.
 */
import type { Finding } from './finding.ts';
import { quoted } from '../text/quote.ts';

/** A version as Kubernetes and k0s write it, by its numbers. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** `v1.35.7`, `1.36`, `v1.34.1-k0s.0`, `v1.34.1+k0s.0`, `v1.36.0-rc.1`. Only numbers decide: a candidate has what its version has. */
const VERSION =
  /^v?(?<major>\d{1,4})\.(?<minor>\d{1,4})(?:\.(?<patch>\d{1,4}))?(?:[-+][0-9A-Za-z.+-]{1,64})?$/;

/** The numbers of a version; undefined if it is none that can be read. */
export function parseVersion(text: string): Version | undefined {
  const { major, minor, patch = '0' } = VERSION.exec(text.trim())?.groups ?? {};
  if (major === undefined || minor === undefined) return undefined;
  return { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

/** Negative if the first is older, 0 if they are the same. */
export function compareVersions(one: Version, other: Version): number {
  return one.major - other.major || one.minor - other.minor || one.patch - other.patch;
}

/** Something that came with a version. */
export interface Gate {
  readonly of: 'k0s' | 'Kubernetes';
  /** As in `k0s takes a port in the address of the API`. */
  readonly what: string;
  /** The first patch of every line that has it; whatever is newer than the last line has it too. */
  readonly since: readonly string[];
}

/** What came when. The patches of k0s were looked up one by one: the ones before do not have it. */
export const GATES = {
  k0sAddressWithPort: {
    of: 'k0s',
    what: 'a port in the external address of the API, so that kubeconfigs and join tokens lead to the edge',
    since: ['1.31.13', '1.32.10', '1.33.6', '1.34.1'],
  },
  mutatingAdmissionPolicy: {
    of: 'Kubernetes',
    what: 'MutatingAdmissionPolicy without a switch',
    since: ['1.36.0'],
  },
} as const satisfies Record<string, Gate>;

/** Whether a version has something; `unknown` if nobody can read the version. */
export function passes(gate: Gate, version: string): boolean | 'unknown' {
  const found = parseVersion(version);
  if (found === undefined) return 'unknown';
  const lines = gate.since.flatMap((text) => parseVersion(text) ?? []);
  const line = lines.find(({ major, minor }) => major === found.major && minor === found.minor);
  const first = line ?? lines.at(-1);
  return first !== undefined && compareVersions(found, first) >= 0;
}

/** What is to be said of a version that lacks something, or that cannot be read; nothing if it is new enough. */
export function gateFindings(gate: Gate, version: string, place: string): readonly Finding[] {
  const passed = passes(gate, version);
  if (passed === true) return [];
  const { of, what, since } = gate;
  const versions = since.map((one) => `v${one}`).join(', ');
  if (passed === 'unknown') {
    return [
      {
        code: 'VersionUnreadable',
        severity: 'warning',
        message: `${place} is ${quoted(JSON.stringify(version))}, which is no version that can be read, so nobody knows whether this ${of} has ${what}`,
        action: `see that it is one of ${versions} or newer`,
      },
    ];
  }
  return [
    {
      code: 'VersionTooOld',
      severity: 'error',
      message: `${place} is ${version}, and ${of} has ${what}, since ${versions}`,
      action: `it has to be ${versions} or newer`,
    },
  ];
}
