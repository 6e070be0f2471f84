import { describe, expect, test } from 'bun:test';
import type { Command } from 'commander';
import { addressCommand } from '../cli/address.ts';
import { proxyCommand } from '../cli/proxy.ts';
import { objectText, type KubeObject } from '../kube/object.ts';
import { LEAF, TENANT, TENANT_KEY, tenantInput } from '../plan/testing/wishes.ts';
import type { DaemonSet, PodSpec } from './pod.ts';
import { leavingObjects, tenantFindings, tenantObjects } from './tenant-objects.ts';

function daemonSetIn(objects: readonly KubeObject[]): DaemonSet {
  return objects.find(({ kind }) => kind === 'DaemonSet') as DaemonSet;
}

function podIn(objects: readonly KubeObject[]): PodSpec {
  return daemonSetIn(objects).spec.template.spec;
}

test('there are endpoints first, then the files of the proxy, then the proxy', () => {
  expect(tenantObjects(tenantInput()).map(objectText)).toEqual([
    'EndpointSlice default/kubernetes',
    'Endpoints default/kubernetes',
    'ServiceAccount kube-system/snicket-proxy',
    'ConfigMap kube-system/snicket-proxy-ca',
    'Secret kube-system/snicket-proxy',
    'DaemonSet kube-system/snicket-proxy',
  ]);
});

