/**
 * Which domains addresses may belong to. If there is an allow list, only it counts; otherwise the block list counts.
 */
export function createDomainRule(allow: readonly string[], block: readonly string[]): (address: string) => boolean {
  const allowed = allow.map(toPattern);
  const blocked = block.map(toPattern);
  return (address) => {
    const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
    if (allowed.length > 0) return allowed.some((pattern) => pattern.test(domain));
    return !blocked.some((pattern) => pattern.test(domain));
  };
}

function toPattern(glob: string): RegExp {
  return new RegExp(`^${glob.toLowerCase().split('*').map(RegExp.escape).join('.*')}$`);
}
