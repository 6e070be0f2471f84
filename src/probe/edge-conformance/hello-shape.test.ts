import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ClientHello } from '../../wire/hello/client-hello.ts';
import { exampleHello, EXAMPLE_HOST, hello } from '../../wire/hello/hello-builder.ts';
import { ProxyHeader } from '../../wire/proxy-header.ts';
import { behindProxyHeader, inSegments, inSmallRecords } from './hello-shape.ts';

const names = fc.domain().filter((name) => name.length < 200);

test('segments contain exactly the ClientHello', () => {
  fc.assert(
    fc.property(names, (serverName) => {
      const bytes = hello({ serverName });

      const pieces = inSegments(bytes);

      expect(Buffer.concat([...pieces]).equals(bytes)).toBe(true);
      expect(pieces.every(({ length }) => length > 0)).toBe(true);
    }),
  );
});

test('no segment of a split ClientHello contains the host', () => {
  const reader = new ClientHello();

  const outcomes = inSegments(exampleHello())
    .slice(0, 1)
    .map((piece) => reader.read(piece, piece.length));

  expect(outcomes).toEqual(['incomplete']);
});

test('small records are parsed as the same ClientHello', () => {
  fc.assert(
    fc.property(names, (serverName) => {
      const [bytes = Buffer.alloc(0)] = inSmallRecords(hello({ serverName }));
      const reader = new ClientHello();

      expect(reader.read(bytes, bytes.length)).toBe('hello');
      expect(reader.serverName).toBe(serverName.toLowerCase());
      expect(bytes.readUInt16BE(3)).toBe(64);
    }),
  );
});

test.each([
  ['203.0.113.10', '192.0.2.1'],
  ['2001:db8::10', '2001:db8::1'],
])('a PROXY header for edge %s has client address %s', (address, client) => {
  const [bytes = Buffer.alloc(0)] = behindProxyHeader(address, 443)(exampleHello());
  const header = new ProxyHeader();
  const reader = new ClientHello();

  expect(header.read(bytes, bytes.length)).toBe('header');
  expect(header.addresses()?.source.address).toBe(client);
  expect(reader.read(bytes, bytes.length, header.end)).toBe('hello');
  expect(reader.serverName).toBe(EXAMPLE_HOST);
});