describe('the DaemonSet', () => {
  test('in mode terminate at a virtual address', () => {
    expect(daemonSetIn(tenantObjects(tenantInput()))).toMatchInlineSnapshot(`
      {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
          "labels": {
            "app.kubernetes.io/managed-by": "snicket",
            "app.kubernetes.io/name": "snicket-proxy",
          },
          "name": "snicket-proxy",
          "namespace": "kube-system",
        },
        "spec": {
          "selector": {
            "matchLabels": {
              "app.kubernetes.io/name": "snicket-proxy",
            },
          },
          "template": {
            "metadata": {
              "labels": {
                "app.kubernetes.io/managed-by": "snicket",
                "app.kubernetes.io/name": "snicket-proxy",
                "snicket.dev/inject": "false",
              },
            },
            "spec": {
              "automountServiceAccountToken": false,
              "containers": [
                {
                  "args": [
                    "proxy",
                    "--mode=terminate",
                    "--listen=100.64.64.1:7443",
                    "--edge=blue.k8s.example.com:443",
                    "--server-name=blue.k8s.example.com",
                    "--ca=/etc/snicket/ca.crt",
                    "--cert=/etc/snicket/tls.crt",
                    "--key=/etc/snicket/tls.key",
                    "--grace=5",
                    "--drain=15",
                    "--log-level=info",
                    "--http=127.141.177.161:7444",
                  ],
                  "image": "registry.example.com/snicket:1",
                  "livenessProbe": {
                    "failureThreshold": 6,
                    "httpGet": {
                      "host": "127.141.177.161",
                      "path": "/healthz",
                      "port": 7444,
                    },
                    "periodSeconds": 10,
                    "timeoutSeconds": 5,
                  },
                  "name": "proxy",
                  "readinessProbe": {
                    "failureThreshold": 2,
                    "httpGet": {
                      "host": "127.141.177.161",
                      "path": "/readyz",
                      "port": 7444,
                    },
                    "periodSeconds": 5,
                    "timeoutSeconds": 3,
                  },
                  "resources": {
                    "limits": {
                      "memory": "512Mi",
                    },
                    "requests": {
                      "cpu": "10m",
                      "memory": "32Mi",
                    },
                  },
                  "securityContext": {
                    "allowPrivilegeEscalation": false,
                    "capabilities": {
                      "drop": [
                        "ALL",
                      ],
                    },
                    "readOnlyRootFilesystem": true,
                  },
                  "volumeMounts": [
                    {
                      "mountPath": "/etc/snicket",
                      "name": "credentials",
                      "readOnly": true,
                    },
                  ],
                },
              ],
              "dnsPolicy": "Default",
              "enableServiceLinks": false,
              "hostAliases": [
                {
                  "hostnames": [
                    "blue.k8s.example.com",
                  ],
                  "ip": "203.0.113.10",
                },
              ],
              "hostNetwork": true,
              "initContainers": [
                {
                  "args": [
                    "address",
                    "add",
                    "100.64.64.1",
                  ],
                  "image": "registry.example.com/snicket:1",
                  "name": "address",
                  "resources": {
                    "limits": {
                      "memory": "512Mi",
                    },
                    "requests": {
                      "cpu": "10m",
                      "memory": "32Mi",
                    },
                  },
                  "securityContext": {
                    "allowPrivilegeEscalation": false,
                    "capabilities": {
                      "add": [
                        "NET_ADMIN",
                      ],
                      "drop": [
                        "ALL",
                      ],
                    },
                    "readOnlyRootFilesystem": true,
                    "runAsGroup": 0,
                    "runAsNonRoot": false,
                    "runAsUser": 0,
                  },
                },
              ],
              "nodeSelector": {
                "kubernetes.io/os": "linux",
              },
              "priorityClassName": "system-node-critical",
              "securityContext": {
                "fsGroup": 65532,
                "runAsGroup": 65532,
                "runAsNonRoot": true,
                "runAsUser": 65532,
                "seccompProfile": {
                  "type": "RuntimeDefault",
                },
              },
              "serviceAccountName": "snicket-proxy",
              "terminationGracePeriodSeconds": 30,
              "tolerations": [
                {
                  "operator": "Exists",
                },
              ],
              "volumes": [
                {
                  "name": "credentials",
                  "projected": {
                    "defaultMode": 288,
                    "sources": [
                      {
                        "secret": {
                          "name": "snicket-proxy",
                        },
                      },
                      {
                        "configMap": {
                          "name": "snicket-proxy-ca",
                        },
                      },
                    ],
                  },
                },
              ],
            },
          },
          "updateStrategy": {
            "rollingUpdate": {
              "maxSurge": "10%",
              "maxUnavailable": 0,
            },
            "type": "RollingUpdate",
          },
        },
      }
    `);
  });

  test("in mode passthrough at the nodes' addresses", () => {
    const input = tenantInput(
      { address: 'node' },
      { mode: 'passthrough', credentials: TENANT_KEY, edgeAddresses: [] },
    );

    expect(podIn(tenantObjects(input))).toMatchInlineSnapshot(`
      {
        "automountServiceAccountToken": false,
        "containers": [
          {
            "args": [
              "proxy",
              "--mode=passthrough",
              "--listen=:7443",
              "--edge=blue.k8s.example.com:443",
              "--server-name=blue.k8s.example.com",
              "--ca=/etc/snicket/ca.crt",
              "--tenant-key-file=/etc/snicket/tenant.key",
              "--grace=5",
              "--drain=15",
              "--log-level=info",
              "--http=127.162.190.83:7444",
            ],
            "image": "registry.example.com/snicket:1",
            "livenessProbe": {
              "failureThreshold": 6,
              "httpGet": {
                "host": "127.162.190.83",
                "path": "/healthz",
                "port": 7444,
              },
              "periodSeconds": 10,
              "timeoutSeconds": 5,
            },
            "name": "proxy",
            "readinessProbe": {
              "failureThreshold": 2,
              "httpGet": {
                "host": "127.162.190.83",
                "path": "/readyz",
                "port": 7444,
              },
              "periodSeconds": 5,
              "timeoutSeconds": 3,
            },
            "resources": {
              "limits": {
                "memory": "512Mi",
              },
              "requests": {
                "cpu": "10m",
                "memory": "32Mi",
              },
            },
            "securityContext": {
              "allowPrivilegeEscalation": false,
              "capabilities": {
                "drop": [
                  "ALL",
                ],
              },
              "readOnlyRootFilesystem": true,
            },
            "volumeMounts": [
              {
                "mountPath": "/etc/snicket",
                "name": "credentials",
                "readOnly": true,
              },
            ],
          },
        ],
        "dnsPolicy": "Default",
        "enableServiceLinks": false,
        "hostNetwork": true,
        "nodeSelector": {
          "kubernetes.io/os": "linux",
        },
        "priorityClassName": "system-node-critical",
        "securityContext": {
          "fsGroup": 65532,
          "runAsGroup": 65532,
          "runAsNonRoot": true,
          "runAsUser": 65532,
          "seccompProfile": {
            "type": "RuntimeDefault",
          },
        },
        "serviceAccountName": "snicket-proxy",
        "terminationGracePeriodSeconds": 30,
        "tolerations": [
          {
            "operator": "Exists",
          },
        ],
        "volumes": [
          {
            "name": "credentials",
            "projected": {
              "defaultMode": 288,
              "sources": [
                {
                  "secret": {
                    "name": "snicket-proxy",
                  },
                },
                {
                  "configMap": {
                    "name": "snicket-proxy-ca",
                  },
                },
              ],
            },
          },
        ],
      }
    `);
  });

  test('has what the Exposure says', () => {
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
    ['half a gibibyte where nothing is said', {}, { memory: '512Mi' }],
    [
      'half a gibibyte where as much is requested',
      { requests: { memory: '0.5Gi' } },
      { memory: '512Mi' },
    ],
    ['none where more is requested', { requests: { memory: '1e9' } }, undefined],
    ['none where none is wanted', { limits: {} }, undefined],
  ])('has a limit of memory: %s', (_limit, resources, limits) => {
    const [container] = podIn(tenantObjects(tenantInput({ resources }))).containers;

    expect(container?.resources?.limits).toEqual(limits as Record<string, string>);
  });

  test('listens at both families where the Service has both', () => {
    const tenant = { ...TENANT, serviceAddresses: ['10.96.0.1', 'fd96::1'] };
    const virtualAddresses = ['100.64.64.1', 'fd64::1'];

    const pod = podIn(tenantObjects(tenantInput({ virtualAddresses }, { tenant })));

    expect(pod.containers[0]?.args).toEqual(
      expect.arrayContaining(['--listen=100.64.64.1:7443', '--listen=[fd64::1]:7443']),
    );
    expect(pod.initContainers?.[0]?.args).toEqual(['address', 'add', '100.64.64.1', 'fd64::1']);
  });

  test('leaves out a virtual address of a family that the Service has not', () => {
    const input = tenantInput({ virtualAddresses: ['fd64::1', '100.64.64.1'] });

    const pod = podIn(tenantObjects(input));

    expect(pod.initContainers?.[0]?.args).toEqual(['address', 'add', '100.64.64.1']);
  });

  test('has an address for its health that is asked for and listened on, and changes with it', () => {
    const revisions = ['info', 'debug'].map((logLevel) => {
      const [container] = podIn(tenantObjects(tenantInput({ logLevel }))).containers;
      const asked = container?.readinessProbe?.httpGet;
      expect(container?.livenessProbe?.httpGet.host).toBe(asked!.host);
      expect(container?.args).toContain(`--http=${asked?.host}:${asked?.port}`);
      return asked?.host;
    });

    expect(revisions[0]).not.toBe(revisions[1]!);
  });

  test('stays as it is when the certificate is a new one', () => {
    const renewed = {
      credentials: { certificate: 'next\n', key: 'its key\n' },
      authority: 'both\n',
    };

    const before = daemonSetIn(tenantObjects(tenantInput()));

    expect(daemonSetIn(tenantObjects(tenantInput({}, renewed)))).toEqual(before);
  });

  test('asks no policy for the host of the API, since it talks to none', () => {
    const { template } = daemonSetIn(tenantObjects(tenantInput())).spec;

    expect(template.metadata.labels['snicket.dev/inject']).toBe('false');
  });
});

