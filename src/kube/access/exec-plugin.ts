/**
 * Runs the credential plugin of a kubeconfig, as used by cloud providers.
 *
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 */
import { z } from 'zod';
import type { Clock } from '../../clock/clock.ts';
import { isSendable, UNSENDABLE } from './bearer-token.ts';
import type { ClusterAccess, ExecPlugin } from './cluster-access.ts';

/** The credentials that a plugin prints. */
interface ExecCredential {
  readonly token: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** In wall-clock time. Undefined if the credentials are valid for the life of this process. */
  readonly expiresAtMs: number | undefined;
}

/** The error if a plugin returned no credentials. The message names the plugin but not its output. */
class ExecPluginError extends Error {
  override readonly name = 'ExecPluginError';
}

/** The time limit of a plugin. Plugins that use the network may take a while. */
export const EXEC_LIMIT_MS = 60_000;

const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_STDERR_LENGTH = 300;

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

/** Runs a plugin once, without a terminal. @throws ExecPluginError */
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
  const [exitCode, output, stderr] = await Promise.race([
    Promise.all([child.exited, child.stdout.text(), child.stderr.text()]),
    killedAfter(EXEC_LIMIT_MS, child, plugin, clock),
  ]);
  if (exitCode !== 0) {
    throw new ExecPluginError(
      `${plugin.command} exited with ${child.signalCode ?? exitCode}: ${stderr.trim().slice(-MAX_STDERR_LENGTH) || 'no output'}`,
    );
  }
  return credentialIn(output, plugin);
}

/** Rejects after the limit, and never resolves. The pipes are not awaited, since a grandchild may hold them open. */
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
      reject(new ExecPluginError(`${plugin.command} timed out after ${limitMs / 1000} s`));
    });
    void child.exited.then(stop);
  });
}

/** Returns the content of $KUBERNETES_EXEC_INFO. */
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
      `${plugin.command} printed apiVersion ${apiVersion}, but the kubeconfig has ${plugin.apiVersion}; use the same version in both`,
    );
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  if ((cert === undefined) !== (key === undefined)) {
    throw new ExecPluginError(
      `${plugin.command} printed only one of certificate and key; both are required`,
    );
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
    // The parser's error would quote the text, which may be a token.
    return undefined;
  }
}
