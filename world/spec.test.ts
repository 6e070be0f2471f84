import { describe, expect, test } from 'bun:test';
import { firstAddress, planNodes, planWorld, type ClusterPlan, type WorldSpec } from './spec.ts';

function planTenant(spec: NonNullable<WorldSpec['tenants']>[string]): ClusterPlan {
  return planWorld({ tenants: { a: spec } }).tenants[0]!;
}

test('an empty spec is a management cluster with one worker', () => {
  const plan = planWorld({});

  expect(plan.tenants).toEqual([]);
  expect(plan.management).toEqual({
    name: 'management',
    workers: [{ name: 'management-1', address: '172.30.100.1', podCidr: '10.244.1.0/24' }],
    proxyMode: 'nftables',
    serviceCidr: '10.96.0.0/12',
    serviceAddress: '10.96.0.1',
    podPrefix: '10.244',
    endpointReconciler: 'lease',
    address: '172.30.1.1',
    hosts: {
      api: 'management.k8s.snicket.test',
      konnectivity: 'management.konnectivity.snicket.test',
    },
    server: 'https://management.k8s.snicket.test:6443',
    konnectivity: false,
    apiServerFlags: [],
    certificateNames: [],
    kubeletFlags: [],
  });
});

test('a tenant is set up like a hosted control plane: konnectivity, and no endpoint reconciler', () => {
  const tenant = planTenant({});

  expect(tenant).toMatchObject({ konnectivity: true, endpointReconciler: 'none' });
});

test('a spec overrides the defaults', () => {
  const tenant = planTenant({
    workers: 2,
    proxyMode: 'iptables',
    serviceCidr: '10.32.0.0/16',
    podPrefix: '10.9',
    endpointReconciler: 'lease',
    konnectivity: false,
    apiServerFlags: ['--v=4'],
    certificateNames: ['a.example.test'],
    kubeletFlags: ['--cloud-provider=external'],
  });

  expect(tenant).toMatchObject({
    workers: [{ podCidr: '10.9.1.0/24' }, { podCidr: '10.9.2.0/24' }],
    proxyMode: 'iptables',
    serviceCidr: '10.32.0.0/16',
    serviceAddress: '10.32.0.1',
    podPrefix: '10.9',
    endpointReconciler: 'lease',
    konnectivity: false,
    apiServerFlags: ['--v=4'],
    certificateNames: ['a.example.test'],
    kubeletFlags: ['--cloud-provider=external'],
  });
});

test('the management cluster has its own workers and flags', () => {
  const { management } = planWorld({
    management: { workers: 0, proxyMode: 'iptables', apiServerFlags: ['--v=4'] },
  });

  expect(management).toMatchObject({
    workers: [],
    proxyMode: 'iptables',
    apiServerFlags: ['--v=4'],
  });
});

test('hosts are below the domain of the spec', () => {
  const plan = planWorld({ domain: 'example.com', tenants: { a: {} } });

  expect(plan.tenants[0]!.hosts).toEqual({
    api: 'a.k8s.example.com',
    konnectivity: 'a.konnectivity.example.com',
  });
});

test('the largest world has unique addresses, all within its network', () => {
  const names = Array.from({ length: 100 }, (_, i) => `t${i}`);
  const plan = planWorld({
    tenants: Object.fromEntries(names.map((name) => [name, { workers: 100 }])),
    management: { workers: 100 },
  });

  const clusters = [plan.management, ...plan.tenants];
  const addresses = clusters.flatMap(({ address, workers }) => [
    address,
    ...workers.map((worker) => worker.address),
  ]);

  expect(new Set(addresses).size).toBe(101 * 101);
  expect(addresses.filter((address) => !isWithinNetwork(address))).toEqual([]);
});

function isWithinNetwork(address: string): boolean {
  const [, third, fourth] = /^172\.30\.(\d+)\.(\d+)$/.exec(address) ?? [];
  // Third byte 0 is for the resolver, and 2 is for hosts that a test adds.
  return [third, fourth].every((byte) => Number(byte) >= 1 && Number(byte) <= 254) && third !== '2';
}

