import { describe, expect, test } from 'bun:test';
import type { Exposure } from '../api/exposure.ts';
import { parseExposure } from '../api/objects.ts';
import { keyText } from '../kube/object.ts';
import { makeCa } from '../pki/testing/test-ca.ts';
import type { Secret, Service } from './plain.ts';
import { readControlPlane, type ControlPlaneReading } from './reading/read-control-plane.ts';

const CA = await makeCa();
const CERTIFICATE = CA.certificate.trim();
const SECRETS = { caSecretRef: { name: 'ca' }, kubeconfigSecretRef: { name: 'kubeconfig' } };

function exposureOf(controlPlane: object): Exposure {
  return parseExposure({
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Exposure',
    metadata: { name: 'blue', namespace: 'tenants' },
    spec: { controlPlane },
  });
}

function serviceOf(spec: Service['spec']): Service {
  const metadata = { name: 'api', namespace: 'tenants' };
  return { apiVersion: 'v1', kind: 'Service', metadata, ...(spec && { spec }) };
}

function secretOf(files: Readonly<Record<string, string>>): Secret {
  const data = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
  );
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'any' }, data };
}

const PORTS = [
  { name: 'api', port: 6443 },
  { name: 'agents', port: 8132 },
];
const SERVICE = serviceOf({
  clusterIP: '10.0.0.9',
  clusterIPs: ['10.0.0.9', 'fd00::9'],
  ports: PORTS,
});
const OBJECTS: Readonly<Record<string, Secret>> = {
  'tenants/ca': secretOf({ 'tls.crt': CERTIFICATE, 'tls.key': 'key' }),
  'tenants/kubeconfig': secretOf({ 'admin.conf': 'kubeconfig' }),
};

async function read(
  controlPlane: object,
  secrets: Readonly<Record<string, Secret>> = OBJECTS,
  service: Service | undefined = SERVICE,
): Promise<ControlPlaneReading> {
  return readControlPlane(exposureOf(controlPlane), {
    service: (key) => (keyText(key) === 'tenants/api' ? service : undefined),
    secret: async (key) => secrets[keyText(key)],
  });
}

const BOTH = {
  type: 'Service',
  ...SECRETS,
  service: { name: 'api', apiPort: 6443, konnectivityPort: 8132 },
};

describe('a control plane behind a Service', () => {
  test('is found with its ports, its CA, its kubeconfig and its address', async () => {
    expect(await read(BOTH)).toEqual({
      controlPlane: {
        service: {
          name: 'api',
          api: { port: 6443, portName: 'api' },
          konnectivity: { port: 8132, portName: 'agents' },
        },
        ca: { certificate: `${CERTIFICATE}\n`, key: 'key' },
      },
      kubeconfig: 'kubeconfig',
      addresses: ['10.0.0.9:6443', '[fd00::9]:6443'],
      findings: [],
    });
  });

  test('may have one port without a name', async () => {
    const service = serviceOf({ clusterIP: '10.0.0.9', ports: [{ port: 6443 }] });

    const { controlPlane, addresses } = await read(
      ...([
        { type: 'Service', ...SECRETS, service: { name: 'api', apiPort: 6443 } },
        OBJECTS,
        service,
      ] as const),
    );

    expect(controlPlane?.service.api).toEqual({ port: 6443, portName: '' });
    expect(addresses).toEqual(['10.0.0.9:6443']);
  });

  test('ignores a UDP port of the same number', async () => {
    const ports = [
      { name: 'quic', port: 6443, protocol: 'UDP' },
      { name: 'api', port: 6443, protocol: 'TCP' },
    ];

    const { controlPlane } = await read(
      ...([
        { type: 'Service', ...SECRETS, service: { name: 'api', apiPort: 6443 } },
        OBJECTS,
        serviceOf({ ports }),
      ] as const),
    );

    expect(controlPlane?.service.api.portName).toBe('api');
  });

  test('that is missing is reported, and nothing is routed', async () => {
    const { controlPlane, findings } = await read({
      type: 'Service',
      ...SECRETS,
      service: { name: 'other', apiPort: 6443 },
    });

    expect(controlPlane).toBeUndefined();
    expect(findings).toMatchObject([
      { code: 'ServiceMissing', message: 'Service tenants/other does not exist.' },
    ]);
  });

  test('without the API port is not routed, but without the konnectivity port it is', async () => {
    const noApi = await read({ type: 'Service', ...SECRETS, service: { name: 'api', apiPort: 1 } });
    const service = { name: 'api', apiPort: 6443, konnectivityPort: 1 };
    const noKonnectivity = await read({ type: 'Service', ...SECRETS, service });

    expect(noApi.controlPlane).toBeUndefined();
    expect(noApi.findings[0]?.message).toContain('no port 1 (it has 6443, 8132)');
    expect(noKonnectivity.controlPlane?.service.api.port).toBe(6443);
    expect(noKonnectivity.findings).toMatchObject([{ code: 'ServiceInvalid' }]);
  });

  test('that is headless is routed, without an address', async () => {
    const service = serviceOf({ clusterIP: 'None', clusterIPs: ['None'], ports: PORTS });

    const { controlPlane, addresses } = await read(BOTH, OBJECTS, service);

    expect(controlPlane).toBeDefined();
    expect(addresses).toEqual([]);
  });
});

