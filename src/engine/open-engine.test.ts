import { expect, test } from 'bun:test';
import { Counters } from './counters.ts';
import type { EngineOptions } from './engine.ts';
import { openEngine } from './open-engine.ts';

const options: EngineOptions = {
  counters: new Counters({ slots: 1 }),
  router: { route() {}, failed() {} },
  onFault(error) {
    throw error;
  },
};

/** Opens an engine in a separate process, without the JIT that epoll needs. */
function openWithoutJit(choice: string): { readonly output: string; readonly code: number } {
  const program = `
    import { openEngine } from ${JSON.stringify(`${import.meta.dir}/open-engine.ts`)};
    import { Counters } from ${JSON.stringify(`${import.meta.dir}/counters.ts`)};
    const opened = await openEngine(${JSON.stringify(choice)}, {
      counters: new Counters({ slots: 1 }), router: { route() {}, failed() {} }, onFault() {},
    });
    console.log(opened.engine.name + ': ' + opened.fallbackReason);`;
  const child = Bun.spawnSync([process.execPath, '-e', program], {
    env: { ...process.env, BUN_JSC_useJIT: '0' },
  });
  return { output: child.stdout.toString() + child.stderr.toString(), code: child.exitCode };
}

test.if(process.platform === 'linux')(
  'selects epoll on Linux, without a fallback reason',
  async () => {
    const { engine, fallbackReason } = await openEngine('auto', options);

    expect(engine.name).toBe('epoll');
    expect(fallbackReason).toBeUndefined();
    engine.stop();
  },
);

test('selects bun on request', async () => {
  const { engine, fallbackReason } = await openEngine('bun', options);

  expect(engine.name).toBe('bun');
  expect(fallbackReason).toBeUndefined();
});

test('falls back to bun where foreign functions cannot be called, and returns the reason', () => {
  const { output, code } = openWithoutJit('auto');

  expect(output).toStartWith('bun: ');
  expect(output).not.toContain('undefined');
  expect(code).toBe(0);
});

test('does not fall back from an engine requested by name', () => {
  const { output, code } = openWithoutJit('epoll');

  expect(output).toContain('engine epoll does not work here');
  expect(code).toBe(1);
});
