import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { signedHeader } from '../../gateway/testing/headers.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { fileIn } from '../../operator/testing/objects.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { deriveTenantSecret } from '../../wire/tenant-key.ts';
import { RunLab } from '../testing/run-lab.ts';

test('routes two tenants behind one address by host and by signed header, and prepares their workers', async () => {
  await using lab = new RunLab();
  const blue = await lab.addTenant('blue');
  const red = await lab.addTenant('red');
  await blue.controllers.addNode('worker-1', ['10.0.0.1']);

  // 1. After the start both tenants become ready.
  await lab.start();
  await lab.untilCondition('blue', 'WorkersReady', /^True/);
  await lab.untilCondition('red', 'WorkersReady', /^True/);
  expect(lab.condition('blue', 'Routed')).toStartWith('True');

  // 2. Each host is routed to its own control plane with TLS untouched: the certificate is that of the tenant.
  expect(await lab.get(blue, '/version')).toContain('"gitVersion":"v1.');
  await red.user.create(RESOURCES.configMap, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'red', namespace: 'default' },
  });
  const path = '/api/v1/namespaces/default/configmaps/red';
  expect(await lab.get(red, path)).toStartWith('HTTP/1.1 200 ');
  expect(await lab.get(blue, path)).toStartWith('HTTP/1.1 404 ');

  // 3. The objects in each tenant are created with the kubeconfig of that tenant.
  for (const tenant of [blue, red]) {
    expect(tenant.server.read(RESOURCES.daemonSet, PROXY)).toBeDefined();
    expect(
      tenant.server.read(RESOURCES.endpointSlice, { name: 'kubernetes', namespace: 'default' }),
    ).toMatchObject({ endpoints: [{ addresses: ['100.64.64.1'] }] });
  }

  // 4. A worker of blue proves its tenant with the key of blue, whatever server name is in the pod's hello.
  const masterKey = Buffer.from(readFileSync(join(lab.state, 'master.key'), 'latin1'), 'base64');
  const socket = connect(lab.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(signedHeader({ host: blue.apiHost, masterKey }));
  expect(await lab.get(blue, '/version', { servername: 'kubernetes', socket })).toContain('v1.');
  const secret = blue.server.read(RESOURCES.secret, { ...PROXY });
  const derived = Buffer.from(deriveTenantSecret(masterKey, blue.apiHost)).toString('base64');
  expect(fileIn(secret, 'tenant.key').trim()).toBe(derived);

  // 5. One page has the metrics of both roles.
  const { text } = await lab.http('/metrics');
  expect(text).toContain('\nsnicket_gateway_routes 2\n');
  expect(text).toContain('\nsnicket_operator_tenants 2\n');
  expect(text).toContain('\nsnicket_folder_faults 0\n');

  // 6. Other users cannot read the state.
  const modes = ['', 'master.key', 'objects.db', 'status.yaml'].map(
    (name) => statSync(join(lab.state, name)).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o600, 0o600, 0o600]);

  // 7. It ends on a signal.
  expect(await lab.stop()).toBe(0);
  expect(lab.log.at(-1)).toMatchObject({ msg: 'stopped' });
}, 240_000);
