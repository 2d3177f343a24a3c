/**
 * Which domains addresses may belong to. If there is an allow list, only it counts; otherwise the block list counts.
 */
export function createDomainRule(allow: readonly string[], block: readonly string[]): (address: string) => boolean {
  const allowed = allow.map(toPattern);
  const blocked = block.map(toPattern);
  return (address) => {
    const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
    if (allowed.length > 0) return allowed.some((matches) => matches(domain));
    return !blocked.some((matches) => matches(domain));
  };
}

/**
 * The text before the first `*` must be at the beginning, the text after the last one at the end, and the other parts in
 * between, each at its first place. A regular expression with several `*` can take time without end.
 */
function toPattern(glob: string): (domain: string) => boolean {
  const [first = '', ...rest] = glob.toLowerCase().split('*');
  const last = rest.pop();
  if (last === undefined) return (domain) => domain === first;
  return (domain) => {
    if (!domain.startsWith(first)) return false;
    let at = first.length;
    for (const part of rest) {
      const found = domain.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return domain.length - last.length >= at && domain.endsWith(last);
  };
}
