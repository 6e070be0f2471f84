import { expect, test } from 'bun:test';
import { tcpProxyArguments } from './tcp-proxy-arguments.ts';

const lines: [string, string[], string[]][] = [
  [
    'the command line of Steward, which has no command',
    ['--upstream-addr=a.test:443', '--listen-addr=:6443'],
    ['tcp-proxy', '--upstream-addr=a.test:443', '--listen-addr=:6443'],
  ],
  [
    'flags with one dash, as Go takes them',
    ['-upstream-addr', 'a.test:443', '-upstream-insecure', '-v=4', '-help', '-h'],
    ['tcp-proxy', '--upstream-addr', 'a.test:443', '--upstream-insecure', '--v=4', '--help', '-h'],
  ],
  [
    'the command with flags of one dash',
    ['tcp-proxy', '-listen-addr=:1'],
    ['tcp-proxy', '--listen-addr=:1'],
  ],
  [
    'an unknown flag before one of Steward',
    ['--new', '--tls-key-file=k'],
    ['tcp-proxy', '--new', '--tls-key-file=k'],
  ],
  ['no words', [], []],
  ['help', ['--help'], ['--help']],
  ['another command', ['proxy', '-x', '--upstream-addr=a'], ['proxy', '-x', '--upstream-addr=a']],
  ['a negative value', ['tcp-proxy', '--v', '-1'], ['tcp-proxy', '--v', '-1']],
];

test.each(lines)('reads %s', (_, args, read) => {
  expect(tcpProxyArguments(args)).toEqual(read);
});
