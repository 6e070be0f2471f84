/**
 * The plain provider: a kube-apiserver behind a Service, or at fixed addresses, with all that has to be known of it
 * given by the user.
 */
import type { Exposure } from '../api/exposure.ts';
import type { KubeObject, ObjectKey } from '../kube/object.ts';
import type { AuthorityFiles, ControlPlane, ServicePort } from '../plan/control-plane.ts';
import type { Finding } from '../plan/finding.ts';
import { fixedService } from '../plan/fixed-service.ts';
import { certificatesIn } from './authority-certificates.ts';

/** As much of a Service as is needed. */
export interface Service extends KubeObject {
  readonly spec?: {
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly ports?: readonly {
      readonly name?: string;
      readonly port: number;
      /** Absent: TCP. */
      readonly protocol?: string;
    }[];
  };
  /** Where its load balancer is, if it has one. */
  readonly status?: { readonly loadBalancer?: unknown };
}

/** As much of a Secret as is needed; the values are base64. */
export interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  /** Made up to show a plan, with placeholders for values. No API server keeps such a field. */
  readonly isAssumed?: boolean;
}

/** The objects that a provider may look at. */
export interface ControlPlaneObjects {
  readonly service: (key: ObjectKey) => Service | undefined;
  readonly secret: (key: ObjectKey) => Promise<Secret | undefined>;
}

/** What was found, as far as it goes. */
export interface ControlPlaneReading {
  /** Absent while not even a route can be. */
  readonly controlPlane?: ControlPlane | undefined;
  /** Text of an administrator's kubeconfig. */
  readonly kubeconfig?: string | undefined;
  /** Where the API server is dialled, as `host:port`: never through the edge. The first one that answers. */
  readonly addresses: readonly string[];
  /** What is missing or wrong. */
  readonly findings: readonly Finding[];
}

/** Reads the control plane that the Exposure names by Service or by endpoints. */
export async function readPlain(
  { metadata, spec }: Exposure,
  objects: ControlPlaneObjects,
): Promise<ControlPlaneReading> {
  const { namespace } = metadata;
  const { controlPlane } = spec;
  const findings: Finding[] = [];
  const note = (finding: Finding | undefined) => {
    if (finding !== undefined) findings.push(finding);
  };
  const { service, endpoints, caSecret, kubeconfigSecret } = controlPlane;
  const at = (name: string): ObjectKey => ({ name, namespace });

  let found: Pick<ControlPlane, 'service'> | undefined;
  let addresses: readonly string[] = [];
  if (service !== undefined) {
    const live = objects.service(at(service.name));
    const reading = portsOf(live, service.name, service, metadata.namespace ?? '');
    note(reading.finding);
    if (reading.service !== undefined) found = { service: reading.service };
    if (live !== undefined && reading.service !== undefined) {
      addresses = serviceAddresses(live).map((ip) => hostPort(ip, service.apiPort));
    }
  } else if (endpoints !== undefined) {
    found = { service: fixedService(metadata.name, endpoints) };
    addresses = endpoints.api;
  }

  const ca = caSecret && (await readAuthority(at(caSecret.name), caSecret, objects));
  note(ca?.finding);
  const kubeconfig =
    kubeconfigSecret && (await readText(at(kubeconfigSecret.name), kubeconfigSecret.key, objects));
  note(kubeconfig?.finding);
  return {
    controlPlane: found === undefined ? undefined : { ...found, ca: ca?.value },
    kubeconfig: kubeconfig?.value,
    addresses,
    findings,
  };
}

interface Reading<T> {
  readonly value?: T;
  readonly finding?: Finding;
}

