import { expect, test } from 'bun:test';
import { parseEdgeFile } from './edge-file.ts';

const parsed = (text: string) => parseEdgeFile(Buffer.from(text), '/etc/snicket/edge');

test('reads one address per line, and ignores comments and blank lines', () => {
  expect(
    parsed('# the edge\n203.0.113.10:443\n\n  [2001:db8::10]:443\r\nlb.example.com:8443'),
  ).toEqual([
    { host: '203.0.113.10', port: 443 },
    { host: '2001:db8::10', port: 443 },
    { host: 'lb.example.com', port: 8443 },
  ]);
});

test.each(['', '\n\n', '# none\n'])('rejects a file without an address: %j', (text) => {
  expect(() => parsed(text)).toThrow('/etc/snicket/edge contains no address');
});

test('reports the invalid line', () => {
  expect(() => parsed('203.0.113.10:443\n203.0.113.300:443\n')).toThrow('/etc/snicket/edge:2: ');
});
