import { expect, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveHost } from './dns.ts';
import { systemLookup } from './system-lookup.ts';

const LIMITS = { timeoutMs: 30_000 };
const SCRIPT = join(import.meta.dir, 'testing/changing-servers.ts');

test('resolves localhost, and no name below .invalid', async () => {
  const known = await resolveHost('localhost', systemLookup, LIMITS);
  const unknown = await resolveHost('nobody.invalid', systemLookup, LIMITS);

  expect(known).toMatchObject({ kind: 'addresses' });
  expect(unknown.kind).not.toBe('addresses');
});

// A new network namespace with another /etc/resolv.conf.
const unshare = ['unshare', '-rmn', 'sh', '-c'];
const isPrivate = Bun.spawnSync([...unshare, 'mount --bind /dev/null /etc/resolv.conf']).success;

test.skipIf(!isPrivate)(
  'uses changed DNS servers, and silent ones do not block other work',
  async () => {
    const file = join(tmpdir(), `resolv-${crypto.randomUUID()}.conf`);
    await Bun.write(file, '');
    try {
      const inside =
        'ip link set lo up && mount --bind "$RESOLV_CONF" /etc/resolv.conf && mount --bind /dev/null /etc/hosts && exec "$@"';
      const child = Bun.spawn([...unshare, inside, '-', process.execPath, SCRIPT], {
        env: { ...process.env, RESOLV_CONF: file },
        stdout: 'pipe',
        stderr: 'inherit',
        timeout: 120_000,
      });

      expect(JSON.parse(await new Response(child.stdout).text())).toEqual({
        'no server yet': 'DNS_ECONNREFUSED',
        'a name below localhost': ['127.0.0.1'],
        'a server at last': [['192.0.2.1'], ['192.0.2.1'], ['192.0.2.1']],
        'another server': ['192.0.2.2'],
        'none again': 'DNS_ECONNREFUSED',
        'lookups that a signature waited for': 0,
      });
    } finally {
      await rm(file);
    }
  },
);
