/**
 * For tests only: tracks WebCrypto operations as outside work. They run in other threads, so an idle event loop does
 * not mean that nothing is running.
 */
import type { OutsideWork } from '../../clock/testing/outside-work.ts';

type Method = (this: SubtleCrypto, ...args: unknown[]) => Promise<unknown>;

const METHODS = [
  ...['decrypt', 'deriveBits', 'deriveKey', 'digest', 'encrypt', 'exportKey', 'generateKey'],
  ...['importKey', 'sign', 'unwrapKey', 'verify', 'wrapKey'],
];

/** The trackers that count each operation. */
const listeners = new Set<WeakRef<OutsideWork>>();
let isCounting = false;

/** Counts every operation of this process from now on, until `work` is garbage-collected. */
export function countCrypto(work: OutsideWork): void {
  listeners.add(new WeakRef(work));
  if (isCounting) return;
  isCounting = true;
  for (const name of METHODS) countMethod(name);
}

function countMethod(name: string): void {
  const { subtle } = crypto;
  const method = Reflect.get(subtle, name) as Method;
  const counted = async (...args: unknown[]): Promise<unknown> => {
    let result = method.apply(subtle, args);
    for (const listener of listeners) {
      const work = listener.deref();
      if (work === undefined) listeners.delete(listener);
      else result = work.during(result);
    }
    return result;
  };
  Object.defineProperty(subtle, name, { value: counted, configurable: true });
}
