import { expect, test } from 'bun:test';
import { DRIVERS } from './edge.ts';
import { modeFault, modeOf } from './mode.ts';

test("defaults to Passthrough with Snicket's gateway, and to Terminate elsewhere", () => {
  expect(modeOf('snicket', undefined)).toBe('Passthrough');
  expect(modeOf('haproxy', undefined)).toBe('Terminate');
  expect(modeOf('snicket', 'Terminate')).toBe('Terminate');
});

test.each([...DRIVERS])('has a default mode that driver %s supports', (driver) => {
  expect(modeFault(driver, modeOf(driver, undefined))).toBeUndefined();
  expect(modeFault(driver, 'Terminate')).toBeUndefined();
});

test('reports that Passthrough requires driver snicket', () => {
  expect(modeFault('haproxy', 'Passthrough')).toEqual({
    code: 'OptionNotSupported',
    severity: 'error',
    message:
      'Mode Passthrough requires driver snicket, but the Edge has driver haproxy, which does not read the header that identifies the tenant.',
    action: 'Set spec.worker.mode to Terminate, remove it, or choose an Edge with driver snicket.',
  });
});
