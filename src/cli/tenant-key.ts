import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { parseKeys } from '../gateway/key-file.ts';
import { deriveTenantSecret } from '../wire/tenant-key.ts';

const EXAMPLES = `
Example:
  openssl rand -base64 32 > master.key                                       # stays with the gateway
  snicket tenant-key --key-file master.key a.k8s.example.com > tenant-a.key  # for the workers of tenant a

If the file has two keys, because one is being replaced, the last one is used.`;

/** `snicket tenant-key`: the key by which the workers of one tenant sign their headers. */
export function tenantKeyCommand(): Command {
  return new Command('tenant-key')
    .description("derive a tenant's key, for `snicket proxy --tenant-key-file`")
    .argument('<host>', "the tenant's API host, as its workers give it by --server-name")
    .requiredOption('--key-file <file>', "the gateway's master keys, as given to it by --key-file")
    .addHelpText('after', EXAMPLES)
    .action((host: string, { keyFile }: { keyFile: string }, command: Command) => {
      try {
        console.log(tenantKeyText(readFileSync(keyFile, 'utf8'), keyFile, host));
      } catch (error) {
        command.error(`error: ${error instanceof Error ? error.message : String(error)}`);
      }
    });
}

function tenantKeyText(masterKeys: string, keyFile: string, host: string): string {
  const newest = parseKeys(masterKeys, keyFile).at(-1) ?? new Uint8Array();
  return Buffer.from(deriveTenantSecret(newest, host)).toString('base64');
}
