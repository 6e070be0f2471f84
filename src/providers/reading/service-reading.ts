/**
 * The ports and addresses of a Service.
 */
import type { ServicePort } from '../../plan/control-plane.ts';
import type { Service } from './control-plane-reading.ts';

/** Returns the TCP ports of a Service. */
export function tcpPorts({ spec }: Service): readonly ServicePort[] {
  return (spec?.ports ?? [])
    .filter(({ protocol = 'TCP' }) => protocol === 'TCP')
    .map(({ port, name = '' }) => ({ port, portName: name }));
}

/** Returns the addresses of a port of a Service, as `host:port`. A headless Service has none. */
export function serviceAddresses({ spec }: Service, port: number): readonly string[] {
  const all = spec?.clusterIPs ?? (spec?.clusterIP === undefined ? [] : [spec.clusterIP]);
  return all.filter((ip) => ip !== '' && ip !== 'None').map((ip) => hostPort(ip, port));
}

function hostPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