describe('an invalid spec', () => {
  test.each(['', 'A', '1a', 'a-', '-a', 'a.b', 'a_b', 'abcdefghijklm'])(
    'is rejected for the tenant name %p',
    (name) => {
      expect(() => planWorld({ tenants: { [name]: {} } })).toThrow(`tenant name '${name}'`);
    },
  );

  test.each(['management', 'network', 'edge'])('is rejected for the reserved name %p', (name) => {
    expect(() => planWorld({ tenants: { [name]: {} } })).toThrow(`'${name}' is reserved`);
  });

  test.each([
    ['a-1', { a: {}, 'a-1': {} }],
    ['a-2', { 'a-2': {}, a: { workers: 2 } }],
    ['management-1', { 'management-1': {} }],
  ])('is rejected for a tenant %p that has the name of a worker', (name, tenants) => {
    expect(() => planWorld({ tenants })).toThrow(`'${name}' is already used by a worker`);
  });

  test.each([-1, 1.5, 101, NaN])('is rejected for %p workers', (workers) => {
    expect(() => planTenant({ workers })).toThrow(`a: ${workers} workers`);
  });

  test.each(['10', '10.244.0', '10.256', '1000.1', 'ten.two', ''])(
    'is rejected for the pod prefix %p',
    (podPrefix) => {
      expect(() => planTenant({ podPrefix })).toThrow(`podPrefix '${podPrefix}'`);
    },
  );

  test('is rejected for an invalid service range', () => {
    expect(() => planTenant({ serviceCidr: 'fd00::/108' })).toThrow("'fd00::/108' is not an IPv4");
  });

  test('is rejected for more tenants than there are addresses', () => {
    const tenants = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`t${i}`, {}]));

    expect(() => planWorld({ tenants })).toThrow('101 tenants');
  });
});

test('accepts names of 1 and of 12 characters, and names that only start like the name of a worker', () => {
  const plan = planWorld({ tenants: { a: {}, 'a-2': {}, 'abcdefghij-9': {} } });

  expect(plan.tenants.map(({ name }) => name)).toEqual(['a', 'a-2', 'abcdefghij-9']);
});

describe('the first address', () => {
  test.each([
    ['10.96.0.0/12', '10.96.0.1'],
    ['10.111.7.9/12', '10.96.0.1'],
    ['192.168.4.0/30', '192.168.4.1'],
    ['240.0.0.0/8', '240.0.0.1'],
    ['10.0.0.255/24', '10.0.0.1'],
  ])('of %s is %s', (cidr, address) => {
    expect(firstAddress(cidr)).toBe(address);
  });

  test.each(['10.96.0.0', '10.96.0/12', '10.96.0.256/12', '10.96.0.0/7', '10.96.0.0/31', ''])(
    'of %p is an error',
    (cidr) => {
      expect(() => firstAddress(cidr)).toThrow(`'${cidr}' is not an IPv4 range`);
    },
  );
});

test.each([
  ['10.100', '10.96.0.0/12'],
  ['172.30', '172.30.0.0/16'],
])('rejects pods at %p, which is within %p', (podPrefix, range) => {
  expect(() => planWorld({ tenants: { a: { podPrefix } } })).toThrow(
    `a: podPrefix '${podPrefix}' lies within ${range}`,
  );
});

describe('nodes of an external control plane', () => {
  const spec = {
    name: 'blue',
    hosts: { api: 'blue.k8s.snicket.test', konnectivity: 'blue.konnectivity.snicket.test' },
    server: 'https://blue.k8s.snicket.test:443',
  };

  test('have other addresses than the clusters of the world', () => {
    const { management, tenants } = planWorld({ tenants: { a: {} } });

    const plan = planNodes({ ...spec, workers: 2 }, 2);

    expect(plan.workers.map(({ name, address }) => [name, address])).toEqual([
      ['blue-1', '172.30.102.1'],
      ['blue-2', '172.30.102.2'],
    ]);
    const taken = [management, ...tenants].flatMap(({ workers }) => workers);
    expect(taken.map(({ address }) => address)).toEqual(['172.30.100.1', '172.30.101.1']);
  });

  test('connect to the given server, and reach the first address of the service range', () => {
    const plan = planNodes({ ...spec, serviceCidr: '10.64.0.0/16' }, 1);

    expect(plan).toMatchObject({ server: spec.server, serviceAddress: '10.64.0.1' });
  });

  test('are rejected when a world has no free addresses', () => {
    expect(() => planNodes(spec, 156)).toThrow('blue: at most 156 clusters');
  });
});
