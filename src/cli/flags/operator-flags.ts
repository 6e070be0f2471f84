/**
 * The flags that `snicket operator` and `snicket run` share.
 */
import type { Command } from 'commander';
import type { RunOperatorOptions } from '../../operator/run-operator.ts';
import { imageName, wholeNumber } from './flag-values.ts';
import { PROXY_IMAGE } from '../plans/proxy-image.ts';

/** The flags of an operator as Commander reads them, independent of the source of its objects. */
export interface OperatorFlags {
  readonly proxyImage: string;
  readonly concurrency: number;
  readonly resync: number;
  readonly probe: number;
  readonly leaveTimeout: number;
  readonly tenantLeaseDuration: number;
  readonly maxConcurrentRollouts: number;
}

/** Adds the operator flags to a command; `resyncSeconds` is the default of `--resync`. */
export function withOperatorFlags(command: Command, resyncSeconds = 120): Command {
  return command
    .option(
      '--proxy-image <image>',
      'the image of the proxy, for Exposures that name none',
      imageName,
      PROXY_IMAGE,
    )
    .option('--concurrency <n>', 'Exposures that are looked at together', wholeNumber(1, 1000), 32)
    .option(
      '--resync <seconds>',
      'time between two reads of the Secrets of an Exposure, and a fifth of the time between two full reconciles; both grow while nothing changes',
      wholeNumber(5, 86_400),
      resyncSeconds,
    )
    .option(
      '--probe <seconds>',
      'time between two probes of an Exposure; up to ten times that while nothing changes',
      wholeNumber(5, 86_400),
      60,
    )
    .option(
      '--leave-timeout <seconds>',
      'how long a deleted Exposure waits for a tenant that cannot be reached',
      wholeNumber(1, 86_400),
      300,
    )
    .option(
      '--tenant-lease-duration <seconds>',
      'time without a renewal after which another management cluster may take over a tenant',
      wholeNumber(15, 3600),
      900,
    )
    .option(
      '--max-concurrent-rollouts <n>',
      'tenants that roll out a new release of the proxies at the same time',
      wholeNumber(1, 100_000),
      10,
    );
}

/** Returns the operator options that the flags set. */
export function operatorOptionsOf(
  flags: OperatorFlags,
): Pick<
  RunOperatorOptions,
  | 'proxyImage'
  | 'concurrency'
  | 'resyncMs'
  | 'probeMs'
  | 'leaveTimeoutMs'
  | 'leaseDurationMs'
  | 'maxConcurrentRollouts'
> {
  return {
    proxyImage: flags.proxyImage,
    concurrency: flags.concurrency,
    resyncMs: flags.resync * 1000,
    probeMs: flags.probe * 1000,
    leaveTimeoutMs: flags.leaveTimeout * 1000,
    leaseDurationMs: flags.tenantLeaseDuration * 1000,
    maxConcurrentRollouts: flags.maxConcurrentRollouts,
  };
}
