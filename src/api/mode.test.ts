import { expect, test } from 'bun:test';
import { DRIVERS } from './edge.ts';
import { modeFinding, modeOf } from './mode.ts';

test("the mode defaults to Passthrough with Snicket's gateway, and to Terminate with other drivers", () => {
  expect(modeOf('snicket', undefined)).toBe('Passthrough');
  expect(modeOf('haproxy', undefined)).toBe('Terminate');
  expect(modeOf('snicket', 'Terminate')).toBe('Terminate');
});

test.each([...DRIVERS])('driver %s supports its default mode, and Terminate', (driver) => {
  expect(modeFinding(driver, modeOf(driver, undefined))).toBeUndefined();
  expect(modeFinding(driver, 'Terminate')).toBeUndefined();
});

test('a finding says that Passthrough requires driver snicket', () => {
  expect(modeFinding('haproxy', 'Passthrough')).toEqual({
    code: 'OptionNotSupported',
    severity: 'error',
    message:
      'Mode Passthrough requires driver snicket, but the Edge has driver haproxy, which does not read the header that identifies the tenant.',
    action: 'Set spec.worker.mode to Terminate, remove it, or choose an Edge with driver snicket.',
  });
});
