import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Loading the modules and setting up the routes creates much that is gone a moment later. V8 enlarges the space for new
 * objects meanwhile, and never gives it back to the system unless memory is short: a fifth of what an idle server uses.
 * So that space stays as it is until the server has started. Afterwards, load enlarges it as usual. V8 reads this
 * setting each time it would enlarge the space, unlike the sizes themselves, which it reads once.
 *
 * Returns what ends it.
 */
export function saveMemoryWhileStarting(): () => void {
  setFlagsFromString('--semi-space-growth-factor=1');
  return () => setFlagsFromString('--semi-space-growth-factor=2');
}

/**
 * A start leaves much behind: texts of modules, schemas that were compiled, and of the built-in database the file that
 * its code was read from. V8 finds it only when the heap has grown, which in a server without requests may take hours.
 * So this thread collects it once.
 */
export function collectStartGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}
