/**
 * The flags that `snicket operator` and `snicket run` share.
 */
import type { Command } from 'commander';
import type { RunOperatorOptions } from '../../operator/run-operator.ts';
import { durationOption, imageReference, wholeNumber } from './flag-values.ts';
import { PROXY_IMAGE } from '../plans/proxy-image.ts';

/** The flags of an operator as Commander reads them, independent of the source of its objects. */
export interface OperatorFlags {
  readonly proxyImage: string;
  readonly concurrency: number;
  readonly resyncPeriod: number;
  readonly probeInterval: number;
  readonly cleanupTimeout: number;
  readonly tenantLeaseDuration: number;
  readonly maxConcurrentRollouts: number;
}

/** Adds the operator flags to a command; `resync` is the default of `--resync-period`. */
export function withOperatorFlags(command: Command, resync = '2m'): Command {
  return command
    .option(
      '--proxy-image <image>',
      'proxy image for Exposures that specify none',
      imageReference,
      PROXY_IMAGE,
    )
    .option(
      '--concurrency <n>',
      'maximum number of concurrent reconciles',
      wholeNumber(1, 1000),
      32,
    )
    .addOption(
      durationOption(
        '--resync-period',
        'interval between two reads of the Secrets of an Exposure; every fifth one is a full reconcile; longer while nothing changes',
        { least: '5s', most: '24h', fallback: resync },
      ),
    )
    .addOption(
      durationOption(
        '--probe-interval',
        'interval between two probes of an Exposure; up to ten times longer while nothing changes',
        { least: '5s', most: '24h', fallback: '1m' },
      ),
    )
    .addOption(
      durationOption(
        '--cleanup-timeout',
        'maximum time to wait for an unreachable tenant when an Exposure is deleted',
        { least: '1s', most: '24h', fallback: '5m' },
      ),
    )
    .addOption(
      durationOption(
        '--tenant-lease-duration',
        'time without renewal after which another management cluster may take over a tenant',
        { least: '15s', most: '1h', fallback: '15m' },
      ),
    )
    .option(
      '--max-concurrent-rollouts <n>',
      'maximum number of tenants that roll out a new proxy release or a changed Edge at the same time',
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
  | 'cleanupTimeoutMs'
  | 'leaseDurationMs'
  | 'maxConcurrentRollouts'
> {
  return {
    proxyImage: flags.proxyImage,
    concurrency: flags.concurrency,
    resyncMs: flags.resyncPeriod,
    probeMs: flags.probeInterval,
    cleanupTimeoutMs: flags.cleanupTimeout,
    leaseDurationMs: flags.tenantLeaseDuration,
    maxConcurrentRollouts: flags.maxConcurrentRollouts,
  };
}
