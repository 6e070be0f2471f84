/**
 * The content of an object, parsed once per version, or why it cannot be used.
 */
import { InvalidObjectError } from '../api/fault.ts';
import type { Finding } from '../api/finding.ts';
import type { KubeObject } from '../kube/object.ts';
import { sentence } from '../text/sentence.ts';

/** A parsed value, or why parsing failed. */
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

  /** Returns the content of an object, or why it cannot be parsed. */
  of(object: KubeObject): Found<T> {
    let found = this.#found.get(object);
    if (found === undefined) this.#found.set(object, (found = this.#read(object)));
    return found;
  }

  /** Returns the content of an object if it has been parsed already, and is valid. */
  known(object: KubeObject): T | undefined {
    return this.#found.get(object)?.value;
  }

  /** Sets the content of an object, which is then not parsed. */
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
