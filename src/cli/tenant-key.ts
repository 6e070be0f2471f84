import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { parseKeys } from '../wire/master-keys.ts';
import { deriveTenantSecret } from '../wire/tenant-key.ts';
import { asCommandError } from './output/messages.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Example:
  openssl rand -base64 32 > master.key
  snicket tenant-key --key-file master.key a.k8s.example.com > a.key

The gateway keeps master.key; the workers of tenant a get a.key. If the file has
two keys, during a rotation, the last one is used.

Exit codes:
  0  success
  2  invalid command line or key file`;

/** `snicket tenant-key`: derives the key with which the workers of a tenant sign their headers. */
export function tenantKeyCommand(io: CommandIo): Command {
  return new Command('tenant-key')
    .description('Derive the key of a tenant, for `snicket proxy --tenant-key-file`')
    .argument('<host>', 'API host of the tenant, as in --server-name of its workers')
    .requiredOption('--key-file <file>', "file with the gateway's master keys")
    .addHelpText('after', EXAMPLES)
    .action((host: string, { keyFile }: { keyFile: string }) => {
      try {
        io.stdout.write(`${tenantKeyText(masterKeys(io, keyFile), keyFile, host)}\n`);
      } catch (error) {
        throw asCommandError(error);
      }
    });
}

/** Reads any file, even a pipe: only the user of this command waits for it. */
function masterKeys(io: CommandIo, keyFile: string): string {
  try {
    return readFileSync(io.path(keyFile), 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new Error(
      `cannot read --key-file ${keyFile}: ${code}; pass the key file of the gateway, or create one: openssl rand -base64 32`,
      { cause: error },
    );
  }
}

function tenantKeyText(keys: string, keyFile: string, host: string): string {
  const newest = parseKeys(keys, keyFile).at(-1) ?? new Uint8Array();
  return Buffer.from(deriveTenantSecret(newest, host)).toString('base64');
}
