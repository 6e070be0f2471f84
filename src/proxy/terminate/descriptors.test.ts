import { expect, test } from 'bun:test';
import { resolve } from 'node:path';
import { freePort } from '../../net/testing/free-port.ts';
import { HOST, Lab } from '../testing/lab.ts';
import { Pod } from '../testing/pod.ts';

const main = resolve(import.meta.dir, '../../main.ts');
const MAX_FILES = 128;

test('resets new connections when file descriptors run out, idles, and recovers', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const port = freePort();
  const httpPort = freePort();
  const files = [
    '--ca',
    lab.path('ca.crt'),
    '--cert',
    lab.path('tls.crt'),
    '--key',
    lab.path('tls.key'),
  ];
  const addresses = ['--listen', `127.0.0.1:${port}`, '--http', `127.0.0.1:${httpPort}`];
  const edge = ['--edge', `127.0.0.1:${api.port}`, '--server-name', HOST];
  const args = [main, 'proxy', '--mode', 'terminate', ...addresses, ...edge, ...files];
  const limited = [
    'sh',
    '-c',
    `ulimit -n ${MAX_FILES}; exec "$@"`,
    'sh',
    process.execPath,
    ...args,
  ];
  const child = Bun.spawn(limited, { stdout: 'ignore', stderr: 'ignore' });
  lab.use({ [Symbol.dispose]: () => child.kill('SIGKILL') });
  /** Returns the value of a metric, summed over its labels. */
  const metric = async (name: string): Promise<number> => {
    const page = await fetch(`http://127.0.0.1:${httpPort}/metrics`).then(async (r) => r.text());
    const lines = page
      .split('\n')
      .filter((text) => [' ', '{'].some((next) => text.startsWith(name + next)));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  await untilProxyIs('ready', async () =>
    fetch(`http://127.0.0.1:${httpPort}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    ),
  );

  const options = { ca: lab.authority.cert };
  const dials = Array.from({ length: MAX_FILES }, async () => Pod.dial(port, options));
  const settled = await Promise.allSettled(dials);
  const pods = settled.flatMap((dial) => (dial.status === 'fulfilled' ? [dial.value] : []));
  const refused = await metric('snicket_proxy_failures_total{reason="descriptors_limit"}');
  const failed = await metric('snicket_proxy_failures_total');

  expect(pods.length).toBeGreaterThan(10);
  expect(refused).toBeGreaterThan(0);
  // Some pods may have timed out while they waited for the edge.
  expect(failed).toBeGreaterThanOrEqual(MAX_FILES - pods.length);
  expect(await pods[0]!.echo('served')).toBe('served');

  // A busy loop never idles. A healthy process may have to compile or collect garbage first.
  await untilProxyIs('idle', async () => {
    const before = await metric('process_cpu_seconds_total');
    const beganMs = performance.now();
    await Bun.sleep(300);
    const usedMs = ((await metric('process_cpu_seconds_total')) - before) * 1000;
    return usedMs / (performance.now() - beganMs) < 0.5;
  });

  for (const pod of pods) pod[Symbol.dispose]();
  await untilProxyIs('empty', async () => (await metric('snicket_proxy_connections_open')) === 0);
  using pod = await Pod.dial(port, options);
  expect(await pod.echo('recovered')).toBe('recovered');
});

/** Waits for a state of the proxy. */
async function untilProxyIs(state: string, condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`the proxy is not ${state} within 30 s`);
    await Bun.sleep(20);
  }
}
