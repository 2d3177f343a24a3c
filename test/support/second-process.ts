import { readConfig } from '../../src/base/config.ts';
import { createLog } from '../../src/base/log.ts';
import { openInstance } from '../../src/instance.ts';

/**
 * Another server process on the same database, started by openSecondProcess. With `deaf` it never reads the revision,
 * so a freshness test can show that it would notice.
 */
const atrium = await openInstance(readConfig(process.env), { log: createLog('error'), say: () => undefined });
const url = await atrium.listen();
if (process.argv[2] === 'deaf') {
  await atrium.revisions.current();
  atrium.revisions.current = async () => undefined;
  atrium.revisions.whenCurrent = (done) => done();
}
process.stdout.write(`${url}\n`);
// The parent closes our standard input when it is done, or when it dies.
process.stdin.resume().on('end', () => void atrium.close(0).then(() => process.exit(0)));
