/**
 * The credentials of a tenant's proxies: a certificate that the tenant's CA signs, with renewal, or a key that is derived from
 * the gateway's keys.
 */
import { X509Certificate } from 'node:crypto';
import type { ExposureStatus, WorkerMode } from '../../api/exposure.ts';
import type { KubeObject } from '../../kube/object.ts';
import { caFingerprint } from '../../pki/fingerprint.ts';
import { issueLeaf, type Leaf } from '../../pki/leaf.ts';
import { PkiError } from '../../pki/pki-error.ts';
import { reasonToReissue, renewalTime } from '../../pki/renewal.ts';
import type { AuthorityFiles } from '../../plan/control-plane.ts';
import type { ProxyCredentials, TenantFacts } from '../../tenant/tenant-facts.ts';
import type { Finding } from '../../api/finding.ts';
import { leafNames } from '../../plan/leaf-names.ts';
import { PROXY_FILES } from '../../tenant/proxy-names.ts';
import { KeyFileError } from '../../wire/master-keys.ts';
import type { MasterKeys } from '../../management/master-keys.ts';
import { sentence } from '../../text/sentence.ts';

/** The input of {@link credentialsFor}. */
export interface CredentialsInput {
  readonly mode: WorkerMode;
  readonly apiHost: string;
  readonly ca: AuthorityFiles | undefined;
  readonly tenant: TenantFacts;
  /** The live Secret of the proxies. */
  readonly secret: KubeObject | undefined;
  readonly masterKeys: () => Promise<MasterKeys>;
  readonly now: Date;
}

/** The credentials, or why there are none. */
export interface CredentialsFound {
  readonly credentials?: ProxyCredentials | undefined;
  readonly certificate?: ExposureStatus['certificate'];
  readonly finding?: Finding | undefined;
  /** Why a new certificate was issued. */
  readonly reissued?: string | undefined;
}

/** The credentials of a tenant's proxies: the existing ones if they are still valid, otherwise new ones. */
export async function credentialsFor(input: CredentialsInput): Promise<CredentialsFound> {
  if (input.mode === 'Passthrough') {
    const keys = await keysOrFinding(input.masterKeys);
    if ('code' in keys) return { finding: keys };
    return { credentials: { tenantKey: `${keys.tenantKey(input.apiHost)}\n` } };
  }
  const { ca, tenant, now } = input;
  if (ca?.key === undefined) return {}; // a finding of the plan
  const authority = { certificate: ca.certificate, key: ca.key };
  const { names, addresses } = leafNames(tenant);
  const present = leafIn(input.secret);
  try {
    const reason = reasonToReissue(
      {
        names,
        addresses,
        ca: authority,
        certificate: present?.certificate,
        key: present?.key,
      },
      now,
    );
    const leaf =
      reason === undefined && present !== undefined
        ? present
        : await issueLeaf({ ca: authority, names, addresses, now });
    return {
      credentials: leaf,
      certificate: certificateStatus(leaf, ca.certificate),
      reissued: reason?.message,
    };
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    return { finding: error.finding };
  }
}

/** The gateway's keys, or what is wrong with their Secret. @throws KubeError */
async function keysOrFinding(read: () => Promise<MasterKeys>): Promise<MasterKeys | Finding> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error;
    const message = sentence(error.message);
    return {
      code: 'SecretInvalid',
      severity: 'error',
      message,
      action: 'Correct the Secret.',
    };
  }
}

function leafIn(secret: KubeObject | undefined): Leaf | undefined {
  const { data = {} } = (secret ?? {}) as { data?: Readonly<Record<string, string>> };
  const text = (name: string) => Buffer.from(data[name] ?? '', 'base64').toString();
  const certificate = text(PROXY_FILES.certificate);
  const key = text(PROXY_FILES.key);
  return certificate === '' || key === '' ? undefined : { certificate, key };
}

function certificateStatus(leaf: Leaf, ca: string): ExposureStatus['certificate'] {
  const { validFrom, validTo } = new X509Certificate(leaf.certificate);
  const validity = { notBefore: new Date(validFrom), notAfter: new Date(validTo) };
  return {
    notAfter: seconds(validity.notAfter),
    renewAt: seconds(renewalTime(validity)),
    authority: caFingerprint(ca),
  };
}

function seconds(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
