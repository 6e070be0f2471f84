import { expect, test } from 'bun:test';
import { serverNameFault, serverNameText } from './server-name.ts';

function fault(name: string) {
  const bytes = Buffer.from(name, 'latin1');
  return serverNameFault(bytes, 0, bytes.length);
}

test.each([
  'a',
  'tenant-a.k8s.example.com',
  'UPPER.Example',
  'under_score.example',
  'xn--bcher-kva.example',
  '-odd-.example',
  '1.example',
  '10.0.0.1.example',
  'dead.beef',
  `${'l'.repeat(63)}.example`,
  `${'d.'.repeat(127)}x`,
])('accepts %p as a name', (name) => {
  expect(fault(name)).toBeUndefined();
});

test.each([
  ['', 'server_name_empty'],
  [`${'d.'.repeat(127)}xy`, 'server_name_too_long'],
  ['a\0.example', 'server_name_has_nul'],
  ['\xfc\0', 'server_name_has_nul'],
  ['b\xfccher.example', 'server_name_not_ascii'],
  ['a.example.', 'server_name_trailing_dot'],
  ['.', 'server_name_trailing_dot'],
  ['10.0.0.1', 'server_name_ip_literal'],
  ['127.1', 'server_name_ip_literal'],
  ['2130706433', 'server_name_ip_literal'],
  ['::1', 'server_name_ip_literal'],
  ['[2001:db8::7]', 'server_name_ip_literal'],
  ['::ffff:10.0.0.1', 'server_name_ip_literal'],
  ['fe80::1%eth0', 'server_name_not_dns'],
  ['a.example:443', 'server_name_not_dns'],
  ['.example', 'server_name_not_dns'],
  ['a..example', 'server_name_not_dns'],
  [`${'l'.repeat(64)}.example`, 'server_name_not_dns'],
  [`a.${'l'.repeat(64)}`, 'server_name_not_dns'],
  ['a b.example', 'server_name_not_dns'],
  ['*.example', 'server_name_not_dns'],
  ['a/b', 'server_name_not_dns'],
] as const)('refuses %p as %s', (name, code) => {
  expect(fault(name)).toBe(code);
});

test('returns the name in lower case', () => {
  const bytes = Buffer.from('..Tenant-A.K8S.Example.COM..');

  expect(serverNameText(bytes, 2, bytes.length - 2)).toBe('tenant-a.k8s.example.com');
});
