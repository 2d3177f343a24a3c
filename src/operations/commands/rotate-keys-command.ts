import { parseArgs } from 'node:util';
import { createKeys } from '../../base/keys.ts';
import type { CommandRequest, RunInServer } from '../command-socket.ts';

export function rotateKeysIn(args: readonly string[], { nextKey }: CommandRequest): RunInServer {
  const { values } = parseArgs({
    args: [...args],
    options: { 'retire-old-root': { type: 'boolean' }, 'webhook-key': { type: 'boolean' } },
  });
  const next = nextKey === undefined ? undefined : createKeys(Buffer.from(nextKey, 'base64'));
  return async ({ rotateKeys, features }, print) => {
    const started = performance.now();
    const { owners, values: count, damaged } = await rotateKeys({ next, retireOldRoot: values['retire-old-root'] });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    print(`created ${owners} data keys and resealed ${count} secrets in ${seconds} s`);
    if (next !== undefined) {
      print(
        'both root keys open this database now; start every server with the new one, then run ' +
          'atrium rotate-keys --retire-old-root',
      );
    }
    if (values['webhook-key']) {
      const { kid, formerUntil } = await features.webhooks.rotateKey();
      print(`webhooks are signed with the key ${kid}, and until ${formerUntil.toISOString()} with the former one, too`);
    }
    for (const one of damaged) print(`warning: ${one} could not be opened and was left unchanged`);
  };
}
