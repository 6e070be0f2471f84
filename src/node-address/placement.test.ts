import { expect, test } from 'bun:test';
import { isOurs, placementOf, placementText } from './placement.ts';
import type { NodeAddress } from './route-message.ts';
import { ADDRESS_FLAG, SCOPE_GLOBAL, SCOPE_HOST } from './rtnetlink.ts';

const LO = 1;
const IPV4: NodeAddress = {
  address: '100.64.64.1',
  prefixLength: 32,
  scope: SCOPE_HOST,
  flags: 0x80,
  link: LO,
};
const IPV6: NodeAddress = {
  address: 'fd00:64::1',
  prefixLength: 128,
  scope: SCOPE_GLOBAL,
  flags: 0x80 | ADDRESS_FLAG.DEPRECATED,
  link: LO,
};
const open4 = { ...IPV4, scope: SCOPE_GLOBAL };
const open6 = { ...IPV6, flags: 0x80 };
const wide4 = { ...IPV4, prefixLength: 24 };
const eth4 = { ...IPV4, link: 2, scope: SCOPE_GLOBAL };
const others = [
  { ...IPV4, address: '127.0.0.1', prefixLength: 8 },
  { ...IPV6, address: '::1', scope: SCOPE_HOST },
];

test.each<[string, NodeAddress[], string, boolean, string]>([
  ['nowhere', [], 'absent', false, '100.64.64.1 is not on lo'],
  ['as we put it', [IPV4], 'right', true, '100.64.64.1 is on lo'],
  ['of IPv6, as we put it', [IPV6], 'right', true, 'fd00:64::1 is on lo'],
  ['with scope global', [open4], 'open', false, 'other traffic (its scope is not host)'],
  ['of IPv6 and preferred', [open6], 'open', false, 'other traffic (it has a preferred lifetime)'],
  [
    'with a network',
    [wide4],
    'wide',
    false,
    'on lo as 100.64.64.1/24, which draws a whole network',
  ],
  ['alone and with a network', [IPV4, wide4], 'wide', true, '100.64.64.1/24'],
  ['on a card', [eth4], 'elsewhere', false, '100.64.64.1 is an address of interface eth2'],
  ['on a card too', [IPV4, eth4], 'elsewhere', true, 'of interface eth2'],
])('an address that is %s', (_, present, kind, ours, text) => {
  const address = present[0]?.address ?? '100.64.64.1';
  const all = [...others, ...present];

  const placement = placementOf(address, all, LO);

  expect(placement.kind as string).toBe(kind);
  expect(isOurs(address, all, LO)).toBe(ours);
  expect(placementText(address, placement, (link) => `eth${link}`)).toContain(text);
});
