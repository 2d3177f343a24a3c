import { domainPattern } from '../../base/domain-pattern.ts';

/**
 * Which domains addresses may belong to. If there is an allow list, only it counts; otherwise the block list counts.
 */
export function createDomainRule(allow: readonly string[], block: readonly string[]): (address: string) => boolean {
  const allowed = allow.map(domainPattern);
  const blocked = block.map(domainPattern);
  return (address) => {
    const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
    if (allowed.length > 0) return allowed.some((matches) => matches(domain));
    return !blocked.some((matches) => matches(domain));
  };
}