describe('the command lines', () => {
  /** What commander takes, without running it; a flag that is not there is an error. */
  const taken = (command: Command, args: readonly string[] | undefined) =>
    command
      .exitOverride()
      .action(() => {})
      .parse(args?.slice(1) ?? [], { from: 'user' });

  test.each([
    ['terminate', LEAF, 'virtual'],
    ['terminate', LEAF, 'node'],
    ['passthrough', TENANT_KEY, 'virtual'],
    ['passthrough', TENANT_KEY, 'node'],
  ] as const)('in mode %s are those of the program', (mode, credentials, address) => {
    const pod = podIn(tenantObjects(tenantInput({ address }, { mode, credentials })));

    const flags = taken(proxyCommand(), pod.containers[0]?.args).opts();

    expect(pod.containers[0]?.args[0]).toBe('proxy');
    expect(flags).toMatchObject({ mode, edge: { host: 'blue.k8s.example.com', port: 443 } });
    for (const { args } of pod.initContainers ?? []) {
      expect(args[0]).toBe('address');
      expect(taken(addressCommand(), args).args).toEqual(['add', '100.64.64.1']);
    }
  });

  test('of those that leave are those of the program', () => {
    const [container] = podIn(leavingObjects(tenantInput())).containers;

    const command = taken(addressCommand(), container?.args);

    expect(command.args).toEqual(['remove', '100.64.64.1']);
    expect(command.opts()).toMatchObject({ stay: true, http: [{ port: 7444 }] });
  });
});

