/**
 * Values of flags, as several commands take them. What is wrong with one is thrown as an InvalidArgumentError.
 */
import { InvalidArgumentError } from 'commander';
import { existsSync } from 'node:fs';
import { IMAGE_PATTERN, MAX_IMAGE_LENGTH } from '../../api/values/image-name.ts';
import { LABEL_PATTERN, SUBDOMAIN_PATTERN } from '../../api/values/name-patterns.ts';
import { parseListenAddress, type ListenAddress } from '../../net/listen-address.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Where health and metrics are; `off`: nowhere. */
export function parseHttp(text: string): readonly ListenAddress[] {
  return text === 'off' ? [] : refusing(() => parseListenAddress(text));
}

/** The name of a file; an empty one is a variable that was never set. */
export function fileName(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Write the name of a file.');
}

/** Names of files, as often as the flag is given. */
export function fileNames(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, fileName(text)];
}

/** The same, also with commas between them; a comma may be of the name itself. */
export function fileList(
  io: Pick<CommandIo, 'path'>,
): (text: string, before?: readonly string[]) => readonly string[] {
  return (text, before = []) => {
    const isFile = existsSync(io.path(text));
    const parts = isFile ? [text] : text.split(',').filter((part) => part !== '');
    const [first = '', ...others] = parts;
    return [...before, fileName(first), ...others];
  };
}

/** The name of a folder; an empty one is a variable that was never set, and not the folder that one is in. */
export function folderName(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Write the name of a folder.');
}

const NAMESPACE = new RegExp(LABEL_PATTERN);

/** A namespace. An empty one would be none, and so not what somebody means who names one. */
export function namespaceName(text: string): string {
  if (NAMESPACE.test(text)) return text;
  throw new InvalidArgumentError(
    'Write the name of a namespace: up to 63 lower-case letters, digits and dashes.',
  );
}

const OBJECT = new RegExp(SUBDOMAIN_PATTERN);
const MAX_OBJECT_LENGTH = 253;

/** The name of an object; an empty one is a variable that was never set. */
export function objectName(text: string): string {
  if (OBJECT.test(text) && text.length <= MAX_OBJECT_LENGTH) return text;
  throw new InvalidArgumentError(
    'Write the name of an object: lower-case letters, digits, dashes and dots.',
  );
}

/** The image of a proxy. */
export function imageName(text: string): string {
  if (IMAGE_PATTERN.test(text) && text.length <= MAX_IMAGE_LENGTH) return text;
  throw new InvalidArgumentError('Write an image such as registry.example.com/snicket:1.2.3.');
}

/** A number within limits. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}.`);
  };
}

/** Seconds, with a fraction or without, up to a limit. */
export function secondsUpTo(most: number): (text: string) => number {
  return (text) => {
    const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (seconds > 0 && seconds <= most) return seconds;
    throw new InvalidArgumentError(`Write seconds, up to ${most}.`);
  };
}

/** What `parse` gives; what it throws is told as a fault of the value. Commander prints an InvalidArgumentError behind the option and its value, and ends with the code for usage. */
export function refusing<Value>(parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? `${error.message}.` : String(error));
  }
}
