import { expect, test } from 'bun:test';
import { CommandError } from '../machine/command.ts';
import { forwardsToServices } from './kube-proxy.ts';

const METRIC = 'kubeproxy_sync_proxy_rules_last_timestamp_seconds';

test.each([
  [
    'that has written its rules',
    `# TYPE ${METRIC} gauge\n${METRIC}{ip_family="IPv4"} 1.79e+09\n`,
    true,
  ],
  ['of an older version that has written its rules', `${METRIC} 1.79e+09\n`, true],
  [
    'that has not written rules yet',
    `# TYPE ${METRIC} gauge\n${METRIC}{ip_family="IPv4"} 0\n`,
    false,
  ],
  ['without the metric', 'go_goroutines 70\n', false],
])('a kube-proxy %s', async (_, page, expected) => {
  expect(await forwardsToServices({ exec: async () => page })).toBe(expected);
});

test('a kube-proxy that does not listen yet is not ready', async () => {
  const output = { stdout: '', stderr: 'bash: connect: Connection refused' };
  const refused = new CommandError(['bash'], 1, 'exit code 1', output);

  expect(await forwardsToServices({ exec: () => Promise.reject(refused) })).toBe(false);
});

test('throws other errors', async () => {
  const failure = new Error('host a-1 is gone');

  await expect(forwardsToServices({ exec: () => Promise.reject(failure) })).rejects.toThrow(
    failure,
  );
});
