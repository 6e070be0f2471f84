import { describe, expect, test } from 'bun:test';
import { FINDING_CODES } from '../api/finding-codes/catalog.ts';
import { RESULT_CODES } from '../probe/codes.ts';
import { snicket } from './testing/in-process.ts';

describe('a code', () => {
  test('is explained with its severity, its meaning and what to do', async () => {
    const { exitCode, stdout, stderr } = await snicket(['explain', 'DnsNoAnswer']);

    expect(stdout).toMatch(/^CODE: +DnsNoAnswer\nREPORTED: +Hop dns\nSEVERITY: +Fail\n/);
    expect(stdout).toMatch(/\nMEANING:\n {2}[A-Z].*\.\n\nWHAT TO DO:\n {2}[A-Z].*\.\n$/);
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
  });

  test('of a finding says where findings appear', async () => {
    const { stdout } = await snicket(['explain', 'HostConflict']);

    expect(stdout).toMatch(/^REPORTED: +.*Findings \(hop plan of doctor, render, /m);
  });

  test('is found whatever its case', async () => {
    const { stdout } = await snicket(['explain', 'hostconflict']);

    expect(stdout).toStartWith('CODE:      HostConflict\n');
    expect(stdout).toContain('SEVERITY:  Error or Warning\n');
  });

  test('is a value with -o json and -o yaml', async () => {
    const json = await snicket(['explain', 'PrerequisiteFailed', '-o', 'json']);
    const yaml = await snicket(['explain', 'PrerequisiteFailed', '-o', 'yaml']);

    expect(JSON.parse(json.stdout)).toMatchObject({
      code: 'PrerequisiteFailed',
      group: 'All hops and checks',
      severity: 'Skip',
    });
    expect(yaml.stdout).toStartWith('code: PrerequisiteFailed\n');
  });

  test('may be the reason of a condition or an event', async () => {
    const paused = await snicket(['explain', 'RolloutPaused']);
    const event = await snicket(['explain', 'CleanupIncomplete', '-o', 'json']);

    expect(paused.stdout).toMatch(
      /^CODE: +RolloutPaused\nREPORTED: +Conditions\nSEVERITY: +Warning\n/,
    );
    expect(JSON.parse(event.stdout)).toMatchObject({ group: 'Events', severity: 'Warning' });
  });

  test('fits a narrow terminal', async () => {
    const { stdout } = await snicket(['explain', 'DnsWrongAddress'], { columns: 40 });

    for (const line of stdout.split('\r\n')) expect(line.length).toBeLessThanOrEqual(40);
  });
});

test('an unknown code is an error with the closest codes', async () => {
  const { exitCode, stdout, stderr } = await snicket(['explain', 'HostConflct']);

  expect(stderr).toBe('error: unknown code: HostConflct\nhint: did you mean HostConflict?\n');
  expect(stdout).toBe('');
  expect(exitCode).toBe(2);
});

test('a code that resembles none is an error', async () => {
  const { exitCode, stderr } = await snicket(['explain', 'Xyzzy']);

  expect(stderr).toBe('error: unknown code: Xyzzy\nhint: list all codes: snicket explain\n');
  expect(exitCode).toBe(2);
});

test('without a code, every code is listed in its group', async () => {
  const { exitCode, stdout } = await snicket(['explain']);

  for (const code of Object.keys({ ...FINDING_CODES, ...RESULT_CODES })) {
    expect(stdout).toContain(`\n  ${code}\n`);
  }
  expect(stdout).toStartWith('All hops and checks:\n  Passed\n');
  expect(stdout).toContain('\nChecks of an edge:\n');
  expect(exitCode).toBe(0);
});

test('a shell completes codes', async () => {
  const { stdout } = await snicket(['__complete', 'explain', 'HostC']);

  expect(stdout).toMatch(/^HostConflict\t.*\n/);
  expect(stdout).toEndWith(':4\n');
});
