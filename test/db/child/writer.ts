/** A separate process for pglite.test.ts: opens the folder, writes row after row, and prints each acknowledged one. */
import { openDb, sql } from '../../../src/db/db.ts';

const tell = (word: string) => process.stdout.write(`${word}\n`);

try {
  const db = await openDb({ dataDir: process.argv[2] ?? '', say: () => {} });
  await db.query(
    sql('child.create', 'create table if not exists row (id int8 generated always as identity, note text)'),
  );
  tell('open');
  const insert = sql('child.insert', `insert into row (note) values (repeat('x', 500)) returning id`);
  while (process.argv[3] === 'write') {
    const [row] = await db.query<{ id: bigint }>(insert);
    tell(`${row?.id}`);
    await new Promise(setImmediate);
  }
  process.stdin.resume().once('end', () => db.close());
} catch (error) {
  tell(`refused ${error instanceof Error ? error.message : error}`);
}
