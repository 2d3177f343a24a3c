/** When tokens were last used. Kept in memory and written together now and then, so no request pays for a write. */
export interface TokenUsageStore {
  write(uses: readonly { tokenId: bigint; at: Date }[]): Promise<void>;
}

export type TokenUsage = ReturnType<typeof createTokenUsage>;

export function createTokenUsage(store: TokenUsageStore) {
  let seen = new Map<bigint, Date>();
  return { note, flush };

  function note(tokenId: bigint, at: Date): void {
    seen.set(tokenId, at);
  }

  async function flush(): Promise<void> {
    if (seen.size === 0) return;
    const written = seen;
    seen = new Map();
    try {
      await store.write([...written].map(([tokenId, at]) => ({ tokenId, at })));
    } catch (error) {
      // What was noted in the meantime is newer.
      seen = new Map([...written, ...seen]);
      throw error;
    }
  }
}
