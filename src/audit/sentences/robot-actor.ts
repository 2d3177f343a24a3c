/** The robot that acted as its organization, if the actor of an entry is one: by SCIM, or in an earlier release. */
export function robotIn(actorName: string): { readonly id: bigint; readonly owner: string } | undefined {
  const [, id, owner = ''] = /^robot (\d{1,18}) of (.+)$/.exec(actorName) ?? [];
  return id === undefined ? undefined : { id: BigInt(id), owner };
}
