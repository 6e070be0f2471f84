import { describe, expect, test } from 'bun:test';
import { renameSync, writeFileSync } from 'node:fs';
import { systemClock } from '../clock/clock.ts';
import { until } from '../net/testing/peer.ts';
import { tenantKey } from '../wire/tenant-key.ts';
import { TestGateway } from './testing/gateway.ts';
import { HOST, Lab, SECRET } from './testing/lab.ts';
import { Pod } from './testing/pod.ts';
import type { RunningProxy } from './proxy.ts';

const KEY = tenantKey(HOST, SECRET);

/** An edge, and the number of connections to it. */
interface TestEdge {
  readonly port: number;
  readonly connections: () => number;
}

const MODES = [
  { name: 'terminate', mode: 'terminate', engine: 'bun' },
  { name: 'passthrough, bun', mode: 'passthrough', engine: 'bun' },
  { name: 'passthrough, epoll', mode: 'passthrough', engine: 'epoll' },
] as const;

async function startEdge(lab: Lab, mode: string): Promise<TestEdge> {
  const api = await lab.apiServer();
  if (mode === 'terminate') return { port: api.port, connections: () => api.received };
  const gateway = lab.use(await TestGateway.start(api.port, [KEY]));
  return { port: gateway.port, connections: () => gateway.receivedHeaders.length };
}

/** Replaces the file by a rename, as the kubelet updates a volume. */
function writeEdge(lab: Lab, text: string): void {
  writeFileSync(lab.path('edge.next'), text);
  renameSync(lab.path('edge.next'), lab.path('edge'));
}

async function dial(lab: Lab, proxy: RunningProxy): Promise<Pod> {
  return Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert, servername: HOST });
}

describe.each(MODES)('$name: edge addresses in a file', ({ mode, engine }) => {
  const isSupported = engine !== 'epoll' || process.platform === 'linux';

  test.if(isSupported)('changes while connections stay open', async () => {
    await using lab = await Lab.create();
    lab.writeLeaf(await lab.authority.issue({ names: [HOST] }));
    const [oldEdge, newEdge] = [await startEdge(lab, mode), await startEdge(lab, mode)];
    writeEdge(lab, `127.0.0.1:${oldEdge.port}\n`);
    const proxy = await lab.proxy({
      mode: mode === 'terminate' ? lab.terminate() : lab.passthrough(),
      engine,
      edgeFile: lab.path('edge'),
    });
    using open = await dial(lab, proxy);
    expect(await open.echo('first')).toBe('first');

    writeEdge(lab, `127.0.0.1:${newEdge.port}\n`);
    const swapped = 'snicket_proxy_reloads_total{file="edge-file",result="success"} 1';
    await until(() => proxy.metrics.text().includes(swapped), 'the reload');
    await until(() => lab.lines.join('').includes(`127.0.0.1:${newEdge.port}`), 'the new address');

    const oldBefore = oldEdge.connections();
    const newBefore = newEdge.connections();
    using next = await dial(lab, proxy);
    expect(await next.echo('second')).toBe('second');
    expect(newEdge.connections()).toBeGreaterThan(newBefore);
    expect(oldEdge.connections()).toBe(oldBefore);
    expect(await open.echo('still open')).toBe('still open');
    expect(proxy.counters.failures()).toEqual({});
  });

  test.if(isSupported)(
    'keeps the last valid addresses when the file is empty or invalid',
    async () => {
      await using lab = await Lab.create();
      lab.writeLeaf(await lab.authority.issue({ names: [HOST] }));
      const edge = await startEdge(lab, mode);
      writeEdge(lab, `127.0.0.1:${edge.port}\n`);
      const proxy = await lab.proxy({
        mode: mode === 'terminate' ? lab.terminate() : lab.passthrough(),
        engine,
        edgeFile: lab.path('edge'),
        // The system clock, because a failure is reported only after a second read.
        clock: systemClock,
      });
      const failures = (count: number) =>
        `snicket_proxy_reloads_total{file="edge-file",result="failure"} ${count}`;

      writeEdge(lab, '');
      await until(() => proxy.metrics.text().includes(failures(1)), 'the empty file');
      expect(lab.lines.join('')).toContain('contains no address; write one HOST:PORT per line');
      writeEdge(lab, 'nonsense\n');
      await until(() => proxy.metrics.text().includes(failures(2)), 'the invalid file');

      expect(proxy.metrics.text()).toContain(
        'snicket_proxy_last_reload_successful{file="edge-file"} 0\n',
      );
      using pod = await dial(lab, proxy);
      expect(await pod.echo('hello')).toBe('hello');
    },
  );
});

test('fails to start if the file has no address', async () => {
  await using lab = await Lab.create();
  writeEdge(lab, '\n');

  await expect(lab.proxy({ edgeFile: lab.path('edge') })).rejects.toThrow(
    `--edge-file: ${lab.path('edge')} contains no address`,
  );
});

test('resolves a name in the file, and uses its port', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  writeEdge(lab, `edge.test:${api.port}\n`);
  const lookups: string[] = [];
  const lookup = async (host: string) => {
    lookups.push(host);
    return Promise.resolve(['127.0.0.1']);
  };

  const proxy = await lab.proxy({ edgeFile: lab.path('edge'), lookup });
  await until(() => proxy.notReady() === undefined, 'readiness');

  expect(lookups).toEqual(['edge.test']);
});
