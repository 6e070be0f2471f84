/**
 * Reads the objects that all providers create: a Service, a Secret with the CA, and a Secret with a kubeconfig.
 */
import { keyText, objectText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import type { ControlPlane } from '../../plan/control-plane.ts';
import type { Finding } from '../../api/finding.ts';
import type { FindingCode } from '../../api/finding-codes/catalog.ts';
import type {
  ControlPlaneObjects,
  ControlPlaneReading,
  ProvidedFacts,
  Service,
} from './control-plane-reading.ts';
import { serverIn, withServer } from './kubeconfig-server.ts';
import {
  entryMissing,
  readAuthority,
  textIn,
  type AuthorityKeys,
  type SecretRemedy,
} from './secret-reading.ts';
import { serviceAddresses, tcpPorts } from './service-reading.ts';
import { sentence } from '../../text/sentence.ts';

/** The names of the objects that a provider creates for a control plane. */
export interface ProvidedNames {
  /** The name of the provider in messages. */
  readonly displayName: string;
  /** The namespace of all these objects: that of the provider's object. */
  readonly namespace: string | undefined;
  readonly service: string;
  /** The port names of the Service. */
  readonly portNames: { readonly api: string; readonly konnectivity: string };
  /** The expected ports, for plans without access to the Service. If the Service exists, its ports are used. */
  readonly ports: { readonly api: number; readonly konnectivity: number };
  readonly ca: { readonly name: string } & AuthorityKeys;
  readonly kubeconfig: {
    readonly name: string;
    /** The keys to try, the preferred one first. */
    readonly entries: readonly string[];
    /** The key of the kubeconfig with the public server. Default: the one in use. */
    readonly publicEntry?: string;
  };
}

/** The facts from the provider's object alone. */
export type KnownFacts = Omit<ProvidedFacts, 'publishedServer' | 'names'>;

/** Reads these three objects. @throws the errors of reading objects */
export async function readProvided(
  object: KubeObject,
  names: ProvidedNames,
  facts: KnownFacts,
  objects: ControlPlaneObjects,
): Promise<ControlPlaneReading> {
  const at = (name: string): ObjectKey => ({ name, namespace: names.namespace });
  const live = objects.service(at(names.service));
  const remedy = remedyOf(object, names.displayName, facts);
  const route = routeOf(live, at(names.service), names, facts, remedy);
  const ca = await readAuthority(at(names.ca.name), names.ca, objects, remedy);
  const port = route.service?.api.port;
  const server =
    port === undefined ? undefined : `https://${names.service}.${names.namespace}.svc:${port}`;
  const kubeconfig = await readKubeconfig(
    at(names.kubeconfig.name),
    names,
    server,
    objects,
    remedy,
  );
  return {
    controlPlane: route.service && {
      service: route.service,
      ca: ca.value,
      ingress: facts.ingress,
    },
    kubeconfig: kubeconfig.text,
    addresses: live === undefined || port === undefined ? [] : serviceAddresses(live, port),
    findings: [
      ...route.findings,
      ...(ca.finding === undefined ? [] : [ca.finding]),
      ...(ca.value !== undefined && ca.value.key === undefined ? [keyMissing(names)] : []),
      ...kubeconfig.findings,
    ],
    provided: { ...facts, names, publishedServer: kubeconfig.publishedServer },
  };
}

function routeOf(
  live: Service | undefined,
  key: ObjectKey,
  { portNames, displayName }: ProvidedNames,
  { hasKonnectivity }: Pick<ProvidedFacts, 'hasKonnectivity'>,
  remedy: SecretRemedy,
): { readonly service?: ControlPlane['service']; readonly findings: readonly Finding[] } {
  if (live === undefined) {
    const message = `${displayName} has not created Service ${keyText(key)}.`;
    return {
      findings: [{ code: 'ServiceMissing', severity: 'error', message, action: remedy.secret }],
    };
  }
  const ports = tcpPorts(live);
  const present = ports.map(({ port, portName }) => `${portName} ${port}`).join(', ') || 'none';
  const lacks = (name: string): Finding => ({
    code: 'ServiceInvalid',
    severity: 'error',
    message: `Service ${keyText(key)} has no port '${name}' (it has ${present}).`,
    action: remedy.entry,
  });
  const api = ports.find(({ portName }) => portName === portNames.api);
  if (api === undefined) return { findings: [lacks(portNames.api)] };
  const konnectivity = hasKonnectivity
    ? ports.find(({ portName }) => portName === portNames.konnectivity)
    : undefined;
  return {
    service: { name: key.name, api, konnectivity },
    findings: hasKonnectivity && konnectivity === undefined ? [lacks(portNames.konnectivity)] : [],
  };
}

interface KubeconfigFound {
  readonly text?: string;
  readonly publishedServer?: string | undefined;
  readonly findings: readonly Finding[];
}

async function readKubeconfig(
  key: ObjectKey,
  { kubeconfig: { entries, publicEntry } }: ProvidedNames,
  server: string | undefined,
  objects: ControlPlaneObjects,
  remedy: SecretRemedy,
): Promise<KubeconfigFound> {
  const secret = await objects.secret(key);
  const lacks = (code: FindingCode, message: string, action: string): KubeconfigFound => ({
    findings: [{ code, severity: 'error', message, action }],
  });
  if (secret === undefined) {
    return lacks('SecretMissing', `Secret ${keyText(key)} does not exist.`, remedy.secret);
  }
  const [entry] = entries.filter((candidate) => textIn(secret, candidate) !== undefined);
  const text = entry === undefined ? undefined : textIn(secret, entry);
  if (entry === undefined || text === undefined) {
    const expected =
      entries.find((candidate) => secret.data?.[candidate] === '') ?? entries[0] ?? '';
    return lacks('SecretInvalid', entryMissing(key, expected, secret), remedy.entry);
  }
  const aimed = server === undefined || secret.isAssumed === true ? text : withServer(text, server);
  if (aimed === undefined) {
    const message = `Entry '${entry}' of Secret ${keyText(key)} is not a kubeconfig.`;
    return lacks('KubeconfigInvalid', message, remedy.entry);
  }
  const published = textIn(secret, publicEntry ?? entry);
  const publishedServer = published === undefined ? undefined : serverIn(published);
  return { text: aimed, publishedServer, findings: [] };
}

/** Returns the actions for findings. The provider creates these objects, so the user can only check that it does. */
function remedyOf(
  object: KubeObject,
  displayName: string,
  { phase, phaseReason }: Pick<ProvidedFacts, 'phase' | 'phaseReason'>,
): SecretRemedy {
  const look = `check the status of ${objectText(object)} and the log of ${displayName}`;
  return {
    secret:
      phase === 'provisioning'
        ? `Wait for ${displayName} (${phaseReason}). If this persists, ${look}.`
        : sentence(`${look}: ${phaseReason}`),
    entry: sentence(`${look}: ${phaseReason}`),
  };
}

function keyMissing({ ca, namespace, displayName }: ProvidedNames): Finding {
  return {
    code: 'CaKeyMissing',
    severity: 'warning',
    message: `Secret ${keyText({ name: ca.name, namespace })} has the certificate of the CA but no '${ca.privateKeyKey}'. The key may be stored outside of ${displayName}.`,
    action: 'Add the key to the Secret, or use worker.mode Passthrough, which does not need it.',
  };
}
