import { describe, expect, test } from 'bun:test';
import { workerSpec } from '../api/worker.ts';
import { proxyDaemonSet } from './proxy-pods.ts';
import { releaseAnnotations, userValues, WORKER_ANNOTATION, type ReleaseInput } from './release.ts';

function inputOf(worker: object = {}, change: Partial<ReleaseInput> = {}): ReleaseInput {
  return {
    worker: workerSpec.parse(worker),
    host: 'a.example.test',
    edge: 'shared/snicket',
    defaultImage: 'snicket.test/snicket:1',
    ...change,
  };
}

function workerHash(worker: object = {}, change: Partial<ReleaseInput> = {}): string | undefined {
  return releaseAnnotations(inputOf(worker, change), proxyDaemonSet)[WORKER_ANNOTATION];
}

describe('the hash of what the user set', () => {
  test('does not change between releases', () => {
    // Another value here starts the rollout of every tenant at once.
    expect(workerHash()).toBe('84356b7488d0221d');
  });

  test('is another with another value of any field', () => {
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
    ].map((worker) => workerHash(worker));

    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test('is another with another host or Edge', () => {
    expect(workerHash({}, { host: 'b.example.test' })).not.toBe(workerHash());
    expect(workerHash({}, { edge: 'other/snicket' })).not.toBe(workerHash());
  });

  test('does not depend on a field that a release adds with a default', () => {
    const before = { port: 8443, resources: { requests: { cpu: '10m' } } };
    const defaults = { port: 7443, resources: { requests: { cpu: '10m' } } };
    const added = { threads: 1, resources: { requests: { cpu: '10m' }, claims: [] } };

    expect(userValues(before, defaults)).toEqual({ port: 8443 });
    expect(userValues({ ...before, ...added }, { ...defaults, ...added })).toEqual({ port: 8443 });
  });
});
