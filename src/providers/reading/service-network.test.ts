import { expect, test } from 'bun:test';
import { kubernetesAddress } from './service-network.ts';

test.each([
  ['10.96.0.0/16', '10.96.0.1'],
  ['10.96.0.0/12', '10.96.0.1'],
  ['10.99.7.9/12', '10.96.0.1'],
  ['192.0.2.254/31', '192.0.2.255'],
  ['fd00:1::/108', 'fd00:1::1'],
  ['fd00::ffff/112', 'fd00::1'],
  ['10.96.0.0', undefined],
  ['10.96.0.0/33', undefined],
  ['ten/8', undefined],
])('the Service kubernetes of the network %s is at %s', (network, address) => {
  expect(kubernetesAddress(network)).toBe(address);
});
