import { expect, test } from 'bun:test';
import { resolve } from 'node:path';
import { freePort } from '../../engine/conformance/free-port.ts';
import { until } from '../../engine/conformance/peer.ts';
import { HOST, Lab } from '../testing/lab.ts';
import { Pod } from '../testing/pod.ts';

const main = resolve(import.meta.dir, '../../main.ts');
const MAX_FILES = 128;

test('out of file descriptors it resets who comes, does not spin, and recovers', async () => {
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
  const where = ['--listen', `127.0.0.1:${port}`, '--http', `127.0.0.1:${httpPort}`];
  const edge = ['--edge', `127.0.0.1:${api.port}`, '--server-name', HOST];
  const words = [main, 'proxy', '--mode', 'terminate', ...where, ...edge, ...files];
  const limited = [
    'sh',
    '-c',
    `ulimit -n ${MAX_FILES}; exec "$@"`,
    'sh',
    process.execPath,
    ...words,
  ];
  const child = Bun.spawn(limited, { stdout: 'ignore', stderr: 'ignore' });
  lab.use({ [Symbol.dispose]: () => child.kill('SIGKILL') });
  const metric = async (name: string): Promise<number> => {
    const page = await fetch(`http://127.0.0.1:${httpPort}/metrics`).then(async (r) => r.text());
    const line = page.split('\n').find((text) => text.startsWith(`${name} `));
    return Number(line?.split(' ')[1] ?? 0);
  };
  await ready(httpPort);

  const options = { ca: lab.authority.cert };
  const dials = Array.from({ length: MAX_FILES }, async () => Pod.dial(port, options));
  const settled = await Promise.allSettled(dials);
  const pods = settled.flatMap((dial) => (dial.status === 'fulfilled' ? [dial.value] : []));
  const refused = await metric('snicket_proxy_failures_total{reason="descriptors_limit"}');

  expect(pods.length).toBeGreaterThan(10);
  expect(pods.length + refused).toBe(MAX_FILES);
  expect(await pods[0]!.echo('served')).toBe('served');

  const before = await metric('process_cpu_seconds_total');
  const began = performance.now();
  await until(() => performance.now() - began > 300, 'a while of nothing to do');
  const usedMs = ((await metric('process_cpu_seconds_total')) - before) * 1000;
  expect(usedMs / (performance.now() - began)).toBeLessThan(0.5);

  for (const pod of pods) pod[Symbol.dispose]();
  const end = performance.now() + 20_000;
  while ((await metric('snicket_proxy_connections_open')) > 0 && performance.now() < end);
  using pod = await Pod.dial(port, options);
  expect(await pod.echo('recovered')).toBe('recovered');
}, 60_000);

async function ready(httpPort: number): Promise<void> {
  const end = performance.now() + 30_000;
  for (;;) {
    const url = `http://127.0.0.1:${httpPort}/readyz`;
    const status = await fetch(url).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return;
    if (performance.now() > end) throw new Error('the proxy is not ready within 30 s');
    await Bun.sleep(20);
  }
}
