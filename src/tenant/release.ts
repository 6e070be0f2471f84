/**
 * The cause of a change of the proxies' pod template: a new release of Snicket, the Edge, or the Exposure.
 *
 * The hashes are annotations of the DaemonSet, not of its pods. A new release and a change of an Edge concern many
 * tenants at once, so the operator paces their rollout. A change of one Exposure concerns one tenant.
 */
import type { ExposureSpec } from '../api/exposure.ts';
import {
  DEFAULT_VIRTUAL_ADDRESS,
  WORKER_MODES,
  workerSpec,
  type WorkerSpec,
} from '../api/worker.ts';
import { canonicalJson } from '../kube/apply/canonical-json.ts';
import type { ProxyPodsInput } from './proxy-pods.ts';
import type { DaemonSet } from './pod.ts';

/** The annotation with the hash of the templates that this release of Snicket generates. */
export const RELEASE_ANNOTATION = 'snicket.dev/release';
/** The annotation with the hash of what the user set in the Exposure, without defaults. */
export const EXPOSURE_ANNOTATION = 'snicket.dev/exposure-hash';
/** The annotation with the hash of the API host and the Edge. Both may follow from a change of the Edge alone. */
export const PATH_ANNOTATION = 'snicket.dev/path-hash';

/** The inputs of a template, with the default image. The mode follows from the worker spec and the Edge. */
export interface ReleaseInput extends Pick<ProxyPodsInput, 'worker' | 'host' | 'edge'> {
  /** The default image of the operator. */
  readonly defaultImage: string;
  /** The fields of the Exposure that determine its path. */
  readonly exposure: Pick<ExposureSpec, 'edgeRef' | 'hosts'>;
}

const DEFAULTS: WorkerSpec = workerSpec.parse({});

/** The release hashes, by default image. The templates of a release are generated once. */
const releases = new Map<string, string>();

/** Returns the annotations for a DaemonSet. */
export function releaseAnnotations(
  { worker, host, edge, exposure: { edgeRef, hosts }, defaultImage }: ReleaseInput,
  daemonSetOf: (input: ProxyPodsInput) => DaemonSet,
): Readonly<Record<string, string>> {
  // The default image has no effect on an Exposure that names an image.
  const image = worker.image === undefined ? defaultImage : '';
  const release = releases.get(image) ?? releaseOf(image, daemonSetOf);
  releases.set(image, release);
  return {
    [RELEASE_ANNOTATION]: release,
    [EXPOSURE_ANNOTATION]: hashOf({ worker: userValues(worker, DEFAULTS), edgeRef, hosts }),
    [PATH_ANNOTATION]: hashOf({ host, edge }),
  };
}

/**
 * Returns the values that differ from the defaults. A release that adds a field with a default must not look like a
 * change of every Exposure.
 */
export function userValues(values: object, defaults: object): Readonly<Record<string, unknown>> {
  const defaultOf = new Map<string, unknown>(Object.entries(defaults));
  return Object.fromEntries(
    Object.entries(values).flatMap(([field, value]: [string, unknown]) => {
      const byDefault = defaultOf.get(field);
      if (canonicalJson(value) === canonicalJson(byDefault)) return [];
      // A map without one of the default keys counts as a whole: the user removed the key.
      const isNested =
        isObject(value) &&
        isObject(byDefault) &&
        Object.keys(byDefault).every((key) => key in value);
      return [[field, isNested ? userValues(value, byDefault) : value]];
    }),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The inputs that a template can depend on, besides the mode. A change that affects only one of them is a new release
 * too.
 */
const VARIANTS: readonly (Partial<ProxyPodsInput> & { readonly spec?: object })[] = [
  {},
  { virtualAddresses: [DEFAULT_VIRTUAL_ADDRESS, 'fd00::1'] },
  { spec: { address: 'Node' }, virtualAddresses: [], listenEverywhere: true },
  // During a move from node addresses to virtual addresses, and from one virtual address to another.
  { listenEverywhere: true },
  { previousAddresses: ['100.64.64.2'] },
  { spec: { directInjection: true } },
  {
    spec: {
      imagePullSecrets: [{ name: 'registry' }],
      resources: { limits: { cpu: '1' } },
      hostAliases: [{ ip: '192.0.2.1', hostnames: ['edge.example.com'] }],
      nodeSelector: { pool: 'workers' },
    },
  },
];

function releaseOf(image: string, daemonSetOf: (input: ProxyPodsInput) => DaemonSet): string {
  const templates = WORKER_MODES.flatMap((mode) =>
    VARIANTS.map(({ spec = {}, ...variant }) => {
      const worker: WorkerSpec = workerSpec.parse(spec);
      return daemonSetOf({
        worker,
        mode,
        image,
        host: '',
        edge: '',
        virtualAddresses: worker.virtualAddresses,
        previousAddresses: [],
        listenEverywhere: false,
        ...variant,
      }).spec;
    }),
  );
  return hashOf(templates);
}

function hashOf(value: unknown): string {
  return new Bun.CryptoHasher('sha256').update(canonicalJson(value)).digest('hex').slice(0, 16);
}
