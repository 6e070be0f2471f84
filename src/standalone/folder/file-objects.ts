/**
 * The objects in the text of one file of a folder. Pure.
 */
import { InvalidObjectError } from '../../api/fault.ts';
import { parseEdgeStrictly, parseExposureStrictly } from '../../api/objects.ts';
import { keyText, type KubeObject, type ObjectMeta } from '../../kube/object.ts';
import {
  manifestParts,
  placeOf,
  placeOfName,
  type ManifestPart,
  type Place,
  type TextFile,
} from '../../manifests/manifest-parts.ts';
import { faultIn, type FolderFault } from './fault.ts';
import { folderFaults } from './rules.ts';
import { parseSecret } from './secret.ts';

/** An object and where it is written. */
export interface FileObject {
  readonly object: KubeObject;
  readonly place: Place;
  /** Of a Secret: the entries that are other files, with where each is named. */
  readonly files: ReadonlyMap<string, { readonly path: string; readonly place: Place }>;
}

/** What one file says. With a fault in it, nothing that it says is in force. */
export interface FileReading {
  readonly objects: readonly FileObject[];
  readonly faults: readonly FolderFault[];
}

/** The namespace of those that name none. */
export const DEFAULT_NAMESPACE = 'default';

/** Room for a thousand Exposures with their Secrets, in which a certificate is one token. */
const BOUNDS = { tokens: 250_000, documents: 10_000 };

/** So many are told of one file. Whoever puts a file of something else into the folder gets no log of thousands. */
export const MAX_FAULTS = 20;

/** Reads a text. */
export function fileObjects(file: TextFile): FileReading {
  const { parts, faults: syntax } = manifestParts(file, BOUNDS);
  const faults = syntax
    .slice(0, MAX_FAULTS)
    .map(({ place, sentence }) => faultIn(file.text, place, sentence));
  const objects: FileObject[] = [];
  const seen = new Map<string, Place>();
  for (const part of parts) {
    if (faults.length >= MAX_FAULTS) break;
    const fault = (sentence: string, place = placeOf(part)) =>
      faults.push(faultIn(file.text, place, sentence));
    const named = namedIn(part.value);
    if (named === undefined) {
      fault(
        isKubeconfig(part.value)
          ? 'a kubeconfig, and no object; give the file another ending, such as .conf, and name it in files of a Secret'
          : 'no object; write apiVersion, kind and metadata.name',
      );
      continue;
    }
    const { title, identity } = named;
    const twin = seen.get(identity);
    if (twin !== undefined) {
      fault(`${title} is in line ${twin.line} too; remove one`);
      continue;
    }
    seen.set(identity, placeOf(part));
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
          unknownField === undefined ? placeOf(part, path) : placeOfName(part, path, unknownField),
        );
      }
    }
  }
  return { objects, faults };
}

/** Which object is meant: two with the same identity are one. */
export function identityOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${keyText(metadata)}`;
}

function isKubeconfig(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'clusters' in value && 'users' in value;
}

interface Named {
  readonly value: KubeObject;
  /** As messages name it. */
  readonly title: string;
  readonly identity: string;
}

/** With what a cluster would fill in before it looks. */
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

/** @throws InvalidObjectError */
function objectIn(part: ManifestPart, value: KubeObject, title: string): FileObject {
  const faults = folderFaults(value);
  if (faults.length > 0) throw new InvalidObjectError(title, faults);
  const place = placeOf(part);
  if (value.kind === 'Secret') {
    const { secret, files } = parseSecret(value, title);
    const named = [...files].map(([entry, path]): [string, { path: string; place: Place }] => [
      entry,
      { path, place: placeOf(part, `files[${JSON.stringify(entry)}]`) },
    ]);
    return { object: { ...secret, ...written(secret) }, place, files: new Map(named) };
  }
  const object = value.kind === 'Edge' ? parseEdgeStrictly(value) : parseExposureStrictly(value);
  const { apiVersion, kind, spec } = object;
  const clean = { apiVersion, kind, ...written(object), spec };
  return { object: clean, place, files: new Map() };
}

/** What a person writes of the metadata; what a server once gave it, in a copy of an object of a cluster, means nothing here. */
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
