/**
 * The log of a program that runs until it is told to end: on a terminal for people, anywhere else in JSON.
 */
import { createLogger, type Logger, type LogLevel } from '../../telemetry/log.ts';

/** A log on standard error. */
export async function programLog(level: LogLevel): Promise<Logger> {
  if (!process.stderr.isTTY) return createLogger({ level });
  // Loaded here, so that who has no terminal does not pay for it.
  const [{ textLine }, { areColoursWelcome }] = await Promise.all([
    import('../../telemetry/log-text.ts'),
    import('./output.ts'),
  ]);
  const hasColours = areColoursWelcome();
  return createLogger({ level, format: (head, fields) => textLine(head, fields, hasColours) });
}
