import { describe, expect, test } from 'bun:test';
import type { Finding } from '../../api/finding.ts';
import type { ProvidedFacts } from '../../providers/reading/control-plane-reading.ts';
import { preparedState } from './management-conditions.ts';

const WARNING = finding('ServiceTypeNotNeeded', 'warning');
const MISSING = finding('SecretMissing', 'error');
const CONFLICT = finding('FieldConflict', 'error');

function finding(code: Finding['code'], severity: Finding['severity']): Finding {
  return { code, severity, message: `${code} is the case`, action: 'mend it' };
}

function inPhase(phase: ProvidedFacts['phase']): ProvidedFacts {
  return {
    provider: 'kamaji',
    objects: [],
    phase,
    phaseReason: 'so',
    serviceCidrs: [],
    clusterDomain: 'cluster.local',
    hasKonnectivity: false,
  };
}

describe('Prepared', () => {
  test('holds in spite of warnings, and tells them', () => {
    const state = preparedState({ findings: [WARNING] }, [WARNING]);

    expect(state.status).toBe('True');
    expect(state.message).toContain('ServiceTypeNotNeeded is the case');
  });

  test('reports a finding of the preparation before a missing object', () => {
    const state = preparedState({ findings: [MISSING] }, [WARNING, CONFLICT]);

    expect(state).toMatchObject({ status: 'False', reason: 'FieldConflict' });
  });

  test('waits for a missing Secret while the control plane is provisioned', () => {
    const reading = { findings: [MISSING], provided: inPhase('provisioning') };

    expect(preparedState(reading)).toMatchObject({ reason: 'SecretMissing', isWaiting: true });
  });

  test('needs a fix for an outdated certificate, but only waits while the control plane is provisioned', () => {
    const stale = finding('CertificateOutdated', 'error');
    const conditionIn = (phase: ProvidedFacts['phase']) =>
      preparedState({ findings: [], provided: inPhase(phase) }, [stale]);

    expect(conditionIn('serving')).toMatchObject({
      status: 'False',
      reason: 'CertificateOutdated',
    });
    expect(conditionIn('serving').isWaiting).toBeUndefined();
    expect(conditionIn('provisioning')).toMatchObject({ status: 'False', isWaiting: true });
  });

  test('needs a fix for a missing object of a running control plane', () => {
    const reading = { findings: [MISSING], provided: inPhase('serving') };

    const state = preparedState(reading);

    expect(state).toMatchObject({ status: 'False', reason: 'SecretMissing' });
    expect(state.isWaiting).toBeUndefined();
  });
});
