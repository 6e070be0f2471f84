/**
 * Runs the program of a kubeconfig that prints credentials, as cloud providers have them.
 *
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 */
import { z } from 'zod';
import type { Clock } from '../../clock/clock.ts';
import { isSendable, UNSENDABLE } from './bearer-token.ts';
import type { ClusterAccess, ExecPlugin } from './cluster-access.ts';

/** What such a program prints. */
export interface ExecCredential {
  readonly token: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** By the calendar; undefined if they are good for as long as this process lives. */
  readonly expiresAtMs: number | undefined;
}

/** No program came up with credentials. The message names the program, never what it printed as credentials. */
export class ExecPluginError extends Error {
  override readonly name = 'ExecPluginError';
}

/** A program that asks over the network may take a while; longer than this it hangs. */
export const EXEC_LIMIT_MS = 60_000;

const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_COMPLAINT_LENGTH = 300;

const credentialSchema = z.object({
  apiVersion: z.string(),
  kind: z.literal('ExecCredential'),
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.iso.datetime({ offset: true }).nullish(),
  }),
});

/** Runs it once, with no terminal. @throws ExecPluginError */
export async function runExecPlugin(
  plugin: ExecPlugin,
  access: ClusterAccess,
  clock: Clock,
): Promise<ExecCredential> {
  const command = [plugin.command, ...plugin.args];
  let child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>;
  try {
    child = Bun.spawn(command, {
      env: {
        ...process.env,
        ...plugin.env,
        KUBERNETES_EXEC_INFO: JSON.stringify(execInfo(plugin, access)),
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      maxBuffer: MAX_OUTPUT_BYTES,
      killSignal: 'SIGKILL',
    });
  } catch (error) {
    const hint = plugin.installHint === undefined ? '' : `: ${plugin.installHint.trim()}`;
    throw new ExecPluginError(`${plugin.command} cannot be run${hint}`, { cause: error });
  }
  const [exitCode, output, complaint] = await Promise.race([
    Promise.all([child.exited, child.stdout.text(), child.stderr.text()]),
    killedAfter(EXEC_LIMIT_MS, child, plugin, clock),
  ]);
  if (exitCode !== 0) {
    throw new ExecPluginError(
      `${plugin.command} ended with ${child.signalCode ?? exitCode}: ${complaint.trim().slice(-MAX_COMPLAINT_LENGTH) || 'it said nothing'}`,
    );
  }
  return credentialIn(output, plugin);
}

/** Never resolves: rejects when it is time. A child of the child may hold the pipes open, so nobody waits for those. */
async function killedAfter(
  limitMs: number,
  child: Bun.Subprocess,
  plugin: ExecPlugin,
  clock: Clock,
): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = clock.every(limitMs, () => {
      stop();
      child.kill('SIGKILL');
      reject(new ExecPluginError(`${plugin.command} took longer than ${limitMs / 1000} s`));
    });
    void child.exited.then(stop);
  });
}

/** What $KUBERNETES_EXEC_INFO says. */
function execInfo(plugin: ExecPlugin, access: ClusterAccess): unknown {
  const cluster = {
    server: access.server,
    'tls-server-name': access.serverName,
    'certificate-authority-data':
      access.ca === undefined ? undefined : Buffer.from(access.ca).toString('base64'),
    config: plugin.clusterConfig,
  };
  return {
    apiVersion: plugin.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(plugin.provideClusterInfo ? { cluster } : {}) },
  };
}

function credentialIn(output: string, plugin: ExecPlugin): ExecCredential {
  const parsed = credentialSchema.safeParse(parsedJson(output));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ExecPluginError(
      `${plugin.command} printed no ExecCredential: ${issue?.path.join('.')} ${issue?.message}`,
    );
  }
  const { apiVersion, status } = parsed.data;
  if (apiVersion !== plugin.apiVersion) {
    throw new ExecPluginError(
      `${plugin.command} speaks ${apiVersion}, the kubeconfig ${plugin.apiVersion}; make the two the same`,
    );
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  if ((cert === undefined) !== (key === undefined)) {
    throw new ExecPluginError(`${plugin.command} printed one of certificate and key; both belong`);
  }
  if (!token && cert === undefined) {
    throw new ExecPluginError(`${plugin.command} printed neither a token nor a certificate`);
  }
  if (token && !isSendable(token)) {
    throw new ExecPluginError(`${plugin.command} printed ${UNSENDABLE}`);
  }
  return {
    token: token || undefined,
    cert,
    key,
    expiresAtMs: expirationTimestamp ? Date.parse(expirationTimestamp) : undefined,
  };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser would quote the text, which may be a token.
    return undefined;
  }
}
