/**
 * The events of a watch between who tells them and who asks for them.
 */
import type { WatchEvent } from '../client/client.ts';
import type { KubeObject } from '../object.ts';

/** What a watch has to tell, until somebody asks. */
export class EventQueue<T extends KubeObject> {
  readonly #events: WatchEvent<T>[] = [];
  #waiting = Promise.withResolvers<void>();

  push(event: WatchEvent<T>): void {
    this.#events.push(event);
    this.wake();
  }

  /** The last of several in a row is enough. */
  bookmark(resourceVersion: string): void {
    if (this.#events.at(-1)?.type === 'BOOKMARK') this.#events.pop();
    this.push({ type: 'BOOKMARK', resourceVersion });
  }

  shift(): WatchEvent<T> | undefined {
    return this.#events.shift();
  }

  wake(): void {
    this.#waiting.resolve();
  }

  async next(): Promise<void> {
    await this.#waiting.promise;
    this.#waiting = Promise.withResolvers<void>();
  }
}
