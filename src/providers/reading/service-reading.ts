/**
 * A Service as routes and the operator's own connections need it.
 */
import type { ServicePort } from '../../plan/control-plane.ts';
import type { Service } from './control-plane-reading.ts';

/** The TCP ports of a Service. */
export function tcpPorts({ spec }: Service): readonly ServicePort[] {
  return (spec?.ports ?? [])
    .filter(({ protocol = 'TCP' }) => protocol === 'TCP')
    .map(({ port, name = '' }) => ({ port, portName: name }));
}

/** Where a port of a Service is dialled, as `host:port`; a headless Service has no address of its own. */
export function serviceAddresses({ spec }: Service, port: number): readonly string[] {
  const all = spec?.clusterIPs ?? (spec?.clusterIP === undefined ? [] : [spec.clusterIP]);
  return all.filter((ip) => ip !== '' && ip !== 'None').map((ip) => hostPort(ip, port));
}

function hostPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
