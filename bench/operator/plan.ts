/** Plans the simulated tenants and their addresses. */

/** A tenant. Its API server listens on the address of its Service. */
export interface TenantPlan {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly apiHost: string;
}

/** The namespace of all tenants. */
export const NAMESPACE = 'tenants';
/** Domain of all tenant hosts. */
export const DOMAIN = 'snicket.test';
/** Port of every API server. */
const API_PORT = 6443;
const PER_BLOCK = 250;

/** Returns tenants at the addresses PREFIX.block.number. The prefix has two bytes. */
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
