import { expect, test } from 'bun:test';
import { renameSync, writeFileSync } from 'node:fs';
import { systemClock } from '../../clock/clock.ts';
import { until } from '../../net/testing/peer.ts';
import { Lab, POD_NAMES } from '../testing/lab.ts';
import { Pod } from '../testing/pod.ts';

const SWAPS = 30;

test('reloads certificates under load without failed requests or closed connections', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });
  const port = proxy.ports[0]!;
  const options = { ca: lab.authority.cert };
  const leaves = await Promise.all(
    Array.from({ length: SWAPS }, async (_, index) =>
      lab.authority.issue({ commonName: `leaf-${index}`, names: POD_NAMES }),
    ),
  );
  using openPod = await Pod.dial(port, options);
  await openPod.echo('watch');

  let isOver = false;
  const subjects = new Set<string>();
  const load = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      using pod = await Pod.dial(port, options);
      expect(await pod.echo('request')).toBe('request');
      subjects.add(String(pod.tls.getPeerCertificate().subject.CN));
    }
  });
  for (const [index, leaf] of leaves.entries()) {
    // Alternates between writing in place and replacing by a rename, and in the order of the two files.
    if (index % 2 === 0) lab.writeLeaf(leaf);
    else {
      writeFileSync(lab.path('next.key'), leaf.key);
      renameSync(lab.path('next.key'), lab.path('tls.key'));
      writeFileSync(lab.path('next.crt'), leaf.cert);
      renameSync(lab.path('next.crt'), lab.path('tls.crt'));
    }
    const swaps = `snicket_proxy_reloads_total{file="cert",result="success"} ${index + 1}`;
    await until(() => proxy.metrics.text().includes(swaps), `swap ${index + 1}`);
    await until(() => subjects.has(`leaf-${index}`), `a request after swap ${index + 1}`);
  }
  isOver = true;
  await Promise.all(load);

  expect(await openPod.echo('still the first connection')).toBe('still the first connection');
  expect(proxy.counters.failures()).toEqual({});
  expect(proxy.metrics.text()).toContain('{file="cert",result="failure"} 0\n');
  using last = await Pod.dial(port, options);
  expect(last.tls.getPeerCertificate().subject.CN).toBe(`leaf-${SWAPS - 1}`);
});

test('keeps the previous certificate if its key is missing, and logs it', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  // The system clock, because a failure is reported only after a second read.
  const proxy = await lab.proxy({ edgePort: api.port, clock: systemClock });
  const other = await lab.authority.issue({ commonName: 'other', names: POD_NAMES });

  lab.write('tls.crt', other.cert);
  const failed = 'snicket_proxy_reloads_total{file="cert",result="failure"} 1';
  await until(() => proxy.metrics.text().includes(failed), 'the failure');

  using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert });
  expect(pod.tls.getPeerCertificate().subject.CN).toBe('leaf');
  expect(lab.lines.at(-1)).toContain(`does not match the certificate in ${lab.path('tls.crt')}`);

  lab.write('tls.key', other.key);
  const reloaded = 'snicket_proxy_reloads_total{file="cert",result="success"} 1';
  await until(() => proxy.metrics.text().includes(reloaded), 'the pair');
  using next = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert });
  expect(next.tls.getPeerCertificate().subject.CN).toBe('other');
});

test('logs no part of a key', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  // The system clock, because a failure is reported only after a second read.
  const proxy = await lab.proxy({ edgePort: api.port, clock: systemClock });
  const secret = lab.leaf.key.split('\n')[1]!.slice(20, 60);

  lab.write('tls.key', `${lab.leaf.key.slice(0, 90)}\n-----END PRIVATE KEY-----\n`);
  const failed = 'snicket_proxy_reloads_total{file="cert",result="failure"} 1';
  await until(() => proxy.metrics.text().includes(failed), 'the failure');

  expect(lab.lines.join('')).not.toContain(secret);
  expect(lab.lines.join('')).toContain('contains no valid private key');
});

test('uses an expired certificate, and logs a warning with its dates', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const expired = (day: string) =>
    lab.authority.issue({ names: POD_NAMES, notAfter: new Date(`${day}T00:00:00Z`) });
  const isWarned = (day: string) =>
    lab.lines.some(
      (line) => line.includes('has expired (valid from') && line.includes(`to ${day}`),
    );
  lab.writeLeaf(await expired('2026-01-01'));

  const proxy = await lab.proxy({ edgePort: api.port });
  expect(isWarned('2026-01-01')).toBe(true);
  lab.writeLeaf(await expired('2026-01-02'));
  await until(() => isWarned('2026-01-02'), 'the second warning');

  using pod = await Pod.dial(proxy.ports[0]!, { rejectUnauthorized: false });
  expect(await pod.echo('hello')).toBe('hello');
});
