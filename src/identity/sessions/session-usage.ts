/**
 * When sessions were last seen. Kept in memory and written together now and then, and each session at most once in five
 * minutes, so no request pays for a write. Those that end when they are not used are written each minute.
 */
export interface SessionUsageStore {
  /** Leaves sessions alone that were written less than this long ago. */
  write(uses: readonly { sessionId: bigint; at: Date }[], everyMs: number): Promise<void>;
}

export type SessionUsage = ReturnType<typeof createSessionUsage>;

const EVERY_MS = 5 * 60_000;
const MAX_NOTED = 50_000;

export function createSessionUsage(store: SessionUsageStore) {
  let seen = new Map<bigint, Date>();
  /** Also what has been written, for sessions that end when they are not used. */
  const noted = new Map<bigint, Date>();
  return { note, lastNoted: (sessionId: bigint) => noted.get(sessionId), flush };

  function note(sessionId: bigint, at: Date): void {
    seen.set(sessionId, at);
    if (noted.size >= MAX_NOTED) noted.clear();
    noted.set(sessionId, at);
  }

  async function flush(): Promise<void> {
    if (seen.size === 0) return;
    const written = seen;
    seen = new Map();
    try {
      const uses = [...written].map(([sessionId, at]) => ({ sessionId, at }));
      await store.write(uses, EVERY_MS);
    } catch (error) {
      // What was noted in the meantime is newer.
      seen = new Map([...written, ...seen]);
      throw error;
    }
  }
}
