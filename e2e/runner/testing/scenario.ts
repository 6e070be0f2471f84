import type { Scenario } from '../scenarios.ts';

/** For tests only: a core scenario of the usual size, with other needs where given. */
export function scenario(name: string, needs: Partial<Scenario> = {}): Scenario {
  return {
    name,
    parts: [],
    isOptional: false,
    isExclusive: false,
    inotifyInstances: 50,
    seconds: 60,
    ...needs,
  };
}
