import { describe, expect, test } from 'bun:test';
import { writeKubeconfig } from '../../pki/kubeconfig.ts';
import { makeCa } from '../../pki/testing/test-ca.ts';
import { placeholder } from '../../plan/placeholder.ts';
import { caMismatch } from './ca-mismatch.ts';

const OURS = (await makeCa()).certificate;
const OTHERS = (await makeCa()).certificate;

function kubeconfigWith(ca: string): string {
  return writeKubeconfig({
    server: 'https://10.0.0.5:6443',
    ca,
    names: { cluster: 'blue', user: 'admin' },
    credentials: { token: 'secret' },
  });
}

function judged(authority: string, kubeconfig: string) {
  return caMismatch(
    { key: { namespace: 'tenants', name: 'ca' }, text: authority },
    { key: { namespace: 'tenants', name: 'kubeconfig' }, text: kubeconfig },
  );
}

describe('a CA and a kubeconfig', () => {
  test('match if the kubeconfig trusts that CA', () => {
    expect(judged(OURS, kubeconfigWith(OURS))).toBeUndefined();
    expect(judged(`${OTHERS}${OURS}`, kubeconfigWith(OURS))).toBeUndefined();
    expect(judged(`${OTHERS}${OURS}`, kubeconfigWith(`${OURS}${OTHERS}`))).toBeUndefined();
  });

  test('do not match if it trusts another, in addition or instead', () => {
    for (const trusted of [OTHERS, `${OURS}${OTHERS}`]) {
      const finding = judged(OURS, kubeconfigWith(trusted));

      expect(finding).toMatchObject({ code: 'CaMismatch', severity: 'error' });
      expect(finding?.message).toContain('Secret tenants/kubeconfig trusts a CA (SHA-256 ');
      expect(finding?.message).toContain('that is not in Secret tenants/ca');
    }
  });

  test('do not match if it trusts the system roots', () => {
    const kubeconfig = kubeconfigWith(OURS).replace(/\n *certificate-authority-data:.*/, '');

    expect(kubeconfig).not.toContain('certificate-authority');
    expect(judged(OURS, kubeconfig)?.message).toContain(
      'The kubeconfig in Secret tenants/kubeconfig has no CA, so it may belong to another tenant than the CA in Secret tenants/ca.',
    );
  });

  test('are not compared if one of them is unreadable or a placeholder', () => {
    expect(judged(OURS, 'no kubeconfig')).toBeUndefined();
    expect(judged(placeholder('tls.crt'), kubeconfigWith(OURS))).toBeUndefined();
  });
});
