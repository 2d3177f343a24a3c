import { openQuietly, TEST_KEY } from './server.ts';
import { statement } from './statement.ts';

/**
 * Archives the audit log in its own process. It reports when the archive is being written, when it is complete, or when a
 * part of its entries is removed, so that it can be killed there.
 */
const [path = '', stopAt = '', dataDir = '', databaseUrl = ''] = process.argv.slice(2);
const instance = await openQuietly({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ATRIUM_KEY: TEST_KEY }, []);
const { db, features } = instance;
const file = features.auditArchive.placeOf(path);
let reads = 0;
const place = {
  name: file.name,
  async write(lines: AsyncIterable<string>) {
    await file.write(stopping(lines));
    stop('written');
  },
  async *read(span?: { start: number; end: number }) {
    // The first reading verifies, the second one removes.
    const removes = ++reads === 2;
    for await (const part of file.read(span)) {
      yield part;
      if (removes && (await db.query(statement('select 1 from audit_segment limit 1'))).length > 0) stop('removing');
    }
  },
};
const now = new Date();
await features.auditArchive.archive({ place, before: now }, now);
await instance.close();

async function* stopping(lines: AsyncIterable<string>) {
  let count = 0;
  for await (const line of lines) {
    yield line;
    if (++count === 100) stop('writing');
  }
}

function stop(at: string): void {
  if (at !== stopAt) return;
  process.stdout.write('here\n');
  // Nothing more happens in this process until it is killed.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
