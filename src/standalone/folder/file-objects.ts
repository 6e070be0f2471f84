/** Parses the objects in one file of a folder. Pure. */
import { InvalidObjectError } from '../../api/fault.ts';
import { parseEdgeStrictly, parseExposureStrictly } from '../../api/objects.ts';
import { keyText, type KubeObject, type ObjectMeta } from '../../kube/object.ts';
import {
  manifestParts,
  locationOf,
  locationOfKey,
  type ManifestPart,
  type SourceLocation,
  type TextFile,
} from '../../manifests/manifest-parts.ts';
import { faultIn, type FolderFault } from './fault.ts';
import { folderFaults } from './rules.ts';
import { parseSecret } from './secret.ts';

/** An object and its position. */
export interface FileObject {
  readonly object: KubeObject;
  readonly location: SourceLocation;
  /** For a Secret, the entries that come from other files, and where each path is written. */
  readonly files: ReadonlyMap<string, { readonly path: string; readonly location: SourceLocation }>;
}

/** The content of one file. If there is a fault, none of its objects is applied. */
export interface FileReading {
  readonly objects: readonly FileObject[];
  readonly faults: readonly FolderFault[];
}

/** Namespace of objects that set none. */
export const DEFAULT_NAMESPACE = 'default';

/** Enough for a thousand Exposures with their Secrets. A certificate is one token. */
const BOUNDS = { tokens: 250_000, documents: 10_000 };

/** Maximum number of reported faults per file. It keeps the log short if the folder contains an unrelated file. */
export const MAX_FAULTS = 20;

/** Returns the objects and faults in a file. */
export function fileObjects(file: TextFile): FileReading {
  const { parts, faults: syntax } = manifestParts(file, BOUNDS);
  const faults = syntax
    .slice(0, MAX_FAULTS)
    .map(({ location, sentence }) => faultIn(file.text, location, sentence));
  const objects: FileObject[] = [];
  const locations = new Map<string, SourceLocation>();
  for (const part of parts) {
    if (faults.length >= MAX_FAULTS) break;
    const fault = (sentence: string, location = locationOf(part)) =>
      faults.push(faultIn(file.text, location, sentence));
    const named = namedIn(part.value);
    if (named === undefined) {
      fault(
        isKubeconfig(part.value)
          ? 'this is a kubeconfig, not an object; rename the file, for example to .conf, and reference it in files of a Secret'
          : 'not an object; set apiVersion, kind and metadata.name',
      );
      continue;
    }
    const { title, identity } = named;
    const duplicate = locations.get(identity);
    if (duplicate !== undefined) {
      fault(`${title} is already defined in line ${duplicate.line}; remove one of them`);
      continue;
    }
    locations.set(identity, locationOf(part));
    try {
      objects.push(objectIn(part, named.value, title));
    } catch (error) {
      if (!(error instanceof InvalidObjectError)) throw error;
      for (const { path, sentence, unknownField } of error.faults.slice(
        0,
        MAX_FAULTS - faults.length,
      )) {
        fault(
          `${title}: ${path === '' ? sentence : `${path}: ${sentence}`}`,
          unknownField === undefined
            ? locationOf(part, path)
            : locationOfKey(part, path, unknownField),
        );
      }
    }
  }
  return { objects, faults };
}

/** Returns the identity of an object: objects with equal identities are the same object. */
export function identityOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${keyText(metadata)}`;
}

function isKubeconfig(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'clusters' in value && 'users' in value;
}

interface Named {
  readonly value: KubeObject;
  /** The object in messages. */
  readonly title: string;
  readonly identity: string;
}

/** Returns the object with the default namespace, as an API server would. */
function namedIn(value: unknown): Named | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { apiVersion, kind, metadata } = value as Partial<KubeObject>;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  if (typeof metadata?.name !== 'string') return undefined;
  const { namespace = DEFAULT_NAMESPACE, ...rest } = metadata;
  const full = {
    ...value,
    apiVersion,
    kind,
    metadata: kind === 'Edge' ? metadata : { ...rest, namespace },
  };
  const identity = identityOf(full);
  return { value: full, title: identity, identity };
}

/** Validates and parses an object. @throws InvalidObjectError */
function objectIn(part: ManifestPart, value: KubeObject, title: string): FileObject {
  const faults = folderFaults(value);
  if (faults.length > 0) throw new InvalidObjectError(title, faults);
  const location = locationOf(part);
  if (value.kind === 'Secret') {
    const { secret, files } = parseSecret(value, title);
    const named = [...files].map(
      ([entry, path]): [string, { path: string; location: SourceLocation }] => [
        entry,
        { path, location: locationOf(part, `files[${JSON.stringify(entry)}]`) },
      ],
    );
    return { object: { ...secret, ...written(secret) }, location, files: new Map(named) };
  }
  const object = value.kind === 'Edge' ? parseEdgeStrictly(value) : parseExposureStrictly(value);
  const { apiVersion, kind, spec } = object;
  const clean = { apiVersion, kind, ...written(object), spec };
  return { object: clean, location, files: new Map() };
}

/**
 * Returns the metadata that users write. An object copied from a cluster also has metadata of the server, which is
 * dropped.
 */
function written({ metadata }: KubeObject): { readonly metadata: ObjectMeta } {
  const { name, namespace, labels, annotations } = metadata;
  return {
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
    },
  };
}
