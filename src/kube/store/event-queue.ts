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

  /** Removes and returns the oldest event; undefined if there is none. */
  shift(): WatchEvent<T> | undefined {
    return this.#events.shift();
  }

  /** Ends the current call of {@link untilWoken}, or else the next one. */
  wake(): void {
    this.#waiting.resolve();
  }

  /** Waits for an event or a call of {@link wake}. */
  async untilWoken(): Promise<void> {
    await this.#waiting.promise;
    this.#waiting = Promise.withResolvers<void>();
  }
}
