/**
 * A queue between the producer and the consumer of watch events.
 */
import type { WatchEvent } from '../client/client.ts';
import type { KubeObject } from '../object.ts';

/** Buffers the events of a watch until they are consumed. */
export class EventQueue<T extends KubeObject> {
  readonly #events: WatchEvent<T>[] = [];
  #waiting = Promise.withResolvers<void>();

  push(event: WatchEvent<T>): void {
    this.#events.push(event);
    this.wake();
  }

  /** Adds a bookmark. It replaces a preceding bookmark. */
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
