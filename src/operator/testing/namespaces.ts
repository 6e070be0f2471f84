/** For tests only: the namespace of Exposures and their control planes. */
export const TENANTS = 'tenants';
/** The namespace of the operator. */
export const SYSTEM_NAMESPACE = 'snicket-system';
