import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { systemClock } from '../../clock/clock.ts';
import { writeToStandardError } from '../../telemetry/standard-error.ts';
import type { CommandIo } from './command-io.ts';

const STANDARD_INPUT = 0;

/** Returns the CommandIo of this process. Streams open on first use, so that a server does not open standard output. */
export function processIo(): CommandIo {
  return {
    stdin: {
      get isTTY() {
        return process.stdin.isTTY;
      },
      get stream() {
        return process.stdin;
      },
      readAll: () => readFileSync(STANDARD_INPUT, 'utf8'),
    },
    get stdout() {
      return process.stdout;
    },
    get stderr() {
      return process.stderr;
    },
    env: process.env,
    get home() {
      return homedir();
    },
    argv0: process.argv0,
    signals: process,
    get exitCode() {
      return typeof process.exitCode === 'number' ? process.exitCode : undefined;
    },
    set exitCode(code) {
      process.exitCode = code;
    },
    exit: (code) => process.exit(code),
    suspend: () => void process.kill(process.pid, 'SIGSTOP'),
    clock: systemClock,
    log: writeToStandardError,
    // Relative to the working directory of the process.
    path: (name) => name,
  };
}
