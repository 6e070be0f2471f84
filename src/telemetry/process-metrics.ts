/** Metrics of every process: memory, file descriptors, start time, build, and lost log lines. */
import { readdirSync } from 'node:fs';
import manifest from '../../package.json' with { type: 'json' };
import { linesLost } from './standard-error.ts';
import type { Metrics } from './metrics.ts';

/** The metrics that already include the process metrics. Several HTTP servers may share one {@link Metrics}. */
const registered = new WeakSet<Metrics>();

/**
 * Registers the metrics that Prometheus expects of any process, and two that are specific to Snicket. Does nothing if
 * they are already registered.
 */
export function registerProcessMetrics(metrics: Metrics): void {
  if (registered.has(metrics)) return;
  registered.add(metrics);
  const startedSeconds = (Date.now() - performance.now()) / 1000;
  metrics.register({
    name: 'snicket_build_info',
    help: 'Versions of Snicket and Bun, as labels. Always 1.',
    type: 'gauge',
    samples: () => [{ labels: { version: manifest.version, bun: Bun.version }, value: 1 }],
  });
  metrics.register({
    name: 'snicket_log_lines_lost_total',
    help: 'Total number of log lines that could not be written to standard error.',
    type: 'counter',
    samples: () => [{ value: linesLost() }],
  });
  metrics.register({
    name: 'process_start_time_seconds',
    help: 'Start time of the process since unix epoch in seconds.',
    type: 'gauge',
    samples: () => [{ value: startedSeconds }],
  });
  metrics.register({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory size in bytes.',
    type: 'gauge',
    samples: () => [{ value: process.memoryUsage.rss() }],
  });
  metrics.register({
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    type: 'counter',
    samples: () => {
      const { user, system } = process.cpuUsage();
      return [{ value: (user + system) / 1e6 }];
    },
  });
  if (process.platform !== 'linux') return;
  metrics.register({
    name: 'process_open_fds',
    help: 'Number of open file descriptors.',
    type: 'gauge',
    // One of them is the descriptor that lists the others.
    samples: () => [{ value: readdirSync('/proc/self/fd').length - 1 }],
  });
}
