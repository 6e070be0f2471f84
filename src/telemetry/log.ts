/**
 * Log lines: as JSON, one per line, `time`, `level`, `msg`, then the fields of the caller; or as a caller likes them who has
 * a person before it. Nothing here knows a secret, and nobody may pass one: a field is printed as it is.
 */
import { writeToStandardError } from './standard-error.ts';

/** From the most talkative to the tersest. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
/** One of {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a line can carry besides its sentence. An Error is printed as its message, and its code if it has one. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Whoever has something to say. */
export type Logger = Readonly<Record<LogLevel, (msg: string, fields?: LogFields) => void>>;

/** What every line begins with. */
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
  /** How a line is written, its newline included. Default: as JSON. */
  readonly format?: (head: LogHead, fields: LogFields) => string;
  /** Takes a line, its newline included. Default: standard error. */
  readonly write?: (line: string) => void;
}

/** A logger. */
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
  // The three of ours come last into the object and first into the line: no field can stand in for them.
  return `${JSON.stringify({ ...head, ...fields, ...head }, printable)}\n`;
}

/** For JSON, which has no way to say these: an Error would be `{}`, and a bigint would throw. */
export function printable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (!(value instanceof Error)) return value;
  return 'code' in value && value.code !== undefined
    ? { code: value.code, message: value.message }
    : value.message;
}
