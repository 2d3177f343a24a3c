import { AppError } from '../base/errors.ts';
import { oneAtATime } from './mutex.ts';
import type { Query, Script } from './types.ts';

/** What a driver provides for the duration of a transaction: one connection that nothing else uses. */
export interface Session {
  readonly query: Query;
  /** BEGIN, COMMIT, ROLLBACK or a whole script. Returns the command tag of the last statement. */
  readonly command: (text: string) => Promise<string>;
}

/** BEGIN … COMMIT around work, or ROLLBACK if it throws. */
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
      // A query that was not awaited must not run in another caller's transaction.
      if (!open) throw new Error(`"${statement.name}" was sent after its transaction had ended`);
      return session.query(statement, values);
    });

  let result: T;
  try {
    result = await work(query);
  } catch (error) {
    open = false;
    await turn(() => session.command('ROLLBACK')).catch(() => {
      // The connection is gone and the transaction with it. The first error is the one to report.
    });
    throw error;
  }
  open = false;
  // PostgreSQL answers the COMMIT of a failed transaction with a silent ROLLBACK.
  if ((await turn(() => session.command('COMMIT'))) !== 'COMMIT') {
    throw new AppError('internal', 'the transaction was rolled back because one of its statements failed');
  }
  return result;
}

/** Every statement sees the same moment, and there is no time limit: a backup may have to wait for a slow disk. */
export async function inSnapshot<T>(session: Session, work: (query: Query, script: Script) => Promise<T>): Promise<T> {
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
