/** A worker that lived this long was not broken from the start. */
const SOUND_MS = 60_000;
const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/**
 * How long to wait before a worker that died is replaced. The first time not at all; if its successors die soon as
 * well, longer each time, so that a fault which every worker meets does not use up the machine.
 */
export function createRespawnPause() {
  let earlyDeaths = 0;

  return function pauseMs(livedMs: number): number {
    if (livedMs >= SOUND_MS) earlyDeaths = 0;
    const pause = earlyDeaths === 0 ? 0 : Math.min(FIRST_MS * 2 ** (earlyDeaths - 1), LONGEST_MS);
    earlyDeaths += 1;
    return pause;
  };
}
