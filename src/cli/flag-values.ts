/**
 * Values of flags, as several commands take them. What is wrong with one is thrown as an InvalidArgumentError.
 */
import { InvalidArgumentError } from 'commander';
import { parseListenAddress, type ListenAddress } from '../engine/listen-address.ts';

/** Where health and metrics are; `off`: nowhere. */
export function parseHttp(text: string): readonly ListenAddress[] {
  return text === 'off' ? [] : refusing(() => parseListenAddress(text));
}

/** The name of a file; an empty one is a variable that was never set. */
export function fileName(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Write the name of a file.');
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
