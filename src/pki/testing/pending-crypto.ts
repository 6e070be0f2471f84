/**
 * For tests only: how much of WebCrypto is under way. It works on threads of its own, so an event loop that is quiet does
 * not mean that nothing is going on.
 */

type Method = (this: SubtleCrypto, ...args: readonly unknown[]) => Promise<unknown>;

const METHODS = [
  ...['decrypt', 'deriveBits', 'deriveKey', 'digest', 'encrypt', 'exportKey', 'generateKey'],
  ...['importKey', 'sign', 'unwrapKey', 'verify', 'wrapKey'],
];

/** Counts the operations of this process from its construction on. */
class PendingCrypto {
  #started = 0;
  #pending = 0;
  readonly #waiting: (() => void)[] = [];

  constructor() {
    for (const name of METHODS) this.#count(name);
  }

  /** How many operations have begun. */
  get started(): number {
    return this.#started;
  }

  /** Resolves when none is under way. */
  async idle(): Promise<void> {
    if (this.#pending === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    await promise;
  }

  #count(name: string): void {
    const { subtle } = crypto;
    const method = Reflect.get(subtle, name) as Method;
    const counted = async (...args: readonly unknown[]): Promise<unknown> => {
      this.#started++;
      this.#pending++;
      try {
        return await method.apply(subtle, [...args]);
      } finally {
        if (--this.#pending === 0) for (const resolve of this.#waiting.splice(0)) resolve();
      }
    };
    Object.defineProperty(subtle, name, { value: counted, configurable: true });
  }
}

let pending: PendingCrypto | undefined;

/** The one of this process, which counts from the first call on. */
export function pendingCrypto(): PendingCrypto {
  return (pending ??= new PendingCrypto());
}
