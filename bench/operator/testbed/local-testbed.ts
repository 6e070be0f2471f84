/**
 * A testbed on loopback with the test API server as management cluster, for machines that cannot run a world. It has no
 * DNS, so the hop dns fails. The request counts include all clients, because the test server does not distinguish them.
 */
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../../src/kube/client/fetch-client.ts';
import { parseKubeconfig } from '../../../src/kube/access/kubeconfig.ts';
import { waitFor } from '../../../world/wait.ts';
import type { Requests } from '../request-counts.ts';
import type { Running, Testbed } from './testbed.ts';

const EDGE = { address: '127.0.0.1', port: 16_443 };
const END_MS = 10_000;

/** Starts the management cluster. */
export async function startLocalTestbed(folder: string): Promise<Testbed> {
  const kubeconfig = join(folder, 'kubeconfig');
  const socket = join(folder, 'management.sock');
  const program = join(import.meta.dir, 'local-management.ts');
  const management = start(folder, 'management', [process.execPath, program, kubeconfig, socket]);
  const programs = [management];
  await waitFor('the management cluster is up', () => {
    if (!management.isRunning)
      throw new Error(`the management cluster ended:\n${management.tail()}`);
    return existsSync(kubeconfig);
  });
  return {
    title: 'test API server on loopback',
    client: createClient(parseKubeconfig(readFileSync(kubeconfig, 'utf8')), {
      fieldManager: 'bench',
    }),
    tenantPrefix: '127.100',
    edge: EDGE,
    operatorHttp: { address: '127.0.0.1', port: 18_080 },
    kubeconfig: () => kubeconfig,
    pointToEdge: () => {},
    start: async (name, argv) => {
      const running = start(folder, name, argv);
      programs.push(running);
      return running;
    },
    requestsOf: async () =>
      (await (await fetch('http://management/', { unix: socket })).json()) as Requests,
    [Symbol.asyncDispose]: async () => {
      for (const program of programs.toReversed()) await program.end();
    },
  };
}

function start(folder: string, name: string, argv: readonly string[]): Running {
  const path = join(folder, `${name}.log`);
  const log = openSync(path, 'a');
  const child = Bun.spawn([...argv], { stdin: 'ignore', stdout: log, stderr: log });
  closeSync(log);
  return {
    pid: child.pid,
    get isRunning() {
      return child.exitCode === null && child.signalCode === null;
    },
    tail: (lines = 15) => readFileSync(path, 'utf8').trimEnd().split('\n').slice(-lines).join('\n'),
    end: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), END_MS);
      await child.exited;
      clearTimeout(timer);
    },
  };
}
