import { expect, test } from 'bun:test';
import { resolve } from 'node:path';
import { snicket } from './testing/in-process.ts';
import { inNamespace, namespaceProblem } from '../node-address/testing/namespace.ts';

async function address(...args: string[]) {
  return snicket(['address', ...args]);
}

test.each([
  ['no action', [], "missing required argument 'action'"],
  [
    'an unknown action',
    ['put', '100.64.64.1'],
    "error: invalid value 'put' for argument action: must be one of add, remove, check",
  ],
  ['no address', ['add'], "missing required argument 'ip'"],
  [
    'a prefix length',
    ['add', '100.64.64.1/32'],
    "error: invalid value '100.64.64.1/32' for argument ip: '100.64.64.1/32' is not an IP address\nhint: write one like 100.64.64.1 or fd00:64::1, without a prefix length",
  ],
  ['a loopback address', ['add', '100.64.64.1', '127.0.0.1'], "'127.0.0.1' is a loopback address"],
  ['a link-local address', ['check', 'fe80::1'], "'fe80::1' is a link-local address and cannot"],
  [
    'to stay after adding',
    ['add', '100.64.64.1', '--stay', '--http', ':1'],
    'error: --stay applies to remove, not to add\nhint: remove --stay',
  ],
  [
    'to stay without health',
    ['remove', '100.64.64.1', '--stay'],
    'error: --stay and --http require each other\nhint: pass both or neither',
  ],
  [
    'health without staying',
    ['remove', '100.64.64.1', '--http', ':1'],
    'error: --stay and --http require each other\nhint: pass both or neither',
  ],
  ['health at no address', ['remove', '100.64.64.1', '--stay', '--http', 'x'], "'x' has no port"],
])('rejects %s with exit code 2', async (_, args, message) => {
  const { exitCode, stdout, stderr } = await address(...args);

  expect(stderr).toContain(message);
  expect(stdout).toBe('');
  expect(exitCode).toBe(2);
});

test('loads neither certificates nor schemas nor YAML', async () => {
  const entry = resolve(import.meta.dir, 'address.ts');
  const { outputs } = await Bun.build({ entrypoints: [entry], target: 'bun', metafile: true }).then(
    ({ metafile }) => metafile!,
  );

  const inputs = Object.values(outputs).flatMap(({ inputs: files }) => Object.keys(files));
  const packages = inputs.map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]);
  expect(new Set(packages.filter((name) => name !== undefined))).toEqual(new Set(['commander']));
});

const why = process.platform === 'linux' ? namespaceProblem() : 'this is not Linux';
if (why !== undefined) console.warn(`snicket address is not tried on a real network: ${why}`);
const testOnNode = test.skipIf(why !== undefined);

testOnNode('adds addresses of both families to lo, as often as it is asked', async () => {
  const { lines } = await inNamespace(`
    snicket address add 100.64.64.1 FD00:64:0::1 100.64.64.1
    snicket address add 100.64.64.1 fd00:64::1; echo "code $?"
    ip -o address show dev lo | tr -s ' \\\\' ' '`);

  expect(lines.slice(0, 5)).toEqual([
    '100.64.64.1: added',
    'fd00:64::1: added',
    '100.64.64.1: present',
    'fd00:64::1: present',
    'code 0',
  ]);
  expect(lines.slice(5).filter((line) => line.includes('64.1') || line.includes(':64:'))).toEqual([
    '1: lo inet 100.64.64.1/32 scope host lo valid_lft forever preferred_lft forever',
    '1: lo inet6 fd00:64::1/128 scope global nodad deprecated noprefixroute valid_lft forever preferred_lft 0sec',
  ]);
});

testOnNode('removes them again, as often as it is asked, and check follows', async () => {
  const { lines } = await inNamespace(`
    snicket address add 100.64.64.1 fd00:64::1 >/dev/null
    snicket address check 100.64.64.1 fd00:64::1; echo "code $?"
    snicket address remove 100.64.64.1; echo "code $?"
    snicket address check 100.64.64.1 fd00:64::1; echo "code $?"
    snicket address remove fd00:64::1 100.64.64.1; echo "code $?"
    ip -o address show dev lo | grep -c 64.*1`);

  expect(lines).toEqual([
    ...['100.64.64.1 is on lo', 'fd00:64::1 is on lo', 'code 0'],
    ...['100.64.64.1: removed', 'code 0'],
    ...['100.64.64.1 is not on lo', 'fd00:64::1 is on lo', 'code 1'],
    ...['fd00:64::1: removed', '100.64.64.1: absent', 'code 0'],
    '0',
  ]);
});

