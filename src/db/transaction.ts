import { AppError } from '../base/errors.ts';
import { oneOff, type Statement, sql } from './statement.ts';
import type { Later, Query, Script, TransactionQuery } from './types.ts';
import { writeValues } from './values.ts';

/** A statement with its values, as PostgreSQL reads them. */
export interface Step {
  readonly statement: Statement;
  readonly values?: (string | Buffer | null)[];
}

/** What a statement returned: its rows, and its command tag. */
export interface Done {
  readonly rows: object[];
  readonly command: string;
}

/** What a driver provides for the duration of a transaction: one connection that nothing else uses. */
export interface Session {
  /**
   * One or more statements in one trip to the server, which runs them one after the other, each with a snapshot of its
   * own. It stops at the first that fails.
   */
  readonly run: (steps: readonly Step[]) => Promise<readonly Done[]>;
  /** ROLLBACK or a whole script. */
  readonly command: Script;
}

interface Waiting extends Step {
  readonly resolve: (rows: object[]) => void;
  readonly reject: (error: unknown) => void;
}

const BEGIN: Step = { statement: sql('db.begin', 'BEGIN') };
const BEGIN_SNAPSHOT: Step = {
  statement: sql('db.beginSnapshot', 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
};
const NO_TIMEOUT: Step = { statement: sql('db.noTimeout', 'set local statement_timeout = 0') };
const NO_IDLE_TIMEOUT: Step = {
  statement: sql('db.noIdleTimeout', 'set local idle_in_transaction_session_timeout = 0'),
};
const COMMIT: Step = { statement: sql('db.commit', 'COMMIT') };

/** A transaction that has its own settings. */
export function beginWith(settings: Readonly<Record<string, number>>): readonly Step[] {
  const set = ([name, value]: [string, number]) => ({
    statement: oneOff('db.set', `set local ${name} = ${value}`),
  });
  return [BEGIN, ...Object.entries(settings).map(set)];
}

export function isBegin({ statement }: Step): boolean {
  return statement === BEGIN.statement || statement === BEGIN_SNAPSHOT.statement;
}

export function isCommit({ statement }: Step): boolean {
  return statement === COMMIT.statement;
}

/** One statement at a time, each in a transaction of its own. */
export function queryOn({ run }: Session): Query {
  return async <Row extends object>(statement: Statement, values?: readonly unknown[]) =>
    ((await run([stepOf(statement, values)]))[0]?.rows ?? []) as Row[];
}

/** BEGIN … COMMIT around work, or ROLLBACK if it throws. BEGIN travels with the first statement. */
export async function inTransaction<T>(
  session: Session,
  work: (query: TransactionQuery, script: Script) => Promise<T>,
  begin: readonly Step[] = [BEGIN],
): Promise<T> {
  const trips = createTrips(session, begin);
  try {
    const result = await work(trips.query, trips.script);
    const last = await trips.end(COMMIT);
    // PostgreSQL answers the COMMIT of a failed transaction with a silent ROLLBACK.
    if (last !== undefined && last.command !== 'COMMIT') {
      throw new AppError('internal', 'the transaction was rolled back because one of its statements failed');
    }
    return result;
  } catch (error) {
    if (await trips.abandon()) {
      await session.command('ROLLBACK').catch(() => {
        // The connection is gone and the transaction with it. The first error is the one to report.
      });
    }
    throw error;
  }
}

/** Every statement sees the same moment, and there is no time limit: a backup may have to wait for a slow disk. */
export async function inSnapshot<T>(
  session: Session,
  work: (query: TransactionQuery, script: Script) => Promise<T>,
): Promise<T> {
  return await inTransaction(session, work, [BEGIN_SNAPSHOT, NO_TIMEOUT, NO_IDLE_TIMEOUT]);
}

/** Gathers the statements of one turn of the event loop, or while other statements are under way, for one trip. */
function createTrips(session: Session, begin: readonly Step[]) {
  let waiting: Waiting[] = begin.map(unawaited);
  let underWay: Promise<unknown> | undefined;
  let isScheduled = false;
  /** The server has been told to begin, and not yet to end. */
  let hasBegun = false;
  let isOpen = true;
  return { query: Object.assign(ask, { later }), script, abandon, end };

  function ask<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Row[]> {
    return new Promise<Row[]>((resolve, reject) => {
      add({ ...stepOf(statement, values), resolve: resolve as Waiting['resolve'], reject });
      schedule();
    });
  }

  function later<Row extends object>(statement: Statement, values?: readonly unknown[]): Later<Row> {
    let found: object[] | undefined;
    const resolve = (rows: object[]) => {
      found = rows;
    };
    add({ ...stepOf(statement, values), resolve, reject: ignore });
    return () => {
      if (found === undefined) throw new Error(`"${statement.name}" has not run yet`);
      return found as Row[];
    };
  }

  async function script(text: string): Promise<void> {
    while (underWay) await underWay;
    if (waiting.length > 0) await travel();
    await session.command(text);
  }

  function add(one: Waiting): void {
    // A query that was not awaited must not run in another caller's transaction.
    if (!isOpen) throw ended(one);
    waiting.push(one);
  }

  function schedule(): void {
    if (isScheduled || underWay) return;
    isScheduled = true;
    // After everything that follows from promises that are already settled.
    process.nextTick(depart);
  }

  function depart(): void {
    isScheduled = false;
    if (!isOpen) return;
    underWay = travel().then(arrive, arrive);
  }

  function arrive(): void {
    underWay = undefined;
    if (waiting.some(isAwaited)) schedule();
  }

  async function travel(last: readonly Waiting[] = []): Promise<readonly Done[]> {
    const steps = [...waiting, ...last];
    waiting = [];
    hasBegun = true;
    try {
      const done = await session.run(steps);
      for (const [place, { resolve }] of steps.entries()) resolve(done[place]?.rows ?? []);
      return done;
    } catch (error) {
      for (const { reject } of steps) reject(error);
      throw error;
    }
  }

  /** Returns whether the server may still have a transaction open. */
  async function abandon(): Promise<boolean> {
    isOpen = false;
    await underWay;
    for (const one of waiting) one.reject(ended(one));
    return hasBegun;
  }

  /** Undefined if there was nothing to do at all. */
  async function end(last: Step): Promise<Done | undefined> {
    isOpen = false;
    await underWay;
    if (!hasBegun && waiting.length === begin.length) return undefined;
    const done = await travel([unawaited(last)]);
    hasBegun = false;
    return done.at(-1);
  }
}

function stepOf(statement: Statement, values: readonly unknown[] = []): Step {
  return { statement, values: writeValues(values) };
}

function ended({ statement }: Step): Error {
  return new Error(`"${statement.name}" was sent after its transaction had ended`);
}

const ignore = () => undefined;

function unawaited(step: Step): Waiting {
  return { ...step, resolve: ignore, reject: ignore };
}

function isAwaited({ reject }: Waiting): boolean {
  return reject !== ignore;
}
