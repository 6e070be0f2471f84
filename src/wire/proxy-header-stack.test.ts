import { expect, test } from 'bun:test';
import { addressPair } from './address-pair.ts';
import { ClientHello } from './hello/client-hello.ts';
import { EXAMPLE_HOST, exampleHello } from './hello/hello-builder.ts';
import { ProxyHeaderStack } from './proxy-header-stack.ts';
import { proxyHeaderBytes, writeProxyHeader } from './proxy-header.ts';

function headerFrom(source: string) {
  const bytes = Buffer.alloc(proxyHeaderBytes('ipv4', 0));
  writeProxyHeader(bytes, 0, addressPair(source, 1, '10.0.0.9', 443));
  return bytes;
}

const balancer = headerFrom('192.0.2.1');
const worker = headerFrom('10.1.2.3');

function read(stack: ProxyHeaderStack, ...parts: Buffer[]) {
  const bytes = Buffer.concat(parts);
  return stack.read(bytes, bytes.length);
}

test('reads consecutive headers up to the hello, the outermost first', () => {
  const stack = new ProxyHeaderStack({ depth: 2 });
  const bytes = Buffer.concat([balancer, worker, exampleHello()]);

  expect(stack.read(bytes, bytes.length)).toBe('headers');
  expect(stack.count).toBe(2);
  expect(stack.at(0)?.addresses()?.source.address).toBe('192.0.2.1');
  expect(stack.at(1)?.addresses()?.source.address).toBe('10.1.2.3');
  expect(stack.at(2)).toBeUndefined();
  const hello = new ClientHello();
  expect(hello.read(bytes, bytes.length, stack.end)).toBe('hello');
  expect(hello.serverName).toBe(EXAMPLE_HOST);
});

test('returns no headers for a plain hello', () => {
  const stack = new ProxyHeaderStack({ depth: 2 });
  read(stack, balancer, exampleHello());

  expect(read(stack, exampleHello())).toBe('headers');
  expect(stack.count).toBe(0);
  expect(stack.at(0)).toBeUndefined();
  expect(stack.end).toBe(0);
});

test('is incomplete until the byte that shows whether another header follows', () => {
  const stack = new ProxyHeaderStack({ depth: 2 });
  const bytes = Buffer.concat([balancer, worker, exampleHello()]);

  for (let end = 0; end <= balancer.length + worker.length; end++) {
    expect(stack.read(bytes, end)).toBe('incomplete');
  }
});

test('refuses too many headers at the first byte of the surplus header', () => {
  expect(read(new ProxyHeaderStack({ depth: 1 }), balancer, Buffer.from('\r'))).toBe(
    'proxy_headers_too_many',
  );
  expect(read(new ProxyHeaderStack({ depth: 0 }), balancer)).toBe('proxy_headers_too_many');
});

test('returns the refusal of an invalid header', () => {
  const broken = Buffer.from(worker);
  broken[13] = 0x31;

  expect(read(new ProxyHeaderStack({ depth: 2 }), balancer, broken)).toBe('proxy_unix_address');
  expect(read(new ProxyHeaderStack({ depth: 2, limitBytes: 20 }), balancer)).toBe(
    'proxy_header_too_long',
  );
});

test('recognizes a version 1 header', () => {
  const bytes = Buffer.from('PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n', 'latin1');

  const outcome = new ProxyHeaderStack({ depth: 1 }).read(bytes, bytes.length);

  expect(outcome).toBe('proxy_v1_header');
});