function portsOf(
  live: Service | undefined,
  name: string,
  wish: { readonly apiPort: number; readonly konnectivityPort?: number | undefined },
  namespace: string,
): { readonly service?: ControlPlane['service']; readonly finding?: Finding } {
  if (live === undefined) {
    return {
      finding: missing(
        'ServiceMissing',
        `there is no Service ${namespace}/${name}`,
        'create it, or correct spec.controlPlane.service.name',
      ),
    };
  }
  const ports = (live.spec?.ports ?? []).filter(({ protocol = 'TCP' }) => protocol === 'TCP');
  const named = (port: number): ServicePort | undefined => {
    const match = ports.find((candidate) => candidate.port === port);
    return match && { port, portName: match.name ?? '' };
  };
  const api = named(wish.apiPort);
  const konnectivity =
    wish.konnectivityPort === undefined ? undefined : named(wish.konnectivityPort);
  const present = ports.map(({ port }) => port).join(', ') || 'none';
  const lacks = (port: number, field: string) =>
    missing(
      'ServicePortMissing',
      `Service ${namespace}/${name} has no port ${port} (it has ${present})`,
      `add the port, or correct spec.controlPlane.service.${field}`,
    );
  if (api === undefined) return { finding: lacks(wish.apiPort, 'apiPort') };
  const service = { name, api, konnectivity };
  if (wish.konnectivityPort !== undefined && konnectivity === undefined) {
    return { service, finding: lacks(wish.konnectivityPort, 'konnectivityPort') };
  }
  return { service };
}

/** The addresses that are dialled; a headless Service has none of its own. */
function serviceAddresses({ spec }: Service): readonly string[] {
  const all = spec?.clusterIPs ?? (spec?.clusterIP === undefined ? [] : [spec.clusterIP]);
  return all.filter((ip) => ip !== '' && ip !== 'None');
}

function hostPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

async function readAuthority(
  key: ObjectKey,
  keys: { readonly certificateKey: string; readonly privateKeyKey: string },
  objects: ControlPlaneObjects,
): Promise<Reading<AuthorityFiles>> {
  const secret = await objects.secret(key);
  const entry = secret?.data?.[keys.certificateKey];
  if (entry === undefined) return { finding: secretMissing(key, keys.certificateKey, secret) };
  const text = Buffer.from(entry, 'base64').toString();
  const certificate = secret?.isAssumed === true ? text : certificatesIn(text);
  if (certificate === undefined) return { finding: unreadable(key, keys.certificateKey) };
  const privateKey = textIn(secret, keys.privateKeyKey);
  return { value: { certificate, key: privateKey } };
}

async function readText(
  key: ObjectKey,
  entry: string,
  objects: ControlPlaneObjects,
): Promise<Reading<string>> {
  const secret = await objects.secret(key);
  const value = textIn(secret, entry);
  return value === undefined ? { finding: secretMissing(key, entry, secret) } : { value };
}

function textIn(secret: Secret | undefined, entry: string): string | undefined {
  const value = secret?.data?.[entry];
  return value === undefined || value === '' ? undefined : Buffer.from(value, 'base64').toString();
}

function secretMissing({ name, namespace }: ObjectKey, entry: string, secret?: Secret): Finding {
  const entries = Object.keys(secret?.data ?? {}).join(', ') || 'none';
  return secret === undefined
    ? missing(
        'SecretMissing',
        `there is no Secret ${namespace}/${name}`,
        'create it, or correct its name in spec.controlPlane',
      )
    : missing(
        'SecretEntryMissing',
        `Secret ${namespace}/${name} has no entry '${entry}' (it has ${entries})`,
        'add the entry, or correct its name in spec.controlPlane',
      );
}

/** Whatever it is, it may be a key: nothing of it is quoted. */
function unreadable({ name, namespace }: ObjectKey, entry: string): Finding {
  return missing(
    'CaCertificateUnreadable',
    `entry '${entry}' of Secret ${namespace}/${name} holds no certificate that can be read, or too many`,
    'put the certificate of the CA there, as PEM (at most 16, and 64 KB of text)',
  );
}

function missing(code: string, message: string, action: string): Finding {
  return { code, severity: 'error', message, action };
}
