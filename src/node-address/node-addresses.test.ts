import { expect, test } from 'bun:test';
import { resolve } from 'node:path';
import { inNamespace, namespaceProblem } from './testing/namespace.ts';

const program = resolve(import.meta.dir, 'testing/dial-at-once.ts');
const skipReason = process.platform === 'linux' ? namespaceProblem() : 'this is not Linux';

// The kernel adds the address before its route. Without a wait, one dial in ten was refused.
test.skipIf(skipReason !== undefined)(
  'an address can be dialed as soon as add() returns',
  async () => {
    const { lines } = await inNamespace(`"$BUN" ${program} 2>/dev/null`);

    expect(lines).toEqual(['100 answered']);
  },
);
