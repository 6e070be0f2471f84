/** Which tenants there are, and where. */

/** A tenant: its Service's address is the one at which its API server listens. */
export interface TenantPlan {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly apiHost: string;
}

/** The namespace of all tenants. */
export const NAMESPACE = 'tenants';
/** Below which they have their hosts. */
export const DOMAIN = 'snicket.test';
/** Where every API server listens. */
const API_PORT = 6443;
const PER_BLOCK = 250;

/** So many tenants, at addresses PREFIX.block.number; PREFIX is two bytes. */
export function planTenants(count: number, prefix: string): readonly TenantPlan[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `t${String(index + 1).padStart(5, '0')}`;
    return {
      name,
      address: `${prefix}.${Math.floor(index / PER_BLOCK) + 1}.${(index % PER_BLOCK) + 1}`,
      port: API_PORT,
      apiHost: `${NAMESPACE}-${name}.k8s.${DOMAIN}`,
    };
  });
}
