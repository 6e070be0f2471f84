import { describe, expect, test } from 'bun:test';
import type { Command } from 'commander';
import { modeFlag } from '../api/mode.ts';
import { addressCommand } from '../cli/address.ts';
import { proxyCommand } from '../cli/proxy.ts';
import { LEAF, TENANT, TENANT_KEY, tenantInput } from '../plan/testing/inputs.ts';
import { cleanupObjects, tenantObjects } from './tenant-objects.ts';
import { daemonSetIn, podIn } from './testing/proxy-pod.ts';
import { TestIo } from '../cli/testing/test-io.ts';

describe('the DaemonSet', () => {
  test('has the settings of the Exposure', () => {
    const input = tenantInput({
      image: 'registry.example.com/mine:2',
      port: 8443,
      healthPort: 8444,
      logLevel: 'debug',
      resources: { requests: { cpu: 1, memory: '1024Mi' }, limits: { cpu: '0.5' } },
      tolerations: [{ key: 'mine', operator: 'Exists' }],
      nodeSelector: { pool: 'a' },
    });

    const pod = podIn(tenantObjects(input));
    const [container] = pod.containers;

    expect(pod.tolerations).toEqual([{ key: 'mine', operator: 'Exists' }]);
    expect(pod.nodeSelector).toEqual({ 'kubernetes.io/os': 'linux', pool: 'a' });
    expect(pod.initContainers?.[0]?.image).toBe('registry.example.com/mine:2');
    expect(container).toMatchObject({
      image: 'registry.example.com/mine:2',
      resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '500m' } },
      readinessProbe: { httpGet: { port: 8444 } },
    });
    expect(container?.args).toContain('--listen=100.64.64.1:8443');
    expect(container?.args).toContain('--log-level=debug');
  });

  test.each<[string, object, object | undefined]>([
    ['512Mi by default', {}, { memory: '512Mi' }],
    ['the request if that is larger', { requests: { memory: '0.5Gi' } }, { memory: '512Mi' }],
    ['no limit if more is requested', { requests: { memory: '1e9' } }, undefined],
    ['no limit with empty limits', { limits: {} }, undefined],
  ])('has as memory limit %s', (_limit, resources, limits) => {
    const [container] = podIn(tenantObjects(tenantInput({ resources }))).containers;

    expect(container?.resources?.limits).toEqual(limits as Record<string, string>);
  });

  test('listens at both address families if the Service has both', () => {
    const tenant = { ...TENANT, serviceAddresses: ['10.96.0.1', 'fd96::1'] };
    const virtualAddresses = ['100.64.64.1', 'fd64::1'];

    const pod = podIn(tenantObjects(tenantInput({ virtualAddresses }, { tenant })));

    expect(pod.containers[0]?.args).toEqual(
      expect.arrayContaining(['--listen=100.64.64.1:7443', '--listen=[fd64::1]:7443']),
    );
    expect(pod.initContainers?.[0]?.args).toEqual(['address', 'add', '100.64.64.1', 'fd64::1']);
  });

  test('skips a virtual address of a family that the Service does not have', () => {
    const input = tenantInput({ virtualAddresses: ['fd64::1', '100.64.64.1'] });

    const pod = podIn(tenantObjects(input));

    expect(pod.initContainers?.[0]?.args).toEqual(['address', 'add', '100.64.64.1']);
  });

  test('probes the health address that it listens on, which changes with the revision', () => {
    const revisions = ['info', 'debug'].map((logLevel) => {
      const [container] = podIn(tenantObjects(tenantInput({ logLevel }))).containers;
      const asked = container?.readinessProbe?.httpGet;
      expect(container?.livenessProbe?.httpGet.host).toBe(asked!.host);
      expect(container?.args).toContain(`--http=${asked?.host}:${asked?.port}`);
      return asked?.host;
    });

    expect(revisions[0]).not.toBe(revisions[1]!);
  });

  test('does not change with a new certificate', () => {
    const renewed = {
      credentials: { certificate: 'next\n', key: 'its key\n' },
      authority: 'both\n',
    };

    const before = daemonSetIn(tenantObjects(tenantInput()));

    expect(daemonSetIn(tenantObjects(tenantInput({}, renewed)))).toEqual(before);
  });

  test('opts out of the injection policy', () => {
    const { template } = daemonSetIn(tenantObjects(tenantInput())).spec;

    expect(template.metadata.labels['snicket.dev/inject']).toBe('false');
  });
});

