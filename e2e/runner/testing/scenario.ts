import type { Scenario } from '../scenarios.ts';

/** For tests only: returns a core scenario of the usual size, with the given overrides. */
export function scenario(name: string, overrides: Partial<Scenario> = {}): Scenario {
  return {
    name,
    parts: [],
    isOptional: false,
    isExclusive: false,
    inotifyInstances: 50,
    seconds: 60,
    ...overrides,
  };
}
