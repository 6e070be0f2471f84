import { expect, test } from 'bun:test';
import { isAddedBySnicket, placementOf, placementText } from './placement.ts';
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
const eligible4 = { ...IPV4, scope: SCOPE_GLOBAL };
const eligible6 = { ...IPV6, flags: 0x80 };
const network4 = { ...IPV4, prefixLength: 24 };
const eth2Address4 = { ...IPV4, link: 2, scope: SCOPE_GLOBAL };
const otherAddresses = [
  { ...IPV4, address: '127.0.0.1', prefixLength: 8 },
  { ...IPV6, address: '::1', scope: SCOPE_HOST },
];

test.each<[string, NodeAddress[], string, boolean, string]>([
  ['absent', [], 'absent', false, '100.64.64.1 is not on lo'],
  ['IPv4 and correct', [IPV4], 'correct', true, '100.64.64.1 is on lo'],
  ['IPv6 and correct', [IPV6], 'correct', true, 'fd00:64::1 is on lo'],
  [
    'IPv4 with scope global',
    [eligible4],
    'source-eligible',
    false,
    'other traffic (its scope is not host)',
  ],
  [
    'IPv6 with a preferred lifetime',
    [eligible6],
    'source-eligible',
    false,
    'other traffic (it has a preferred lifetime)',
  ],
  [
    'a network',
    [network4],
    'network',
    false,
    'on lo as 100.64.64.1/24, which routes the whole network',
  ],
  ['correct and also a network', [IPV4, network4], 'network', true, '100.64.64.1/24'],
  [
    'on another interface',
    [eth2Address4],
    'other-interface',
    false,
    '100.64.64.1 is an address of interface eth2',
  ],
  [
    'correct and also on another interface',
    [IPV4, eth2Address4],
    'other-interface',
    true,
    'of interface eth2',
  ],
])('detects an address that is %s', (_, present, kind, isAdded, text) => {
  const address = present[0]?.address ?? '100.64.64.1';
  const all = [...otherAddresses, ...present];

  const placement = placementOf(address, all, LO);

  expect(placement.kind as string).toBe(kind);
  expect(isAddedBySnicket(address, all, LO)).toBe(isAdded);
  expect(placementText(address, placement, (link) => `eth${link}`)).toContain(text);
});
