/** Validates the files of a gateway without starting it. */
import { readWatched } from '../files/read-watched.ts';
import { parseKeys } from '../wire/master-keys.ts';
import { MAX_ROUTES } from './options.ts';
import { TooManyRoutes } from './routes/route-table.ts';
import { unreadable } from './routes/routes-file.ts';
import { findRoutesErrors, parseRoutes } from './routes/routes-text.ts';

/** The result for one file. */
interface FileCheck {
  readonly file: string;
  /** Number of routes or keys, if the file is valid. */
  readonly count: number;
  /** Error messages that begin with the file and, if known, the line. Empty if the file is valid. */
  readonly errors: readonly string[];
}

/** Checks a routes file. `file` is its name in errors. */
export async function checkRoutesFile(
  path: string,
  file: string,
  maxRoutes = MAX_ROUTES,
): Promise<FileCheck> {
  const bytes = read(path);
  if (bytes instanceof Error) return failed(file, unreadable(file, bytes).message);
  const text = bytes.toString('utf8');
  const errors = await findRoutesErrors(text, file);
  if (errors.length > 0) return failed(file, ...errors.map(({ message }) => message));
  const { length: count } = await parseRoutes(text, file);
  if (count <= maxRoutes) return { file, count, errors: [] };
  return failed(file, `${file}: ${new TooManyRoutes(count, maxRoutes).message}`);
}

/** Checks a file with master keys. `file` is its name in errors, which never contain its content. */
export function checkKeyFile(path: string, file: string): FileCheck {
  const bytes = read(path);
  if (bytes instanceof Error) return failed(file, `${file}: cannot be read (${bytes.message})`);
  try {
    return { file, count: parseKeys(bytes.toString('latin1'), file).length, errors: [] };
  } catch (error) {
    return failed(file, error instanceof Error ? error.message : String(error));
  }
}

function read(file: string): Buffer | Error {
  try {
    return readWatched(file);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function failed(file: string, ...errors: readonly string[]): FileCheck {
  return { file, count: 0, errors };
}
