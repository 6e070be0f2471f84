/** Checks that several scenarios share. */
import { expect } from 'bun:test';
import { join } from 'node:path';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { program } from '../world/parts/parts.ts';
import { waitFor } from '../world/wait.ts';
import type { NetworkHost, World } from '../world/world.ts';
import { allObjects, type ObjectTexts } from './all-objects.ts';
import { homeNamespace, namespacesSeenBy, namespacesSeenByName } from './namespaces.ts';

/**
 * Expects that the pods of tenant `a` or `b` reach their own API server and not that of the other tenant. The first pod
 * also dials the default name of the API server.
 */
export async function expectOwnApiServer(
  world: World,
  tenant: 'a' | 'b',
  [pod, ...others]: readonly [Pod, ...Pod[]],
): Promise<void> {
  const otherTenant = tenant === 'a' ? 'b' : 'a';
  const seen = [await namespacesSeenBy(pod), await namespacesSeenByName(pod)];
  for (const other of others) seen.push(await namespacesSeenBy(other));

  for (const namespaces of seen) {
    expect(namespaces).toContain(homeNamespace(world.tenant(tenant)));
    expect(namespaces).not.toContain(homeNamespace(world.tenant(otherTenant)));
  }
}

/** Expects that kubectl on a host is authenticated by a client certificate. Returns its command line. */
export async function expectClientCertificate(
  { host }: NetworkHost,
  { name, controlPlane }: Cluster,
): Promise<readonly string[]> {
  const path = join(host.folder, 'files', `${name}.kubeconfig`);
  const subject = { commonName: `ann-of-${name}`, organization: 'host-processes' };
  await controlPlane.writeUser(path, subject, `https://${controlPlane.plan.hosts.api}`);
  const kubectl = [program('kubectl'), `--kubeconfig=${path}`];

  const whoami = await host.exec([...kubectl, 'auth', 'whoami']);

  expect(whoami.stdout).toContain(`ann-of-${name}`);
  return kubectl;
}

/** Expects that a cluster has the same objects as before, except in one namespace. */
export async function expectRestored(
  cluster: Cluster,
  expected: ObjectTexts = {},
  except?: string,
): Promise<void> {
  let current: ObjectTexts = {};
  const isRestored = async () => {
    current = await allObjects(cluster, except);
    return Bun.deepEquals(current, expected);
  };
  const options = { deadlineMs: 40_000, everyMs: 1_000 };
  // On a timeout, the comparison below shows the difference.
  await waitFor(`the objects of ${cluster.name} are restored`, isRestored, options).catch(() => {});
  expect(current).toEqual(expected);
}
