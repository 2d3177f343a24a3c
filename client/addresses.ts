const ADDRESS = /[^\s,;<>"()[\]]+@[^\s,;<>"()[\]]+/g;

/** The addresses in a list that was pasted from anywhere, such as `Zoe <zoe@acme.example>, yan@acme.example`. */
export function addressesIn(text: string): string[] {
  const found = new Map<string, string>();
  for (const [address] of text.matchAll(ADDRESS)) {
    const plain = address.replace(/^mailto:/i, '').replace(/[.:']+$/, '');
    if (!found.has(plain.toLowerCase())) found.set(plain.toLowerCase(), plain);
  }
  return [...found.values()];
}
