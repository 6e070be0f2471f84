/**
 * A real kube-apiserver fulfills the same contract as the in-memory API server of the tests, and Snicket's Kubernetes
 * client works with it.
 */
import { afterAll, beforeAll, describe } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { KubeClient } from '../src/kube/client/client.ts';
import { createClient } from '../src/kube/client/fetch-client.ts';
import { parseKubeconfig } from '../src/kube/access/kubeconfig.ts';
import { kubeContract } from '../src/kube/testing/contract.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { waitFor } from '../world/wait.ts';
import { World } from '../world/world.ts';

describe('a real API server', () => {
  let world: World;
  let client: KubeClient;
  let otherClient: KubeClient;

  beforeAll(async () => {
    world = await World.start({ management: { workers: 0 } }, { progress: terminalProgress() });
    const access = parseKubeconfig(
      readFileSync(world.management.controlPlane.machineKubeconfig, 'utf8'),
    );
    // After a restart, the API server's watch cache has no earlier events.
    await world.management.controlPlane.host.daemon('kube-apiserver').restart();
    const isBack = async () => world.management.controlPlane.answers('/readyz');
    await waitFor('the API server is back', isBack, { deadlineMs: 90_000 });
    client = createClient(access);
    otherClient = createClient(access, { fieldManager: 'other' });
  });

  afterAll(async () => world?.stop());

  kubeContract(() => ({ client, other: otherClient }));
});
