import { expect, test } from 'bun:test';
import { freePort } from '../../net/testing/free-port.ts';
import { TestAuthority, type Pair } from '../../net/testing/certificates.ts';
import { ApiServer } from '../../proxy/testing/api-server.ts';
import { probeNode, type NodeTarget } from '../probe-node.ts';
import { neverRespond } from '../testing/responses.ts';
import { DAY_MS } from '../testing/lab.ts';
import { POD_NAME } from './node-proxy.ts';

const HEALTH_PORT = 7444;

/** A node with its proxy and its Service, both on loopback. */
class Node implements AsyncDisposable {
  readonly authority: TestAuthority;
  readonly #stack = new AsyncDisposableStack();
  #fault: string | undefined;

  private constructor(authority: TestAuthority) {
    this.authority = authority;
  }

  static async create(): Promise<Node> {
    return new Node(await TestAuthority.create('kubernetes'));
  }

  /** Starts a TLS server, by default one that pods trust. */
  async serve(serving?: Pair): Promise<number> {
    const pair = serving ?? (await this.authority.issue({ names: [POD_NAME] }));
    const server = await ApiServer.start({ serving: pair, onConnection: neverRespond });
    return this.#stack.use(server).port;
  }

  /** Starts the health endpoint of a proxy, at an address that the probe must find. */
  health(status: number, message: string): number {
    const server = Bun.serve({
      hostname: '127.9.8.7',
      port: freePort(),
      fetch: () => new Response(message, { status }),
    });
    this.#stack.defer(async () => server.stop(true));
    return server.port ?? 0;
  }

  breakAddress(fault: string): void {
    this.#fault = fault;
  }

  /** Returns the codes in the order of the path, and the message of the first failure. */
  async probe(target: Partial<NodeTarget>) {
    const hops = await probeNode(
      {
        tenantCa: this.authority.cert,
        caFile: 'ca.crt',
        virtualAddress: '127.0.0.1',
        proxyPort: 1,
        healthPort: HEALTH_PORT,
        service: { address: '127.0.0.1', port: 1 },
        ...target,
      },
      {
        signal: AbortSignal.timeout(200_000),
        timeoutMs: 30_000,
        node: { fault: () => this.#fault },
      },
    );
    const failed = hops.find(({ state }) => state === 'Fail');
    return { hops, codes: hops.map(({ code }) => code), failed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

const service = (port: number) => ({ address: '127.0.0.1', port });

test('a node whose pods reach the API passes', async () => {
  await using node = await Node.create();
  const healthPort = node.health(200, 'ok');
  const proxyPort = await node.serve();

  const { hops, codes } = await node.probe({ healthPort, proxyPort, service: service(proxyPort) });

  expect(codes).toEqual(['Passed', 'Passed', 'Passed']);
  expect(hops.map(({ name }) => name)).toEqual(['node-address', 'node-proxy', 'node-service']);
});

test('a missing virtual address is the first failure', async () => {
  await using node = await Node.create();
  node.breakAddress('100.64.64.1 is not on lo');

  const { codes, failed } = await node.probe({ virtualAddress: '100.64.64.1' });

  expect(codes).toEqual(['NodeAddressMissing', 'PrerequisiteFailed', 'PrerequisiteFailed']);
  expect(failed?.message).toBe('100.64.64.1 is not on lo.');
  expect(failed?.action).toContain('To add the address manually: snicket address add 100.64.64.1');
});

test('the hop is skipped without a virtual address', async () => {
  await using node = await Node.create();
  const healthPort = node.health(200, 'ok');
  const proxyPort = await node.serve();

  const { codes } = await node.probe({
    virtualAddress: undefined,
    healthPort,
    proxyPort,
    service: service(proxyPort),
  });

  expect(codes).toEqual(['NotApplicable', 'Passed', 'Passed']);
});

test('distinguishes a proxy that does not run from one that is not ready', async () => {
  await using node = await Node.create();
  const healthPort = node.health(503, 'the edge does not answer');

  const absent = await node.probe({ healthPort: 1 });
  const unready = await node.probe({ healthPort });

  expect(absent.failed?.code).toBe('NodeProxyAbsent');
  expect(unready.failed?.code).toBe('NodeProxyNotReady');
  expect(unready.failed?.message).toBe('The proxy is not ready: the edge does not answer.');
  expect(unready.failed?.target).toBe(`http://127.9.8.7:${healthPort}/readyz`);
  expect(unready.codes.at(-1)).toBe('PrerequisiteFailed');
});

test('a proxy that accepts no connections fails', async () => {
  await using node = await Node.create();

  const { failed } = await node.probe({ healthPort: node.health(200, 'ok') });

  expect(failed?.code).toBe('NodeProxyRefuses');
  expect(failed?.message).toContain(
    'The server at 127.0.0.1:1 closed the connection during the handshake (ECONNREFUSED) for host kubernetes.default.svc.',
  );
});

test('another server at the address of the proxy fails', async () => {
  await using node = await Node.create();
  const other = await TestAuthority.create('kubernetes');
  const proxyPort = await node.serve(await other.issue({ names: [POD_NAME] }));

  const { failed } = await node.probe({ healthPort: node.health(200, 'ok'), proxyPort });

  expect(failed?.code).toBe('NodeProxyUntrusted');
  expect(failed?.action).toStartWith('Check that ca.crt is the current CA of the tenant');
});

test.each([
  ['expired', { names: [POD_NAME], notAfter: new Date(Date.now() - DAY_MS) }, 'expired at'],
  ['without the name', { names: ['other.test'] }, 'does not include kubernetes.default.svc'],
])('a certificate that pods reject fails: %s', async (_, options, words) => {
  await using node = await Node.create();
  const proxyPort = await node.serve(await node.authority.issue(options));

  const { failed } = await node.probe({ healthPort: node.health(200, 'ok'), proxyPort });

  expect(failed?.code).toBe('NodeProxyCertificateInvalid');
  expect(failed?.message).toContain(words);
});

test('a Service without a listener fails, and so does one that points to another server', async () => {
  await using node = await Node.create();
  const healthPort = node.health(200, 'ok');
  const proxyPort = await node.serve();
  const other = await TestAuthority.create('kubernetes');
  const otherServer = await node.serve(await other.issue({ names: [POD_NAME] }));

  const unreachable = await node.probe({ healthPort, proxyPort });
  const wrongServer = await node.probe({ healthPort, proxyPort, service: service(otherServer) });

  expect(unreachable.failed).toMatchObject({
    code: 'NodeServiceUnreachable',
    target: '127.0.0.1:1',
  });
  expect(wrongServer.failed?.code).toBe('NodeServiceUnreachable');
});
