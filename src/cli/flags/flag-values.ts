/**
 * Parsers of flag values that several commands share. They throw InvalidArgumentError for an invalid value.
 */
import { InvalidArgumentError, Option } from 'commander';
import { existsSync } from 'node:fs';
import { IMAGE_PATTERN, MAX_IMAGE_LENGTH } from '../../api/values/image-reference.ts';
import { LABEL_PATTERN, SUBDOMAIN_PATTERN } from '../../api/values/name-patterns.ts';
import { parseListenAddress, type ListenAddress } from '../../net/listen-address.ts';
import { LOG_LEVELS } from '../../telemetry/log.ts';
import { parseDuration } from '../../text/duration.ts';
import type { CommandIo } from '../io/command-io.ts';

function parseHttp(text: string): readonly ListenAddress[] {
  return text === 'off' ? [] : parsedBy(() => parseListenAddress(text));
}

/** Collects the listen addresses of a repeated flag. */
export function listenAddresses(
  text: string,
  before: readonly ListenAddress[] = [],
): readonly ListenAddress[] {
  return [...before, ...parsedBy(() => parseListenAddress(text))];
}

/** Returns the option for the addresses of health and metrics, which `off` disables. */
export function httpOption(fallback: string): Option {
  return new Option('--http <address>', 'listen address of /healthz, /readyz and /metrics, or off')
    .argParser(parseHttp)
    .default(parseHttp(fallback), fallback);
}

/** Returns the option for the log level. */
export function logLevelOption(): Option {
  return new Option('--log-level <level>', 'log level on standard error')
    .choices(LOG_LEVELS)
    .default('info');
}

/** Parses a file name. Rejects an empty one, which comes from an unset variable. */
export function fileName(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('must be the name of a file');
}

/** Collects the file names of a repeated flag. */
export function fileNames(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, fileName(text)];
}

/** Collects file names, also separated by commas. A name that contains a comma is accepted if the file exists. */
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

/**
 * Parses a folder name. Rejects an empty one, which comes from an unset variable and does not mean the working
 * directory.
 */
export function folderName(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('must be the name of a folder');
}

const NAMESPACE = new RegExp(LABEL_PATTERN);

/** Parses a namespace. Rejects an empty one, which would mean no namespace at all. */
export function namespaceName(text: string): string {
  if (NAMESPACE.test(text)) return text;
  throw new InvalidArgumentError('must be a lowercase RFC 1123 label of at most 63 characters');
}

const OBJECT = new RegExp(SUBDOMAIN_PATTERN);
const MAX_OBJECT_LENGTH = 253;

/** Parses the name of an object. Rejects an empty one, which comes from an unset variable. */
export function objectName(text: string): string {
  if (OBJECT.test(text) && text.length <= MAX_OBJECT_LENGTH) return text;
  throw new InvalidArgumentError('must be a lowercase RFC 1123 subdomain');
}

/** Parses an image reference. */
export function imageReference(text: string): string {
  if (IMAGE_PATTERN.test(text) && text.length <= MAX_IMAGE_LENGTH) return text;
  throw new InvalidArgumentError(
    'must be an image reference, such as registry.example.com/snicket:1.2.3',
  );
}

/** Returns a parser of whole numbers within limits. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`must be an integer from ${least} to ${most}`);
  };
}

/** The default of a duration flag and its limits, in the form in which a user types them. */
interface DurationRange {
  readonly least: string;
  readonly most: string;
  readonly fallback: string;
}

/** Returns the option for a duration such as `30s` or `5m`; its value is in milliseconds. */
export function durationOption(
  name: string,
  description: string,
  { least, most, fallback }: DurationRange,
): Option {
  const [leastMs, mostMs] = [parseDuration(least), parseDuration(most)];
  return new Option(`${name} <duration>`, description)
    .argParser((text) => {
      const ms = durationMs(text);
      if (ms >= leastMs && ms <= mostMs) return ms;
      throw new InvalidArgumentError(`must be a duration from ${least} to ${most}`);
    })
    .default(parseDuration(fallback), fallback);
}

function durationMs(text: string): number {
  try {
    return parseDuration(text);
  } catch {
    throw new InvalidArgumentError('must be a duration such as 30s or 1m30s');
  }
}

/**
 * Returns what `parse` returns. Turns its errors into InvalidArgumentError, which Commander prints after the option and
 * its value, before it exits with the code for usage errors.
 */
export function parsedBy<Value>(parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}
