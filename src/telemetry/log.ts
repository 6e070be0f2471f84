/**
 * Structured logging: one JSON object per line with `time`, `level`, `msg` and the fields of the caller, or another
 * format for a terminal. Fields are printed as they are, so callers must not pass secrets.
 */
import { writeToStandardError } from './standard-error.ts';

/** From the most to the least verbose. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
/** One of {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Structured fields of a line. An Error is printed as its message, with its code if it has one. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes log lines, with one method per level. */
export type Logger = Readonly<Record<LogLevel, (msg: string, fields?: LogFields) => void>>;

/** The fields of every line. */
export interface LogHead {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: LogLevel;
  readonly msg: string;
}

/** Options of {@link createLogger}. */
export interface LoggerOptions {
  /** Lines below this level are not written. Default `info`. */
  readonly level?: LogLevel;
  /** Formats a line, including its newline. Default: JSON. */
  readonly format?: (head: LogHead, fields: LogFields) => string;
  /** Writes a line, including its newline. Default: standard error. */
  readonly write?: (line: string) => void;
}

/** Returns a logger. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const { level = 'info', format = jsonLine, write = writeToStandardError } = options;
  const lowest = LOG_LEVELS.indexOf(level);
  const logAt = (at: LogLevel) => (msg: string, fields?: LogFields) => {
    if (LOG_LEVELS.indexOf(at) < lowest) return;
    write(format({ time: new Date().toISOString(), level: at, msg }, fields ?? {}));
  };
  return { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
}

function jsonLine(head: LogHead, fields: LogFields): string {
  // `head` is repeated at the end, so that no field can override it. It stays first in the output.
  return `${JSON.stringify({ ...head, ...fields, ...head }, printable)}\n`;
}

/** JSON replacer for values that JSON cannot represent: an Error would become `{}`, and a bigint would throw. */
export function printable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (!(value instanceof Error)) return value;
  return 'code' in value && value.code !== undefined
    ? { code: value.code, message: value.message }
    : value.message;
}
