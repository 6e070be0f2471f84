/**
 * What a tenant may take of the gateway, and where its clients may come from. Exposures and TenantRoutes have both.
 */
import * as z from 'zod';
import { setOf } from './values/kubernetes-values.ts';
import { network } from './values/network-values.ts';

const count = z.int().min(1).max(1_000_000);

/** Limits of one host. */
export const routeLimits = z.strictObject({
  maxConnections: count
    .optional()
    .describe(
      'maxConnections is the maximum number of open connections of a host on one gateway. Default: --tenant-connections of the gateway.',
    ),
  newConnectionsPerSecond: count
    .optional()
    .describe(
      'newConnectionsPerSecond is the maximum rate of new connections of a host on one gateway. Default: --tenant-rate of the gateway.',
    ),
});

/** Networks that clients may connect from. */
export const allowedSources = setOf(network, 64);
