import { expect, test } from 'bun:test';
import { resolve } from 'node:path';
import { inNamespace, whyNoNamespace } from './testing/namespace.ts';

const program = resolve(import.meta.dir, 'testing/dial-at-once.ts');
const why = process.platform === 'linux' ? whyNoNamespace() : 'this is not Linux';

// The kernel has the address before the route to it. Without a wait, one dial in ten was refused.
test.skipIf(why !== undefined)('an address can be dialed as soon as it is added', async () => {
  const { lines } = await inNamespace(`"$BUN" ${program} 2>/dev/null`);

  expect(lines).toEqual(['100 answered']);
});