testOnNode(
  'an address that could be a source is not ours to remove, but ours to mend',
  async () => {
    const { lines } = await inNamespace(`
    ip address add 100.64.64.1/32 dev lo
    ip address add fd00:64::1/128 dev lo
    snicket address check 100.64.64.1 fd00:64::1; echo "code $?"
    snicket address remove 100.64.64.1; echo "code $?"
    snicket address add 100.64.64.1 fd00:64::1; echo "code $?"
    snicket address check 100.64.64.1 fd00:64::1; echo "code $?"
    ip -o address show dev lo | grep -c '64.*1'`);

    const open =
      '100.64.64.1 is on lo, but may become the source of other traffic (its scope is not host)';
    expect(lines).toEqual([
      open,
      'fd00:64::1 is on lo, but may become the source of other traffic (it has a preferred lifetime)',
      'code 1',
      ...[`${open}: not managed by Snicket, left in place`, 'code 0'],
      ...['100.64.64.1: replaced', 'fd00:64::1: replaced', 'code 0'],
      ...['100.64.64.1 is on lo', 'fd00:64::1 is on lo', 'code 0'],
      '2',
    ]);
  },
);

testOnNode(
  'refuses an address that another interface has, by its name, and leaves it there',
  async () => {
    const { lines } = await inNamespace(`
    ip link add eth0 type veth peer name eth1
    ip address add 10.0.0.5/24 dev eth0
    ip address add fd00:5::5/64 dev eth0
    snicket address add 10.0.0.5; echo "code $?"
    snicket address add fd00:5::5; echo "code $?"
    snicket address remove 10.0.0.5; echo "code $?"
    ip -o -4 address show dev eth0 | grep -c 10.0.0.5`);

    expect(lines).toEqual([
      'error: 10.0.0.5 is an address of interface eth0',
      'hint: choose an unused address',
      'code 1',
      'error: fd00:5::5 is an address of interface eth0',
      'hint: choose an unused address',
      'code 1',
      '10.0.0.5 is an address of interface eth0: not managed by Snicket, left in place',
      'code 0',
      '1',
    ]);
  },
);

testOnNode('refuses an address that is on lo with a whole network', async () => {
  const { lines } = await inNamespace(`
    ip address add 10.0.0.5/24 dev lo
    snicket address add 10.0.0.5; echo "code $?"`);

  expect(lines).toEqual([
    'error: 10.0.0.5 is on lo as 10.0.0.5/24, which routes the whole network to this machine',
    'hint: remove that address first',
    'code 1',
  ]);
});

testOnNode('says what a container lacks, and checks without it', async () => {
  // A second user namespace has no capabilities in the network namespace of the first.
  const { lines } = await inNamespace(`
    snicket address add 100.64.64.1 >/dev/null
    unshare -r "$BUN" "$MAIN" address check 100.64.64.1
    unshare -r "$BUN" "$MAIN" address remove 100.64.64.1 2>&1; echo "code $?"
    unshare -r "$BUN" "$MAIN" address add 100.64.64.2 2>&1; echo "code $?"`);

  const lack = 'hint: this needs the capability NET_ADMIN, in a container: securityContext';
  expect(lines[0]).toBe('100.64.64.1 is on lo');
  expect(lines[1]).toStartWith('error: 100.64.64.1 cannot be changed on lo (EPERM');
  expect(lines[2]).toStartWith(lack);
  expect(lines[3]).toBe('code 1');
  expect(lines[5]).toStartWith(lack);
  expect(lines[6]).toBe('code 1');
});

