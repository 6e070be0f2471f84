/** Formats objects as table rows, because kubectl prints the columns that the server returns. */
import { isObject, objectIn, type JsonObject } from '../../src/kube/store/json.ts';

/** Reports whether a client accepts a table, which is kubectl's first choice. */
export function wantsTable(accept: string): boolean {
  return accept.split(',').some((type) => /;as=Table(;|$)/.test(type) && /;v=v1(;|$)/.test(type));
}

interface Column {
  readonly name: string;
  readonly cell: (object: JsonObject) => string;
}

const NAME: Column = { name: 'Name', cell: (object) => textIn(object, 'metadata', 'name') };
const AGE: Column = {
  name: 'Age',
  cell: (object) => ageText(textIn(object, 'metadata', 'creationTimestamp')),
};

/** Columns between name and age. */
const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  Namespace: [{ name: 'Status', cell: () => 'Active' }],
  Service: [
    { name: 'Type', cell: (service) => textIn(service, 'spec', 'type') },
    { name: 'Cluster-IP', cell: (service) => textIn(service, 'spec', 'clusterIP') },
  ],
  DaemonSet: [
    { name: 'Desired', cell: (set) => textIn(set, 'status', 'desiredNumberScheduled') },
    { name: 'Ready', cell: (set) => textIn(set, 'status', 'numberReady') },
  ],
  EndpointSlice: [
    { name: 'AddressType', cell: (slice) => textIn(slice, 'addressType') },
    { name: 'Ports', cell: (slice) => textsIn(slice['ports'], 'port') },
    { name: 'Endpoints', cell: (slice) => textsIn(slice['endpoints'], 'addresses', '0') },
  ],
};

/** Returns a list or a single object of a kind as a table. */
export function tableOf(kind: string, body: JsonObject): JsonObject {
  const columns = [NAME, ...(COLUMNS[kind] ?? []), AGE];
  const objects = Array.isArray(body['items']) ? body['items'].filter(isObject) : [body];
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: objectIn(body, 'metadata')['resourceVersion'] },
    columnDefinitions: columns.map(({ name }) => ({
      name,
      type: 'string',
      format: name === NAME.name ? 'name' : '',
      description: '',
      priority: 0,
    })),
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object)),
      object: {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: object['metadata'],
      },
    })),
  };
}

/** Formats an age as kubectl does, in its largest unit. */
export function ageText(createdAt: string, now = Date.now()): string {
  const seconds = Math.round((now - Date.parse(createdAt)) / 1000);
  if (!Number.isFinite(seconds)) return '<unknown>';
  if (seconds < 120) return `${Math.max(0, seconds)}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 180 ? `${minutes}m` : `${Math.floor(minutes / 60)}h`;
}

/** Returns the text or number at a path of an object. */
function textIn(value: unknown, ...path: readonly string[]): string {
  const found = path.reduce<unknown>(
    (at, field) => (typeof at === 'object' && at !== null ? Reflect.get(at, field) : undefined),
    value,
  );
  return typeof found === 'string' || typeof found === 'number' ? String(found) : '<none>';
}

function textsIn(list: unknown, ...path: readonly string[]): string {
  if (!Array.isArray(list) || list.length === 0) return '<none>';
  return list.map((item: unknown) => textIn(item, ...path)).join();
}
