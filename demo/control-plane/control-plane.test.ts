import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { writeKubeconfig, type KubeconfigCredentials } from '../../src/pki/kubeconfig.ts';
import { run } from '../../world/machine/command.ts';
import { Authority, type Credential } from '../../world/cluster/pki.ts';
import { DemoFolder } from '../stage/folder.ts';
import { findKubectl } from '../testing/kubectl.ts';
import { ControlPlane } from './control-plane.ts';
import { ADMINISTRATORS } from './identity.ts';

const TOKEN = 'a-token';
const NAMESPACES = '/api/v1/namespaces';
const WHO_AM_I = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

let authority: Authority;
let admin: Credential;
let controlPlane: ControlPlane;

beforeAll(async () => {
  authority = await Authority.create('tenant-ca');
  admin = await authority.issue({ commonName: 'admin', organization: ADMINISTRATORS });
  controlPlane = await ControlPlane.start({
    authority,
    serving: await authority.issue({ commonName: 'kube-apiserver', names: ['127.0.0.1'] }),
    tokens: new Map([[TOKEN, { username: 'pod', groups: ['system:serviceaccounts'] }]]),
    objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'home' } }],
  });
});

afterAll(async () => controlPlane[Symbol.asyncDispose]());

describe('a client', () => {
  test('is authenticated by its client certificate, with the groups in it', async () => {
    const answer = await request(WHO_AM_I, { method: 'POST', certificate: admin });

    expect(answer.status).toBe(201);
    expect(await answer.json()).toMatchObject({
      status: { userInfo: { username: 'admin', groups: [ADMINISTRATORS, 'system:authenticated'] } },
    });
  });

  test('is authenticated by its token', async () => {
    const answer = await request(WHO_AM_I, { method: 'POST', token: TOKEN });

    expect(await answer.json()).toMatchObject({ status: { userInfo: { username: 'pod' } } });
  });

  test('is rejected with an unknown token', async () => {
    expect((await request(NAMESPACES, { token: 'another' })).status).toBe(401);
  });

  test('is rejected with a certificate of another CA', async () => {
    const other = await Authority.create('tenant-ca');
    const certificate = await other.issue({ commonName: 'admin', organization: ADMINISTRATORS });

    expect((await request(NAMESPACES, { certificate })).status).toBe(401);
  });

  test('is anonymous without credentials, and may read only public paths', async () => {
    const refused = await request(NAMESPACES);

    expect((await request('/version')).status).toBe(200);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      message:
        'namespaces is forbidden: User "system:anonymous" cannot list resource "namespaces" in API group ""',
    });
  });

  test('may read everything except Secrets; only administrators may write, or read Secrets', async () => {
    const secrets = '/api/v1/namespaces/home/secrets';
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one' } });
    const write = { method: 'POST', body } as const;

    expect((await request(NAMESPACES, { token: TOKEN })).status).toBe(200);
    expect((await request(secrets, { token: TOKEN })).status).toBe(403);
    expect((await request(secrets, { token: TOKEN, ...write })).status).toBe(403);
    expect((await request(secrets, { certificate: admin, ...write })).status).toBe(201);
    expect((await request(secrets, { certificate: admin })).status).toBe(200);
  });
});

test.each<[string[], string | false]>([
  [['h2', 'http/1.1'], 'http/1.1'],
  [[], false],
])('selects from the ALPN protocols %j: %j', async (ALPNProtocols, chosen) => {
  const [host, port] = controlPlane.address.split(':');
  const to = { host: String(host), port: Number(port), ca: authority.certificate };

  const socket = connect({ ...to, ALPNProtocols });
  await once(socket, 'secureConnect');

  expect(socket.alpnProtocol).toBe(chosen);
  socket.destroy();
});

test('a watch sends objects that are written after it started', async () => {
  const watch = await request(`/api/v1/configmaps?watch=1`, { token: TOKEN });
  const reader = watch.body!.getReader();

  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } });
  await request('/api/v1/namespaces/home/configmaps', { method: 'POST', body, certificate: admin });

  const { value } = await reader.read();
  await reader.cancel();
  expect(JSON.parse(new TextDecoder().decode(value))).toMatchObject({
    type: 'ADDED',
    object: { kind: 'ConfigMap', metadata: { name: 'one', namespace: 'home' } },
  });
});

describe.skipIf(findKubectl() === undefined)('kubectl', () => {
  test.each([
    [['version'], /Server Version: v1\./],
    [['get', 'namespaces'], /^NAME +STATUS +AGE\n(.+\n)*home +Active +\d+s$/m],
    [['get', 'ns', 'home', '--output=name'], /^namespace\/home$/m],
    [['get', '--raw', '/version'], /"gitVersion":"v1\./],
    [['api-resources'], /^namespaces +ns +v1 +false +Namespace$/m],
    [['get', 'endpointslices', '--all-namespaces'], /^No resources found$/m],
    [['auth', 'whoami'], /^Username +admin$/m],
  ])('%p', async (args, expected) => {
    expect(await kubectl(args, admin)).toMatch(expected);
  });

  test('is authenticated by its token too', async () => {
    expect(await kubectl(['auth', 'whoami'], { token: TOKEN })).toMatch(/^Username +pod$/m);
  });
});

interface RequestOptions {
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  readonly token?: string;
  readonly certificate?: Credential;
}

async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = 'GET', body, token, certificate } = options;
  return fetch(`https://${controlPlane.address}${path}`, {
    method,
    keepalive: false,
    ...(body === undefined ? {} : { body }),
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    tls: {
      ca: authority.certificate,
      ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
    },
  });
}

async function kubectl(
  args: readonly string[],
  credentials: KubeconfigCredentials,
): Promise<string> {
  await using folder = new DemoFolder();
  const server = `https://${controlPlane.address}`;
  const names = { cluster: 'tenant', user: 'me' };
  const content = { server, ca: authority.certificate, credentials, names };
  const kubeconfig = folder.write('kubeconfig', writeKubeconfig(content));
  const program = findKubectl() ?? 'kubectl';
  const { stdout, stderr } = await run([program, `--kubeconfig=${kubeconfig}`, ...args], {
    env: { HOME: folder.path },
  });
  return stdout + stderr;
}
