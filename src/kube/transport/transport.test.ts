import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { TestAuthority } from '../../net/testing/certificates.ts';
import { errorOf, tokenOf, TransportLab, VERSION } from './testing/lab.ts';
import { startServer } from './testing/server.ts';
import type { Call, Transport } from './transport.ts';

let lab: TransportLab;

beforeEach(async () => {
  lab = await TransportLab.open();
});

afterEach(async () => lab[Symbol.asyncDispose]());

/** Both kinds of requests, with their response or error. */
const WAYS: readonly [string, (transport: Transport, call?: Call) => Promise<unknown>][] = [
  ['a request', async (transport, call = VERSION) => transport.json(call)],
  [
    'a stream',
    async (transport, call = VERSION) => {
      const stream = await transport.stream(call);
      const bytes = await stream.read();
      stream.close();
      return JSON.parse(Buffer.from(bytes ?? []).toString());
    },
  ],
];

test.each(WAYS)(
  '%s that may not be sent fails with the reason, and is not sent',
  async (_, ask) => {
    const fault = new Error('may not send');
    const assertMaySend = () => {
      throw fault;
    };

    const asked = ask(lab.transport(), { ...VERSION, assertMaySend });

    expect(await asked.catch((error: unknown) => error)).toBe(fault);
    expect(lab.server.exchanges).toHaveLength(0);
  },
);

describe.each(WAYS)('a server is trusted by %s', (_, ask) => {
  test('with a certificate of the CA for the host of its address', async () => {
    expect(await ask(lab.transport())).toEqual({ ok: true });
  });

  test('with a certificate for another name, if that name is configured', async () => {
    const named = await lab.authority.issue({ names: ['blue.k8s.example.com'] });
    await using other = await startServer((exchange) => exchange.respond(200, {}), { tls: named });
    const access = { server: other.url, serverName: 'blue.k8s.example.com' };

    expect(await ask(lab.transport(access))).toEqual({});
    expect(await errorOf(ask(lab.transport({ server: other.url })))).toMatchObject({
      reason: 'Untrusted',
    });
  });

  test('but not with a certificate of another CA', async () => {
    const { cert: ca } = await TestAuthority.create('another');

    const error = await errorOf(ask(lab.transport({ ca })));

    expect(error.reason).toBe('Untrusted');
    expect(error.message).toContain('not signed by the trusted CA');
    expect(lab.server.exchanges).toHaveLength(0);
  });

  test('but without a configured CA only if the system trusts it', async () => {
    const error = await errorOf(ask(lab.transport({ ca: undefined })));

    expect(error.reason).toBe('Untrusted');
  });

  test('but not with a certificate for another name', async () => {
    const error = await errorOf(ask(lab.transport({ serverName: 'green' })));

    expect(error.reason).toBe('Untrusted');
    expect(error.message).toContain('not have the requested name');
    expect(lab.server.exchanges).toHaveLength(0);
  });

  test('but not with the name as subject only, which any user of a cluster may choose', async () => {
    const user = await lab.authority.issue({ commonName: 'kubernetes' });
    await using other = await startServer((exchange) => exchange.respond(200, {}), { tls: user });
    const impostor = lab.transport({ server: other.url, serverName: 'kubernetes' });

    const error = await errorOf(ask(impostor));

    expect(error.reason).toBe('Untrusted');
    expect(other.exchanges).toHaveLength(0);
  });

  test('but not with an expired certificate', async () => {
    const notAfter = new Date(Date.now() - 1000);
    const old = await lab.authority.issue({ names: ['127.0.0.1'], notAfter });
    await using other = await startServer((exchange) => exchange.respond(200, {}), { tls: old });

    const error = await errorOf(ask(lab.transport({ server: other.url })));

    expect(error.message).toContain('it has expired');
  });

  test('but not because the environment disables verification', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      const error = await errorOf(ask(lab.transport({ serverName: 'green' })));

      expect(error.reason).toBe('Untrusted');
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });

  test('but not because a response redirects to it', async () => {
    await using target = await startServer((exchange) => exchange.respond(200, {}));
    lab.server.script = (exchange) => exchange.respond(302, '', { location: target.url });

    const error = await errorOf(ask(lab.transport()));

    expect(error).toMatchObject({ reason: 'ServerError', status: 302 });
    expect(target.exchanges).toHaveLength(0);
  });
});

describe('the identity of requests', () => {
  test('is never mixed up among a thousand concurrent requests with two certificates', async () => {
    await using mutual = await lab.mutualServer();
    const open = async (commonName: string) => {
      const { cert, key } = await lab.authority.issue({ commonName });
      const credentials = { kind: 'certificate', cert, key } as const;
      return lab.transport({ server: mutual.url, credentials });
    };
    const blue = await open('blue');
    const green = await open('green');

    await Promise.all(
      Array.from({ length: 500 }, async () =>
        Promise.all([
          blue.json({ verb: 'GET', path: '/blue' }),
          green.json({ verb: 'GET', path: '/green' }),
        ]),
      ),
    );

    const seen = mutual.exchanges.map(({ path, peer }) => `${path} ${peer}`);
    expect(seen).toHaveLength(1000);
    expect(new Set(seen)).toEqual(new Set(['/blue blue', '/green green']));
  });

  test('is that of the token', async () => {
    await lab.transport({ credentials: { kind: 'token', token: 'abc' } }).json(VERSION);

    expect(tokenOf(lab.server.exchanges[0]!)).toBe('abc');
  });

  test('is anonymous without credentials', async () => {
    await lab.transport().json(VERSION);

    expect(lab.server.exchanges[0]?.headers.get('authorization')).toBeNull();
    expect(lab.server.exchanges[0]?.headers.get('user-agent')).toBe('snicket/test');
  });

  test('consecutive requests share a connection', async () => {
    const transport = lab.transport();

    for (let count = 0; count < 5; count++) await transport.json(VERSION);

    expect(lab.server.connections).toBe(1);
  });
});
