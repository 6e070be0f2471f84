/** For tests only: the namespace of everything that an Exposure names. */
export const TENANTS = 'tenants';
/** The operator's own. */
export const SYSTEM = 'snicket-system';
