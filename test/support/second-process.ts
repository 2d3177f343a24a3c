import { readConfig } from '../../src/config.ts';
import { openHouse } from '../../src/house.ts';
import { createLog } from '../../src/log.ts';

/**
 * Another server process on the same database, started by openSecondProcess. With `deaf` it never asks for the revision:
 * so a test of freshness can show that it would notice.
 */
const house = await openHouse(readConfig(process.env), { log: createLog('error'), say: () => undefined });
const url = await house.listen();
if (process.argv[2] === 'deaf') {
  await house.clock.current();
  house.clock.current = async () => undefined;
  house.clock.whenCurrent = (done) => done();
}
process.stdout.write(`${url}\n`);
// The parent closes our standard input when it is through, or when it dies.
process.stdin.resume().on('end', () => void house.close(0).then(() => process.exit(0)));
