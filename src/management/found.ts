/**
 * The content of an object, parsed once per version, or why it cannot be used.
 */
import { InvalidObjectError } from '../api/fault.ts';
import type { Finding } from '../api/finding.ts';
import type { KubeObject } from '../kube/object.ts';
import { sentence } from '../text/sentence.ts';

/** A value, or why there is none. */
export type Found<T> =
  | { readonly value: T; readonly finding?: undefined }
  | { readonly value?: undefined; readonly finding: Finding };

/** Parsed objects. */
export class ParsedObjects<T> {
  readonly #parse: (object: KubeObject) => T;
  readonly #found = new WeakMap<KubeObject, Found<T>>();

  /** `parse` throws InvalidObjectError for an object that cannot be parsed. */
  constructor(parse: (object: KubeObject) => T) {
    this.#parse = parse;
  }

  /** The content of an object, or why it cannot be parsed. */
  of(object: KubeObject): Found<T> {
    let found = this.#found.get(object);
    if (found === undefined) this.#found.set(object, (found = this.#read(object)));
    return found;
  }

  /** The content of an object that is parsed already, if it can be. */
  known(object: KubeObject): T | undefined {
    return this.#found.get(object)?.value;
  }

  /** Sets the content of an object that need not be parsed. */
  set(object: KubeObject, value: T): void {
    this.#found.set(object, { value });
  }

  #read(object: KubeObject): Found<T> {
    try {
      return { value: this.#parse(object) };
    } catch (error) {
      if (!(error instanceof InvalidObjectError)) throw error;
      return {
        finding: {
          code: error.code,
          severity: 'error',
          message: sentence(error.message),
          action: 'Correct the object.',
        },
      };
    }
  }
}
