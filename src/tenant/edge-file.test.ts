import { expect, test } from 'bun:test';
import { parseEdgeFile } from '../proxy/edge/edge-file.ts';
import { edgeFile } from './edge-file.ts';

const HOST = 'blue.k8s.example.com';

function text(edgeAddresses: readonly string[], worker = {}): string {
  return edgeFile({ worker, host: HOST, port: 443, edgeAddresses });
}

test('has the IP addresses of the Edge, sorted', () => {
  expect(text(['203.0.113.11', '2001:DB8::10', '203.0.113.10', '203.0.113.11'])).toBe(
    '[2001:db8::10]:443\n203.0.113.10:443\n203.0.113.11:443\n',
  );
});

test.each([[[]], [['lb.example.com']]])('has the host if DNS must resolve it: %j', (addresses) => {
  expect(text(addresses)).toBe(`${HOST}:443\n`);
});

test('has the host if a host alias names it', () => {
  const hostAliases = [{ ip: '192.0.2.50', hostnames: [HOST] }];

  expect(text(['203.0.113.10'], { hostAliases })).toBe(`${HOST}:443\n`);
});

test('can be parsed by the proxy', () => {
  const bytes = Buffer.from(text(['203.0.113.10', '2001:db8::10']));

  expect(parseEdgeFile(bytes, 'edge')).toEqual([
    { host: '2001:db8::10', port: 443 },
    { host: '203.0.113.10', port: 443 },
  ]);
});
