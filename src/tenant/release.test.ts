import { describe, expect, test } from 'bun:test';
import { workerSpec } from '../api/worker.ts';
import { proxyDaemonSet, type ProxyPodsInput } from './proxy-pods.ts';
import {
  RELEASE_ANNOTATION,
  releaseAnnotations,
  userValues,
  EXPOSURE_ANNOTATION,
  PATH_ANNOTATION,
  type ReleaseInput,
} from './release.ts';

let images = 0;

function inputOf(worker: object = {}, change: Partial<ReleaseInput> = {}): ReleaseInput {
  return {
    worker: workerSpec.parse(worker),
    host: 'a.example.test',
    edge: 'shared/snicket',
    defaultImage: 'snicket.test/snicket:1',
    exposure: { hosts: {} },
    ...change,
  };
}

function exposureHash(worker: object = {}, change: Partial<ReleaseInput> = {}): string | undefined {
  return releaseAnnotations(inputOf(worker, change), proxyDaemonSet)[EXPOSURE_ANNOTATION];
}

function pathHash(change: Partial<ReleaseInput> = {}): string | undefined {
  return releaseAnnotations(inputOf({}, change), proxyDaemonSet)[PATH_ANNOTATION];
}

/** Returns the hash of a release whose template has one more label for some inputs. */
function releaseHash(isLabeled: (input: ProxyPodsInput) => boolean): string | undefined {
  // The cache of releases uses the image as its key, and the image is part of the template.
  const defaultImage = `snicket.test/snicket:release-${images++}`;
  const annotations = releaseAnnotations(inputOf({}, { defaultImage }), (input) => {
    const set = proxyDaemonSet({ ...input, image: '' });
    const { template } = set.spec;
    const labels = { ...template.metadata.labels, ...(isLabeled(input) && { new: 'true' }) };
    const metadata = { ...template.metadata, labels };
    return { ...set, spec: { ...set.spec, template: { ...template, metadata } } };
  });
  return annotations[RELEASE_ANNOTATION];
}

describe("the hash of the user's settings", () => {
  test('does not change between releases', () => {
    // A change of this value triggers a rollout in every tenant at once.
    expect(exposureHash()).toBe('17b5a8fab766ad35');
  });

  test('changes with the value of any field', () => {
    const hashes = [
      {},
      { port: 8443 },
      { resources: { requests: { cpu: '20m' } } },
      { resources: { requests: { cpu: '10m' } } },
      { resources: { requests: { memory: '32Mi' } } },
      { resources: { limits: {} } },
      { mode: 'Terminate' },
      { address: 'Node' },
      { image: 'registry.test/snicket:2' },
      { nodeSelector: { pool: 'a' } },
      { tolerations: [] },
    ].map((worker) => exposureHash(worker));

    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test('changes with hosts and edgeRef of the Exposure, but not with a host or an Edge that follows from defaults', () => {
    const edgeRef = { name: 'other' };
    expect(exposureHash({}, { exposure: { hosts: {}, edgeRef } })).not.toBe(exposureHash());
    const hosts = { api: 'b.example.test' };
    expect(exposureHash({}, { exposure: { hosts } })).not.toBe(exposureHash());

    expect(exposureHash({}, { host: 'b.example.test', edge: 'other/snicket' })).toBe(
      exposureHash(),
    );
  });

  test('does not depend on a field that a release adds with a default', () => {
    const before = { port: 8443, resources: { requests: { cpu: '10m' } } };
    const defaults = { port: 7443, resources: { requests: { cpu: '10m' } } };
    const added = { threads: 1, resources: { requests: { cpu: '10m' }, claims: [] } };

    expect(userValues(before, defaults)).toEqual({ port: 8443 });
    expect(userValues({ ...before, ...added }, { ...defaults, ...added })).toEqual({ port: 8443 });
  });
});

test('the hash of the path changes with the host or the Edge, but not with the worker', () => {
  expect(pathHash({ host: 'b.example.test' })).not.toBe(pathHash());
  expect(pathHash({ edge: 'other/snicket' })).not.toBe(pathHash());
  expect(pathHash({ worker: workerSpec.parse({ port: 8443 }) })).toBe(pathHash());
});

describe('the hash of the release', () => {
  const unchanged = releaseHash(() => false);

  test.each<[string, (input: ProxyPodsInput) => boolean]>([
    ['mode Passthrough', ({ mode }) => mode === 'Passthrough'],
    ['mode Terminate', ({ mode }) => mode === 'Terminate'],
    ['address Node', ({ worker }) => worker.address === 'Node'],
    ['no virtual address', ({ virtualAddresses }) => virtualAddresses.length === 0],
    ['two virtual addresses', ({ virtualAddresses }) => virtualAddresses.length === 2],
    [
      'listeners at every address during a move to a virtual one',
      ({ listenEverywhere, virtualAddresses }) => listenEverywhere && virtualAddresses.length > 0,
    ],
    ['previous addresses', ({ previousAddresses }) => previousAddresses.length > 0],
    ['directInjection', ({ worker }) => worker.directInjection],
    ['host aliases', ({ worker }) => worker.hostAliases !== undefined],
    ['pull secrets', ({ worker }) => worker.imagePullSecrets !== undefined],
    ['a node selector', ({ worker }) => worker.nodeSelector !== undefined],
    ['limits', ({ worker }) => worker.resources.limits !== undefined],
  ])('changes if the template changes only with %s', (_, isLabeled) => {
    expect(releaseHash(isLabeled)).not.toBe(unchanged);
  });

  test('changes with the default image, except for an Exposure that sets an image', () => {
    const hashOf = (worker: object, defaultImage: string) =>
      releaseAnnotations(inputOf(worker, { defaultImage }), proxyDaemonSet)[RELEASE_ANNOTATION];

    expect(hashOf({}, 'image:1')).not.toBe(hashOf({}, 'image:2'));
    expect(hashOf({ image: 'own:1' }, 'image:1')).toBe(hashOf({ image: 'own:1' }, 'image:2'));
  });
});
