import { AppError } from '../base/errors.ts';
import { oneAtATime } from './mutex.ts';
import type { Query } from './types.ts';

/** What a driver gives for the length of a transaction: one connection that nobody else speaks on. */
export interface Session {
  readonly query: Query;
  /** BEGIN, COMMIT, ROLLBACK or a whole script; answers the command tag of the last statement. */
  readonly command: (text: string) => Promise<string>;
}

/** BEGIN … COMMIT around work, or ROLLBACK when it throws. */
export async function inTransaction<T>(
  session: Session,
  work: (query: Query) => Promise<T>,
  begin = 'BEGIN',
): Promise<T> {
  await session.command(begin);
  const turn = oneAtATime();
  let open = true;
  const query: Query = (statement, values) =>
    turn(() => {
      // A query that was not awaited must not land in somebody else's transaction.
      if (!open) throw new Error(`"${statement.name}" was sent after its transaction had ended`);
      return session.query(statement, values);
    });

  let result: T;
  try {
    result = await work(query);
  } catch (error) {
    open = false;
    await turn(() => session.command('ROLLBACK')).catch(() => {
      // The connection is gone and the transaction with it; the first error is the one to tell.
    });
    throw error;
  }
  open = false;
  // PostgreSQL answers the COMMIT of a failed transaction with a silent ROLLBACK.
  if ((await turn(() => session.command('COMMIT'))) !== 'COMMIT') {
    throw new AppError('internal', 'the transaction was rolled back: one of its statements had failed before');
  }
  return result;
}

/** One moment for every statement, and no limit of time: a backup may have to wait for a slow disk. */
export async function inSnapshot<T>(
  session: Session,
  work: (query: Query, script: (text: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const script = async (text: string) => void (await session.command(text));
  const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
  return await inTransaction(
    session,
    async (query) => {
      await script('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0');
      return await work(query, script);
    },
    begin,
  );
}
