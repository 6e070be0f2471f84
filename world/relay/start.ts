import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../machine/host.ts';
import { waitFor } from '../wait.ts';

/**
 * Opens loopback ports on the machine that relay to API servers, from the network of a host of the world.
 *
 * @param name name of the relay among the programs of the host.
 * @param targets ADDRESS:PORT by the name of a cluster.
 * @returns the URL on the machine that replaces `https://ADDRESS:PORT`, by the same names.
 */
export async function startRelay(
  host: Host,
  name: string,
  targets: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, string>> {
  const output = join(host.folder, `${name}.json`);
  const relay = await host.start(
    name,
    [
      process.execPath,
      join(import.meta.dir, 'main.ts'),
      output,
      ...Object.entries(targets).map(([cluster, target]) => `${cluster}=${target}`),
    ],
    { machineNetwork: true },
  );
  await waitFor(
    `${relay.name} listens`,
    () => {
      if (!relay.running) throw new Error(`${relay.name} ended:\n${relay.tail()}`);
      return existsSync(output);
    },
    { everyMs: 20 },
  );
  const ports = JSON.parse(readFileSync(output, 'utf8')) as Record<string, number>;
  return new Map(
    Object.entries(ports).map(([cluster, port]) => [cluster, `https://127.0.0.1:${port}`]),
  );
}
