/** Parses a Secret of the folder: as in a cluster, with additional values in separate files. */
import * as z from 'zod';
import { faultsOf, InvalidObjectError, sentenceOf } from '../../api/fault.ts';
import { objectName } from '../../api/values/kubernetes-values.ts';
import type { KubeObject } from '../../kube/object.ts';

/** A Secret with its values in base64, as from an API server. */
export interface FolderSecret extends KubeObject {
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
}

/** A Secret before its files are read. */
interface ParsedSecret {
  readonly secret: FolderSecret;
  /** The values in other files: entry to path, as written. */
  readonly files: ReadonlyMap<string, string>;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const PATH = /^[^\0\r\n]{1,4096}$/;
/** PEM, JWT or base64. */
const VALUE = /^-----BEGIN|^eyJ|^(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+/]{64,}={0,2}$/;
const ENTRY = /^[-._a-zA-Z0-9]{1,253}$/;

/** The limit of the API server. */
export const MAX_SECRET_BYTES = 1024 * 1024;

// No message quotes a value, because messages are logged.
const entries = (value: z.ZodType<string>) => z.record(z.string(), value).default({});

const texts = z
  .record(z.string(), z.string())
  .nullish()
  .transform((values) => values ?? undefined);

const schema = z
  .strictObject({
    apiVersion: z.literal('v1'),
    kind: z.literal('Secret'),
    metadata: z.looseObject({ name: objectName, labels: texts, annotations: texts }),
    type: z.string().default('Opaque'),
    immutable: z.boolean().optional(),
    data: entries(
      z
        .string({ error: 'not a string; set base64, or the text itself in stringData' })
        .regex(BASE64, {
          error: 'not base64; encode it with: base64 -w0, or set the text itself in stringData',
        }),
    ),
    stringData: entries(z.string({ error: 'not a string; put it in quotes' })),
    files: entries(
      z.string({ error: 'not a path; set one, relative to the folder of this file' }).regex(PATH, {
        error:
          'not a path; set one, relative to the folder of this file, or set the text itself in stringData',
      }),
    ),
  })
  .superRefine(({ data, stringData, files }, context) => {
    const seen = new Set<string>();
    for (const [field, values] of Object.entries({ data, stringData, files })) {
      for (const entry of Object.keys(values)) {
        const fault = entryFault(entry, seen);
        if (fault === undefined) continue;
        context.addIssue({ code: 'custom', message: fault, path: [field, entry] });
      }
    }
  });

function entryFault(entry: string, seen: Set<string>): string | undefined {
  if (!ENTRY.test(entry))
    return 'invalid key: must consist of letters, digits, dashes, underscores and dots';
  if (seen.has(entry)) {
    return `${entry} is set in more than one of data, stringData and files; keep one of them`;
  }
  seen.add(entry);
  return undefined;
}

/** Parses a Secret. @throws InvalidObjectError with all faults and without any value. */
export function parseSecret(value: unknown, name: string): ParsedSecret {
  const parsed = schema.safeParse(value, { error: secretSentence });
  if (!parsed.success) throw new InvalidObjectError(name, faultsOf(parsed.error.issues));
  const { data, stringData, files, metadata, type } = parsed.data;
  const secret: FolderSecret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    type,
    data: { ...data, ...encoded(Object.entries(stringData)) },
  };
  assertSize(secret, name);
  return { secret, files: new Map(Object.entries(files)) };
}

/** The default message quotes the invalid value. */
function secretSentence(issue: z.core.$ZodRawIssue): string | undefined {
  const { path = [] } = issue;
  const isSecret = ['data', 'stringData'].includes(String(path[0]));
  return isSecret ? 'must be a mapping of keys to strings' : sentenceOf(issue);
}

/**
 * Returns the Secret with the contents of its files. @throws InvalidObjectError if it is larger than an API server
 * accepts.
 */
export function withFiles(
  secret: FolderSecret,
  contents: ReadonlyMap<string, Uint8Array>,
  name: string,
): FolderSecret {
  const filled = { ...secret, data: { ...secret.data, ...encoded(contents) } };
  assertSize(filled, name);
  return filled;
}

function assertSize({ data }: FolderSecret, name: string): void {
  const bytes = Object.values(data).reduce((sum, text) => sum + (text.length * 3) / 4, 0);
  if (bytes <= MAX_SECRET_BYTES) return;
  const sentence = `too large: a Secret has at most ${MAX_SECRET_BYTES} bytes`;
  throw new InvalidObjectError(name, [{ path: '', sentence }]);
}

function encoded(values: Iterable<readonly [string, string | Uint8Array]>): FolderSecret['data'] {
  const data: Record<string, string> = {};
  for (const [entry, content] of values) {
    data[entry] = Buffer.from(content as string).toString('base64');
  }
  return data;
}

/** Whether the path may be a key or token, written there by mistake. Messages then do not quote it. */
export function looksLikeValue(path: string): boolean {
  return VALUE.test(path);
}