describe('Secrets', () => {
  test('that are missing or lack an entry are reported, and the route is known nevertheless', async () => {
    const none = await read(BOTH, {});
    const others = await read(BOTH, {
      'tenants/ca': secretOf({ 'ca.crt': 'x' }),
      'tenants/kubeconfig': secretOf({ 'admin.conf': '' }),
    });

    expect(none.controlPlane?.service.name).toBe('api');
    expect(none.findings.map(({ code }) => code)).toEqual(['SecretMissing', 'SecretMissing']);
    expect(others.findings.map(({ message }) => message)).toEqual([
      "Secret tenants/ca has no entry 'tls.crt' (it has ca.crt).",
      "Entry 'admin.conf' of Secret tenants/kubeconfig is empty.",
    ]);
  });

  test('may contain a CA without its key', async () => {
    const secrets = { ...OBJECTS, 'tenants/ca': secretOf({ 'tls.crt': CERTIFICATE }) };

    const { controlPlane, findings } = await read(BOTH, secrets);

    expect(controlPlane?.ca).toEqual({ certificate: `${CERTIFICATE}\n`, key: undefined });
    expect(findings).toEqual([]);
  });
});

describe('the certificate of the CA', () => {
  const broken = CERTIFICATE.replace(/[A-Za-z0-9+/]{40}/, 'A'.repeat(40));
  const readCa = async (text: string) =>
    read(BOTH, { ...OBJECTS, 'tenants/ca': secretOf({ 'tls.crt': text }) });

  test.each([
    ['with its key in the same text', `${CA.key}${CERTIFICATE}`],
    ['with comments and a malformed block', `# CA\n${broken}\r\n${CERTIFICATE}\nbye`],
    ['with CRLF line endings', CERTIFICATE.replaceAll('\n', '\r\n')],
  ])('is the only part that is used: %s', async (_, text) => {
    const { controlPlane, findings } = await readCa(text);

    expect(controlPlane?.ca?.certificate).toBe(`${CERTIFICATE}\n`);
    expect(findings).toEqual([]);
  });

  test('may be several, as during a rotation', async () => {
    const other = await makeCa({ name: 'CN=next' });

    const { controlPlane } = await readCa(`${CERTIFICATE}\n${other.certificate}`);

    expect(controlPlane?.ca?.certificate).toBe(`${CERTIFICATE}\n${other.certificate.trim()}\n`);
  });

  test.each([
    ['a key', CA.key],
    ['nothing', ''],
    ['something else', 'hunter2'],
    ['a malformed block', broken],
    ['too many certificates', `${CERTIFICATE}\n`.repeat(17)],
    ['a long text', `${CERTIFICATE}\n${'hunter2 '.repeat(8192)}`],
  ])('is rejected in %s, without quoting it', async (_, text) => {
    const { controlPlane, findings } = await readCa(text);

    expect(controlPlane?.ca).toBeUndefined();
    expect(controlPlane?.service.name).toBe('api');
    expect(findings).toEqual([
      {
        code: 'CaInvalid',
        severity: 'error',
        message:
          "Entry 'tls.crt' of Secret tenants/ca has no readable certificate, or too many certificates.",
        action:
          'Store the certificate of the CA there as PEM (at most 16 certificates and 64 KB of text).',
      },
    ]);
  });
});

test('a control plane at fixed addresses has the Service that Snicket creates', async () => {
  const api = ['192.0.2.1:6443', '[fd00::1]:6443'];

  const { controlPlane, addresses } = await read({
    type: 'Endpoints',
    endpoints: { api },
    ...SECRETS,
  });

  expect(controlPlane?.service).toEqual({
    name: 'snicket-blue',
    api: { port: 6443, portName: 'api' },
  });
  expect(addresses).toEqual(api);
});

test('an object of an unknown provider is reported', async () => {
  const objectRef = { group: 'example.test', kind: 'ControlPlane', name: 'a' };

  const { controlPlane, findings } = await read({ type: 'Object', objectRef });

  expect(controlPlane).toBeUndefined();
  expect(findings[0]?.message).toContain('ControlPlane of group example.test');
});