describe('the command lines', () => {
  /** Parses a command line with commander, without running it. An unknown flag is an error. */
  const taken = (command: Command, args: readonly string[] | undefined) =>
    command
      .exitOverride()
      .action(() => {})
      .parse(args?.slice(1) ?? [], { from: 'user' });

  test.each([
    ['Terminate', LEAF, 'Virtual'],
    ['Terminate', LEAF, 'Node'],
    ['Passthrough', TENANT_KEY, 'Virtual'],
    ['Passthrough', TENANT_KEY, 'Node'],
  ] as const)('in mode %s are valid for the program', (mode, credentials, address) => {
    const pod = podIn(tenantObjects(tenantInput({ address }, { mode, credentials })));

    const flags = taken(proxyCommand(new TestIo()), pod.containers[0]?.args).opts();

    expect(pod.containers[0]?.args[0]).toBe('proxy');
    expect(flags).toMatchObject({
      mode: modeFlag(mode),
      edgeFile: '/etc/snicket/edge',
    });
    for (const { args } of pod.initContainers ?? []) {
      expect(args[0]).toBe('address');
      expect(taken(addressCommand(new TestIo()), args).args).toEqual(['add', '100.64.64.1']);
    }
  });

  test('of the cleanup are valid for the program', () => {
    const [container] = podIn(cleanupObjects(tenantInput())).containers;

    const command = taken(addressCommand(new TestIo()), container?.args);

    expect(command.args).toEqual(['remove', '100.64.64.1']);
    expect(command.opts()).toMatchObject({ stay: true, http: [{ port: 7444 }] });
  });
});

describe('the hosts file', () => {
  const aliases = (hostAliases: readonly object[], edgeAddresses: readonly string[]) =>
    podIn(tenantObjects(tenantInput({ hostAliases }, { edgeAddresses }))).hostAliases;

  test('has no entry for the edge', () => {
    expect(aliases([], ['203.0.113.10'])).toBeUndefined();
  });

  test('has the entries of the user', () => {
    const hostAliases = [{ ip: '203.0.113.10', hostnames: ['other.example.com'] }];

    expect(aliases(hostAliases, ['203.0.113.10'])).toEqual(hostAliases);
  });

  test("has only the user's address for the host", () => {
    const hostAliases = [{ ip: '10.9.9.9', hostnames: ['blue.k8s.example.com'] }];

    expect(aliases(hostAliases, ['203.0.113.10'])).toEqual(hostAliases);
  });
});

describe('the pod template', () => {
  const templateFor = (change: Parameters<typeof tenantInput>[1]) =>
    daemonSetIn(tenantObjects(tenantInput({}, change))).spec.template;

  test('does not depend on the addresses and the port of the edge', () => {
    const first = templateFor({ edgeAddresses: ['203.0.113.10'], port: 443 });
    const other = templateFor({ edgeAddresses: ['198.51.100.7', '2001:db8::7'], port: 8443 });
    const named = templateFor({ edgeAddresses: ['lb.example.com'] });

    expect(other).toEqual(first);
    expect(named).toEqual(first);
  });

  test('changes with the Edge, so that a move to another Edge triggers a rollout', () => {
    expect(templateFor({ edge: 'next haproxy' })).not.toEqual(templateFor({}));
  });
});

describe('imagePullSecrets', () => {
  test('are those of the Exposure, also during cleanup', () => {
    const imagePullSecrets = [{ name: 'registry' }, { name: 'mirror' }];
    const input = tenantInput({ imagePullSecrets });

    expect(podIn(tenantObjects(input)).imagePullSecrets).toEqual(imagePullSecrets);
    expect(podIn(cleanupObjects(input)).imagePullSecrets).toEqual(imagePullSecrets);
  });

  test('are absent by default', () => {
    expect(podIn(tenantObjects(tenantInput()))).not.toHaveProperty('imagePullSecrets');
  });
});
