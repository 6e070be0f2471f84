/**
 * Connection limits and allowed sources, which Exposures and TenantRoutes share.
 */
import * as z from 'zod';
import { setOf } from './values/kubernetes-values.ts';
import { network } from './values/network-values.ts';

const limit = z.int().min(1).max(1_000_000);

/** The schema of the limits of one host. */
export const routeLimits = z.strictObject({
  maxConnections: limit
    .optional()
    .describe(
      'maxConnections is the maximum number of open connections of a host on one gateway, up to --max-tenant-connections of the gateway. Defaults to that flag.',
    ),
  newConnectionsPerSecond: limit
    .optional()
    .describe(
      'newConnectionsPerSecond is the maximum rate of new connections of a host on one gateway, up to --max-tenant-connection-rate of the gateway. Defaults to that flag.',
    ),
});

/** The schema of the networks that clients may connect from. */
export const allowedSources = setOf(network, 64);
