/**
 * The text before the first `*` must be at the beginning, the text after the last one at the end, and the other parts in
 * between, each at its first place. A regular expression with several `*` can take time without end.
 */
export function domainPattern(glob: string): (domain: string) => boolean {
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

/** Whether two patterns have a domain in common, as far as one of them shows it. Of two with a `*`, that is not certain. */
export function isOverlap(one: string, other: string): boolean {
  return domainPattern(one)(other.toLowerCase()) || domainPattern(other)(one.toLowerCase());
}
