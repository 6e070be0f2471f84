/**
 * The log of a server: text on a terminal, JSON anywhere else.
 */
import type { CommandIo } from '../io/command-io.ts';
import { createLogger, type Logger, type LogLevel } from '../../telemetry/log.ts';

/** Returns a logger that writes to standard error. */
export async function programLog(io: CommandIo, level: LogLevel): Promise<Logger> {
  const write = (line: string) => io.log(line);
  if (!io.stderr.isTTY) return createLogger({ level, write });
  // Imported lazily, because only a terminal needs it.
  const [{ textLine }, { isColorWanted }] = await Promise.all([
    import('../../telemetry/log-text.ts'),
    import('./output.ts'),
  ]);
  const hasColors = isColorWanted(io.env);
  return createLogger({
    level,
    format: (head, fields) => textLine(head, fields, hasColors),
    write,
  });
}