testOnNode('says so when lo is down, or has no IPv6', async () => {
  const { lines } = await inNamespace(`
    sysctl -qw net.ipv6.conf.lo.disable_ipv6=1
    snicket address add fd00:64::1; echo "code $?"
    snicket address add 100.64.64.1 > /dev/null
    ip link set lo down
    snicket address add 100.64.64.1; echo "code $?"
    snicket address check 100.64.64.1; echo "code $?"`);

  expect(lines[0]).toMatch(/^error: fd00:64::1 cannot be changed on lo \(EACCES/);
  expect(lines[1]).toMatch(/^hint: does this machine have IPv6/);
  expect(lines.slice(2)).toEqual([
    'code 1',
    'error: lo is down, so no address on it would answer',
    'hint: run: ip link set lo up',
    'code 1',
    '100.64.64.1 is on lo, which is down',
    'code 1',
  ]);
});

testOnNode('ten at once are as one', async () => {
  const { lines } = await inNamespace(`
    ip address add 100.64.64.1/32 dev lo
    for n in 1 2 3 4 5 6 7 8 9 10; do
      ( snicket address add 100.64.64.1 100.64.64.2 fd00:64::1 >/dev/null || echo "failed $n" ) &
    done
    wait
    snicket address check 100.64.64.1 100.64.64.2 fd00:64::1; echo "code $?"
    for n in 1 2 3 4; do
      ( snicket address remove 100.64.64.1 100.64.64.2 fd00:64::1 >/dev/null || echo "failed $n" ) &
    done
    wait
    ip -o address show dev lo | grep -c '64.*[12]/'`);

  expect(lines).toEqual([
    ...['100.64.64.1 is on lo', '100.64.64.2 is on lo', 'fd00:64::1 is on lo', 'code 0'],
    '0',
  ]);
});

testOnNode('finds its address among hundreds', async () => {
  const { lines } = await inNamespace(`
    for n in $(seq 1 250); do for m in 1 2 3; do echo "address add 10.7.$m.$n/32 dev lo"; done; done | ip -batch -
    snicket address add 100.64.64.1
    snicket address check 10.7.3.250 100.64.64.1; echo "code $?"`);

  expect(lines[0]).toBe('100.64.64.1: added');
  expect(lines[1]).toStartWith('10.7.3.250 is on lo, but may');
  expect(lines.slice(2)).toEqual(['100.64.64.1 is on lo', 'code 1']);
});

testOnNode('what is added can be served on, and is the source of nothing else', async () => {
  const { lines } = await inNamespace(`
    ip link add eth0 type veth peer name eth1
    ip link set eth0 up
    ip link set eth1 up
    ip address add 10.0.0.5/24 dev eth0
    ip address add fd00:5::5/64 dev eth0 nodad
    ip route add 10.96.0.0/12 dev lo
    ip -6 route add fd00:96::/112 dev lo
    snicket address add 100.64.64.1 fd00:64::1 >/dev/null
    "$BUN" -e '
      for (const hostname of ["100.64.64.1", "fd00:64::1"]) {
        using server = Bun.listen({ hostname, port: 6443, socket: { open: (s) => s.end("served"), data() {} } });
        const { promise, resolve } = Promise.withResolvers();
        await Bun.connect({ hostname, port: 6443, socket: { data: (s, chunk) => resolve(chunk.toString()) } });
        console.log(hostname, await promise);
      }'
    ip route get 10.96.0.1 | grep -o 'src [^ ]*'
    ip -6 route get fd00:96::1 | grep -o 'src [^ ]*'`);

  expect(lines).toEqual([
    ...['100.64.64.1 served', 'fd00:64::1 served'],
    ...['src 10.0.0.5', 'src fd00:5::5'],
  ]);
});

testOnNode(
  'removes and stays: healthy, ready until the address is back, gone with SIGTERM',
  async () => {
    const { lines } = await inNamespace(`
    snicket address add 100.64.64.1 >/dev/null
    log=$(mktemp)
    "$BUN" "$MAIN" address remove 100.64.64.1 --stay --http 127.0.0.1:9443 > "$log" 2>&1 &
    for n in $(seq 600); do grep -q SIGTERM "$log" && break; sleep 0.1; done
    get() { "$BUN" -e 'const r = await fetch(process.argv[1]); console.log(r.status, (await r.text()).trim())' "http://127.0.0.1:9443$1"; }
    get /healthz
    get /readyz
    snicket address add 100.64.64.1
    get /readyz
    kill -TERM $!
    wait $!; echo "code $?"
    cat "$log"
    rm "$log"`);

    expect(lines).toEqual([
      ...['200 ok', '200 ready'],
      ...['100.64.64.1: added', '503 still on lo: 100.64.64.1'],
      'code 0',
      ...['100.64.64.1: removed', 'running until SIGTERM: http on port 9443'],
    ]);
  },
);

testOnNode('does not stay where it cannot be asked', async () => {
  const { lines } = await inNamespace(`
    snicket address add 100.64.64.1 >/dev/null
    snicket address remove 100.64.64.1 --stay --http 203.0.113.1:9443; echo "code $?"`);

  expect(lines[0]).toBe('100.64.64.1: removed');
  expect(lines[1]).toBe('error: cannot listen on 203.0.113.1:9443 (EADDRNOTAVAIL)');
  expect(lines[2]).toStartWith('hint: this');
  expect(lines[3]).toBe('code 1');
});
