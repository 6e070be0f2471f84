/**
 * The log of a program that runs until it is told to end: on a terminal for people, anywhere else in JSON.
 */
import type { CommandIo } from '../io/command-io.ts';
import { createLogger, type Logger, type LogLevel } from '../../telemetry/log.ts';

/** A log on standard error. */
export async function programLog(io: CommandIo, level: LogLevel): Promise<Logger> {
  const write = (line: string) => io.log(line);
  if (!io.stderr.isTTY) return createLogger({ level, write });
  // Loaded here, so that who has no terminal does not pay for it.
  const [{ textLine }, { areColoursWelcome }] = await Promise.all([
    import('../../telemetry/log-text.ts'),
    import('./output.ts'),
  ]);
  const hasColours = areColoursWelcome(io.env);
  return createLogger({
    level,
    format: (head, fields) => textLine(head, fields, hasColours),
    write,
  });
}
