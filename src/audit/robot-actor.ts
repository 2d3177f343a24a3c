/** The robot that acted, if the actor of an entry is one: robots act as their organization. */
export function robotIn(actorName: string): { readonly id: bigint; readonly owner: string } | undefined {
  const [, id, owner = ''] = /^robot (\d{1,18}) of (.+)$/.exec(actorName) ?? [];
  return id === undefined ? undefined : { id: BigInt(id), owner };
}
