import { readConfig } from '../../../src/base/config/config.ts';
import { createLog } from '../../../src/base/log.ts';
import { openInstance } from '../../../src/instance.ts';

/**
 * Another server process on the same database, started by openSecondProcess. With `deaf` it reads the revision, but not
 * what has changed, so a freshness test can show that it would notice.
 */
const atrium = await openInstance(readConfig(process.env), {
  log: createLog('error'),
  say: () => undefined,
  patience: Number(process.env.TEST_PATIENCE ?? 1),
});
const url = await atrium.listen();
if (process.argv[2] === 'deaf') {
  const { query } = atrium.db;
  const deaf: typeof query = async (statement, values) => {
    const rows = await query(statement, values);
    return (statement.name === 'revision.news' ? rows.map((row) => ({ ...row, kind: null, id: null })) : rows) as never;
  };
  Object.assign(atrium.db, { query: deaf });
}
process.stdout.write(`${url}\n`);
// The parent closes our standard input when it is done, or when it dies.
process.stdin.resume().on('end', () => void atrium.close(0).then(() => process.exit(0)));
