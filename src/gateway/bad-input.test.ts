import { describe, expect, test } from 'bun:test';
import { Backend, Peer } from '../net/testing/peer.ts';
import { readAlert, type AlertName } from '../wire/alert.ts';
import { extension, hello, inRecords, helloMessage } from '../wire/hello/hello-builder.ts';
import { balancerHeader } from './testing/headers.ts';
import { GatewayLab, until } from './testing/lab.ts';

const HOST = 'a.k8s.test';

/** Description and bytes of the client, its answer (an alert or a reset), and the counted reason. */
const CASES: readonly (readonly [string, Buffer, AlertName | 'reset', string])[] = [
  ['garbage', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'reset', 'not_tls'],
  ['zeros', Buffer.alloc(64), 'reset', 'not_tls'],
  [
    'a hello of 64 KiB',
    inRecords(helloMessage({ extensions: [extension(0x0a0a, Buffer.alloc(65_000))] }), [16_384]),
    'illegal_parameter',
    'hello_too_long',
  ],
  ['a hello without a server name', hello(), 'unrecognized_name', 'name_absent'],
  ['an unknown name', hello({ serverName: 'z.test' }), 'unrecognized_name', 'name_unknown'],
  [
    'a name with a NUL',
    hello({ serverName: `${HOST}\0.evil.test` }),
    'unrecognized_name',
    'server_name_has_nul',
  ],
  [
    'a name with a trailing dot',
    hello({ serverName: `${HOST}.` }),
    'unrecognized_name',
    'server_name_trailing_dot',
  ],
  [
    'a name with an empty label',
    hello({ serverName: 'a..k8s.test' }),
    'unrecognized_name',
    'server_name_not_dns',
  ],
  [
    'a name of 256 characters',
    hello({ serverName: `${'a.'.repeat(127)}aa` }),
    'unrecognized_name',
    'server_name_too_long',
  ],
  [
    'an IPv4 address as a name',
    hello({ serverName: '10.0.0.1' }),
    'unrecognized_name',
    'server_name_ip_literal',
  ],
  [
    'an IPv6 address as a name',
    hello({ serverName: 'fd00::1' }),
    'unrecognized_name',
    'server_name_ip_literal',
  ],
  [
    'an unsigned PROXY header',
    Buffer.concat([balancerHeader(), hello({ serverName: HOST })]),
    'reset',
    'proxy_header_not_allowed',
  ],
  [
    'a PROXY header of version 1',
    Buffer.from('PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n'),
    'reset',
    'proxy_v1_header',
  ],
];

describe.each(['bun', 'epoll'] as const)('on engine %s', (engine) => {
  test.each(CASES)('answers %s', async (_description, bytes, answer, reason) => {
    using backend = new Backend();
    const endpoints = [`127.0.0.1:${backend.port}`];
    await using lab = await GatewayLab.start({ engine, routes: [{ host: HOST, endpoints }] });

    const client = await Peer.dial(lab.port);
    await client.send(bytes);
    await until(() => client.sawFin || client.closed, 'the answer');

    expect(client.wasReset ? 'reset' : readAlert(client.bytes())?.name).toBe(answer);
    expect(lab.failures(reason)).toBe(1);
    expect(backend.peers).toHaveLength(0);
  });

  test('counts a client that sends a FIN within its hello', async () => {
    await using lab = await GatewayLab.start({ engine });

    const client = await Peer.dial(lab.port);
    await client.send(hello({ serverName: HOST }).subarray(0, 20));
    await until(() => lab.number('hellos_pending') === 1, 'the incomplete hello');
    client.fin();

    await until(() => lab.failures('hello_incomplete') === 1, 'the count');
  });

  test('limits a source to a thousand unfinished hellos, and admits other sources', async () => {
    using backend = new Backend();
    const endpoints = [`127.0.0.1:${backend.port}`];
    // No hello times out before all clients are connected.
    const limits = { helloTimeoutMs: 600_000 };
    const routes = [{ host: HOST, endpoints }];
    await using lab = await GatewayLab.start({ engine, routes, limits });

    const halfHello = hello({ serverName: HOST }).subarray(0, 20);
    for (let count = 0; count < 1200; count += 100) {
      await Promise.all(
        Array.from({ length: 100 }, async () => {
          const client = await Peer.dial(lab.port);
          await client.send(halfHello);
          return client;
        }),
      );
    }
    await until(() => lab.failures('source_limit') > 0, 'the first refusal');
    const other = await dialFrom('127.0.0.2', lab.port);
    other.write(hello({ serverName: HOST }));

    await until(() => backend.peers.length === 1, 'the client with the other address');
    expect(lab.number('hellos_pending')).toBe(1000);
    expect(lab.failures('source_limit')).toBe(200);
    other.end();
  });
});

/** Connects from another address of this machine. */
async function dialFrom(localAddress: string, port: number) {
  const { connect } = await import('node:net');
  const { once } = await import('node:events');
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  await once(socket, 'connect');
  return socket;
}
