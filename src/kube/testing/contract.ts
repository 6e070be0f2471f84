/**
 * For tests only: what Snicket relies on in an API server and in its own client. The tests run against the test server
 * and against a real kube-apiserver, so that they find where the test server differs from a real one.
 */
import { beforeAll, describe } from 'bun:test';
import { RESOURCES } from '../resource.ts';
import { applyContract } from './contract/apply-contract.ts';
import { informerContract } from './contract/informer-contract.ts';
import { NAMESPACE } from './contract/objects.ts';
import { readContract } from './contract/read-contract.ts';
import { shellContract } from './contract/shell-contract.ts';
import type { ContractSubject } from './contract/subject.ts';
import { watchContract } from './contract/watch-contract.ts';
import { writeContract } from './contract/write-contract.ts';

/** Registers the tests. Version 1 must no longer be available on the server: compact it, or start a new one. */
export function kubeContract(subject: () => ContractSubject): void {
  beforeAll(async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    await subject().client.create(RESOURCES.namespace, namespace);
  });

  describe('reads', () => readContract(subject));
  describe('writes', () => writeContract(subject));
  describe('apply', () => applyContract(subject));
  describe('the shells of this folder', () => shellContract(subject));
  describe('watches', () => watchContract(subject));
  describe('informers', () => informerContract(subject));
}