describe('the hosts file', () => {
  const aliases = (hostAliases: readonly object[], edgeAddresses: readonly string[]) =>
    podIn(tenantObjects(tenantInput({ hostAliases }, { edgeAddresses }))).hostAliases;

  test('has the host at all addresses of the edge, and none that is a name', () => {
    expect(aliases([], ['203.0.113.10', '2001:DB8::10', 'lb.example.com'])).toEqual([
      { ip: '203.0.113.10', hostnames: ['blue.k8s.example.com'] },
      { ip: '2001:db8::10', hostnames: ['blue.k8s.example.com'] },
    ]);
  });

  test('has an address once, with the names of both', () => {
    const given = [{ ip: '203.0.113.10', hostnames: ['other.example.com'] }];

    expect(aliases(given, ['203.0.113.10'])).toEqual([
      { ip: '203.0.113.10', hostnames: ['blue.k8s.example.com', 'other.example.com'] },
    ]);
  });

  test('has the host where the user says it is, and nowhere else', () => {
    const given = [{ ip: '10.9.9.9', hostnames: ['blue.k8s.example.com'] }];

    expect(aliases(given, ['203.0.113.10'])).toEqual(given);
  });
});

describe('leaving', () => {
  test('takes the address off every node, after the proxy there has ended', () => {
    const { spec } = daemonSetIn(leavingObjects(tenantInput()));
    const [container] = spec.template.spec.containers;

    expect(spec.updateStrategy.rollingUpdate).toEqual({ maxSurge: 0, maxUnavailable: '100%' });
    expect(spec.template.spec.initContainers).toBeUndefined();
    expect(spec.template.spec.volumes).toBeUndefined();
    expect(container?.args).toEqual([
      ...['address', 'remove', '--stay', '100.64.64.1'],
      expect.stringMatching(/^--http=127\.[\d.]+:7444$/),
    ]);
    expect(container?.securityContext.capabilities).toEqual({ drop: ['ALL'], add: ['NET_ADMIN'] });
  });

  test('has the name and the selector of the proxy, which it replaces', () => {
    const proxy = daemonSetIn(tenantObjects(tenantInput()));
    const leaving = daemonSetIn(leavingObjects(tenantInput()));

    expect(leaving.metadata).toEqual(proxy.metadata);
    expect(leaving.spec.selector).toEqual(proxy.spec.selector);
  });

  test("has nothing to do where proxies are at the nodes' own addresses", () => {
    expect(leavingObjects(tenantInput({ address: 'node' }))).toEqual([]);
  });
});

describe('direct injection', () => {
  const kindsOf = (version: string) =>
    tenantObjects(tenantInput({ directInjection: true }, { tenant: { ...TENANT, version } })).map(
      ({ kind }) => kind,
    );

  test('is by a policy from 1.36 on', () => {
    expect(kindsOf('v1.36.0+k0s')).toEqual(
      expect.arrayContaining(['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding']),
    );
  });

  test('is not there before, and a finding says so', () => {
    const tenant = { ...TENANT, version: 'v1.35.6' };
    const { worker } = tenantInput({ directInjection: true });

    expect(kindsOf('v1.35.6')).not.toContain('MutatingAdmissionPolicy');
    expect(tenantFindings({ worker, tenant })).toEqual([
      expect.objectContaining({
        code: 'InjectionUnsupported',
        severity: 'warning',
        message: expect.stringContaining('v1.35.6'),
      }),
    ]);
  });
});

describe('a finding', () => {
  const codesOf = (worker: object, serviceAddresses: readonly string[]) =>
    tenantFindings({
      worker: tenantInput({ ...worker }).worker,
      tenant: { ...TENANT, serviceAddresses },
    }).map(({ code }) => code);

  test('says that no virtual address has the family of the Service', () => {
    expect(codesOf({}, ['fd96::1'])).toEqual(['VirtualAddressUnusable']);
    expect(codesOf({ virtualAddresses: ['100.64.64.1', 'fd64::1'] }, ['fd96::1'])).toEqual([]);
    expect(codesOf({ address: 'node' }, ['fd96::1'])).toEqual([]);
  });

  test('says that the virtual address is that of the Service', () => {
    expect(codesOf({ virtualAddresses: ['10.96.0.1'] }, ['10.96.0.1'])).toEqual([
      'VirtualAddressUnusable',
    ]);
  });

  test('says that the Service is not there', () => {
    expect(codesOf({}, [])).toEqual(['KubernetesServiceMissing']);
  });
});
