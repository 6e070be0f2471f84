/**
 * Why the pod template of the proxies changes: because of a new release of Snicket, or because of the Exposure.
 *
 * Both are annotations of the DaemonSet, not of its pods. A new release changes all tenants at once, so the operator paces
 * it. A change of one Exposure concerns one tenant.
 */
import { workerSpec, type WorkerSpec } from '../api/worker.ts';
import { canonicalJson } from '../kube/apply/canonical-json.ts';
import type { ProxyPodsInput } from './proxy-pods.ts';
import type { DaemonSet } from './pod.ts';

/** The hash of the template that this release of Snicket makes from defaults. */
export const RELEASE_ANNOTATION = 'snicket.dev/release';
/** The hash of what the Exposure and its Edge say about the proxies. */
export const WORKER_ANNOTATION = 'snicket.dev/worker';

/** What a template is made from, with the image of the release. */
export interface ReleaseInput extends Pick<ProxyPodsInput, 'worker' | 'mode' | 'host' | 'edge'> {
  /** The default image of the operator. */
  readonly defaultImage: string;
}

/** By default image: a template is made once. */
const releases = new Map<string, string>();

/** The annotations for a DaemonSet. */
export function releaseAnnotations(
  { worker, mode, host, edge, defaultImage }: ReleaseInput,
  daemonSetOf: (input: ProxyPodsInput) => DaemonSet,
): Readonly<Record<string, string>> {
  // An Exposure with an image of its own does not change with the default image.
  const image = worker.image === undefined ? defaultImage : '';
  const release = releases.get(image) ?? releaseOf(image, daemonSetOf);
  releases.set(image, release);
  return {
    [RELEASE_ANNOTATION]: release,
    [WORKER_ANNOTATION]: hashOf({ worker, mode, host, edge }),
  };
}

function releaseOf(image: string, daemonSetOf: (input: ProxyPodsInput) => DaemonSet): string {
  const worker: WorkerSpec = workerSpec.parse({});
  const templates = (['Passthrough', 'Terminate'] as const).map(
    (mode) =>
      daemonSetOf({
        worker,
        mode,
        image,
        host: '',
        edge: '',
        virtualAddresses: worker.virtualAddresses,
        formerAddresses: [],
        listenEverywhere: false,
      }).spec,
  );
  return hashOf(templates);
}

function hashOf(value: unknown): string {
  return new Bun.CryptoHasher('sha256').update(canonicalJson(value)).digest('hex').slice(0, 16);
}
