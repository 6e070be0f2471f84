/**
 * Reads Kubernetes objects from files, as kubectl does. Errors have file and line.
 */
import { InvalidObjectError, type Fault } from '../../api/fault.ts';
import { metadataFaults } from '../../api/object-metadata.ts';
import { parseEdgeStrictly, parseExposureStrictly, withoutNulls } from '../../api/objects.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import {
  manifestParts,
  locationOf,
  locationOfKey,
  locationText,
  type ManifestPart,
  type TextFile,
} from '../../manifests/manifest-parts.ts';
import { versionsOf, WATCHED_RESOURCES } from '../../providers/provider-resources.ts';

/** The objects and errors of files. */
interface ObjectFiles {
  readonly objects: readonly KubeObject[];
  /** The errors, each with its source location: `edges.yaml:12:9: Edge shared: spec.port: ...`. */
  readonly faults: readonly string[];
}

const NAMESPACED = new Map(
  [...Object.values(RESOURCES), ...WATCHED_RESOURCES.flatMap(versionsOf)].map(
    ({ apiVersion, kind, namespaced }) => [`${apiVersion} ${kind}`, namespaced],
  ),
);

/** Returns the objects in files. Those that need a namespace and do not specify one are in `namespace`. */
export function readObjects(files: readonly TextFile[], namespace: string): ObjectFiles {
  const objects = new Map<string, { readonly object: KubeObject; readonly location: string }>();
  const faults: string[] = [];
  const parts = files.flatMap((file) => {
    const read = manifestParts(file);
    faults.push(
      ...read.faults.map(({ location, sentence }) => `${locationText(location)}: ${sentence}`),
    );
    return read.parts;
  });
  for (const part of parts) {
    const location = locationText(locationOf(part));
    const object = objectIn(withoutNulls(part.value), namespace);
    if (object === undefined) {
      faults.push(`${location}: not a Kubernetes object; set apiVersion, kind and metadata.name`);
      continue;
    }
    const identity = `${object.apiVersion} ${objectText(object)}`;
    const twin = objects.get(identity);
    if (twin !== undefined) {
      faults.push(
        `${location}: ${objectText(object)} is also defined at ${twin.location}; remove one`,
      );
      continue;
    }
    objects.set(identity, { object, location });
    faults.push(...faultsIn(object, part));
  }
  return { objects: [...objects.values()].map(({ object }) => object), faults };
}

function objectIn(value: unknown, namespace: string): KubeObject | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { apiVersion, kind, metadata } = value as Partial<KubeObject>;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  if (typeof metadata?.name !== 'string') return undefined;
  const object = { ...(kind === 'Secret' ? withData(value) : value), apiVersion, kind, metadata };
  const needsOne = NAMESPACED.get(`${apiVersion} ${kind}`) === true;
  return needsOne && metadata.namespace === undefined
    ? { ...object, metadata: { ...metadata, namespace } }
    : object;
}

/** Returns a Secret with `stringData` merged into `data`, as the API server does. */
function withData(secret: object): object {
  const { data, stringData, ...rest } = secret as {
    readonly data?: Readonly<Record<string, string>> | null;
    readonly stringData?: Readonly<Record<string, unknown>> | null;
  };
  const all: Record<string, string> = { ...data };
  for (const [name, text] of Object.entries(stringData ?? {})) {
    all[name] = Buffer.from(String(text)).toString('base64');
  }
  return { ...rest, data: all };
}

/** Returns the errors of an object in the words of the API server, with source locations. */
function faultsIn(object: KubeObject, part: ManifestPart): readonly string[] {
  const faults = [...metadataFaults(object), ...faultsOfKind(object)];
  const texts = faults.map(({ path, sentence, unknownField }) => {
    const what = path === '' ? sentence : `${path}: ${sentence}`;
    const location =
      unknownField === undefined ? locationOf(part, path) : locationOfKey(part, path, unknownField);
    return `${locationText(location)}: ${object.kind} ${keyText(object.metadata)}: ${what}`;
  });
  // Removes duplicates: labels and annotations of Snicket's own kinds are validated twice.
  return [...new Set(texts)];
}

function faultsOfKind(object: KubeObject): readonly Fault[] {
  const parse = { Edge: parseEdgeStrictly, Exposure: parseExposureStrictly }[object.kind];
  if (parse === undefined || !object.apiVersion.startsWith('snicket.dev/')) return [];
  try {
    parse(object);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidObjectError)) throw error;
    return error.faults;
  }
}
