/**
 * Valid and invalid hosts, domains and addresses. The parser and a real API server must agree on each.
 */

/** Valid and invalid values of one field. */
export interface Texts {
  readonly right: readonly string[];
  readonly wrong: readonly string[];
}

const LABEL_63 = 'a'.repeat(63);

const NO_NAMES = [
  '',
  '.',
  'a..b',
  '.a.b',
  'a.b.',
  'A.example.com',
  'a_b.example.com',
  '-a.example.com',
  'a-.example.com',
  '*.example.com',
  'a b.example.com',
  'a.example.com:443',
  'https://a.example.com',
  'ä.example.com',
  'a.example.com\n',
  `${LABEL_63}a.example.com`,
  '10.0.0.1',
  '127.1',
  '2001:db8::1',
  '[2001:db8::1]',
];

const NO_ADDRESSES = [
  '',
  'edge.example.com',
  '203.0.113',
  '203.0.113.256',
  '203.0.113.010',
  '203.0.113.10 ',
  '203.0.113.10/32',
  '203.0.113.10:443',
  '[2001:db8::10]',
  '2001:db8::10%eth0',
  '2001:db8:::10',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '0.0.0.0',
  '::',
  '224.0.0.1',
  '239.255.255.250',
  '255.255.255.255',
  'ff02::1',
  'ff0e::1',
  '169.254.20.10',
  'fe80::1',
  'febf::1',
  '::ffff:203.0.113.10',
  '::ffff:cb00:710a',
];

/** The values, by field. */
export const NETWORK_TEXTS = {
  host: {
    right: [
      'a.b',
      'tenant-01.k8s.example.com',
      '1.2.3.a',
      '10-0-0-1.example.com',
      'xn--a.example.com',
      `${LABEL_63}.example.com`,
      'a.0x7f',
    ],
    wrong: [...NO_NAMES, 'localhost'],
  },
  domain: {
    right: ['test', 'example.com', 'a.b.c.d', `${LABEL_63}.${LABEL_63}`],
    wrong: [...NO_NAMES, '42'],
  },
  address: {
    right: [
      '203.0.113.10',
      '10.0.0.1',
      '240.0.0.1',
      '127.0.0.1',
      '::1',
      '2001:db8::10',
      '2001:DB8:0:0:0:0:0:10',
      'fd00::203.0.113.10',
      'fec0::1',
      '::2',
    ],
    wrong: NO_ADDRESSES,
  },
  virtualAddress: {
    right: ['100.64.64.1', '10.0.0.1', '192.0.0.8', 'fd00:64::1'],
    wrong: [...NO_ADDRESSES, '127.0.0.1', '127.255.0.1', '::1'],
  },
  endpoint: {
    right: ['10.0.0.5:6443', '10.0.0.5:1', '10.0.0.5:65535', '[fd00::5]:6443', '127.0.0.1:6443'],
    wrong: [
      '10.0.0.5',
      '10.0.0.5:',
      '10.0.0.5:0',
      '10.0.0.5:06443',
      '10.0.0.5:65536',
      '10.0.0.5:99999',
      '10.0.0.5:-1',
      '10.0.0.5: 6443',
      '10.0.0:6443',
      '0.0.0.0:6443',
      '169.254.169.254:80',
      '224.0.0.1:6443',
      '255.255.255.255:6443',
      '[10.0.0.5]:6443',
      'fd00::5:6443',
      '[fd00::5]',
      '[fd00::5]6443',
      '[fd00::5]]:6443',
      '[[fd00::5]]:6443',
      '[::]:6443',
      '[fe80::1]:6443',
      '[febf::1]:6443',
      '[ff02::1]:6443',
      '[::ffff:10.0.0.5]:6443',
      'api.example.com:6443',
      ':6443',
      '',
    ],
  },
} as const satisfies Readonly<Record<string, Texts>>;
