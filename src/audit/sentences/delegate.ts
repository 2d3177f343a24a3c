/** The agent that acted for the actor of an entry. */
export interface AuditedDelegate {
  /** What the user called it. */
  readonly name: string;
  readonly tokenId: string;
}

/** Read from what an entry says that the change came through. */
export function delegateIn(via: string | null): AuditedDelegate | undefined {
  if (via === null) return undefined;
  const read: unknown = JSON.parse(via);
  if (typeof read !== 'object' || read === null || !('delegate' in read)) return undefined;
  const { delegate, token } = read as { readonly delegate: unknown; readonly token?: unknown };
  return { name: String(delegate), tokenId: String(token) };
}
