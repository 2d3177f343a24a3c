import pg from 'pg';
import type { Done, Step } from './transaction.ts';

/** Parts of node-postgres that its types do not declare. */
interface Connection {
  readonly stream: { cork(): void; uncork(): void };
  /** The texts of the statements that this connection has prepared, by name. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  parse(statement: { name: string; text: string }): void;
  bind(call: { statement: string; values: unknown[] }): void;
  describe(portal: { type: 'P' }): void;
  execute(portal: object): void;
  sync(): void;
}

interface MultiQuery {
  handleCommandComplete(message: unknown, connection: unknown): void;
}

const UNNAMED = '';
const PLAIN = pg.Query.prototype as unknown as MultiQuery;

interface PostgresTripOptions {
  /** A statement that one server process has prepared may next be sent to another one. */
  readonly isPooled: boolean;
  readonly timeoutMs: number | undefined;
}

/**
 * Statements that travel to the server together, and whose answers come back together: sending and receiving wakes two
 * processes, which often takes longer than the statement itself.
 */
export class PostgresTrip extends pg.Query {
  readonly #steps: readonly Step[];
  readonly #isPooled: boolean;
  /** How many statements the server has completed. */
  #completed = 0;
  /** The library looks at these: which statement is prepared now, and how long the answer may take. */
  name = UNNAMED;
  text = '';
  readonly query_timeout: number | undefined;

  constructor(
    steps: readonly Step[],
    { isPooled, timeoutMs }: PostgresTripOptions,
    callback: (error: Error | null | undefined, results: Done | readonly Done[]) => void,
  ) {
    super('', callback as never);
    this.#steps = steps;
    this.#isPooled = isPooled;
    this.query_timeout = timeoutMs;
    this.#lookAt(0);
    // The library declares this as a field of each query.
    this.submit = (connection) => this.#submit(connection as unknown as Connection);
  }

  get completed(): number {
    return this.#completed;
  }

  handleCommandComplete(message: unknown, connection: unknown): void {
    PLAIN.handleCommandComplete.call(this, message, connection);
    this.#completed += 1;
    this.#lookAt(this.#completed);
  }

  #submit(connection: Connection): void {
    const prepared = new Set<string>();
    connection.stream.cork();
    try {
      for (const { statement, values = [] } of this.#steps) {
        const name = this.#nameOf(statement);
        const isPrepared = name !== UNNAMED && (name in connection.parsedStatements || prepared.has(name));
        if (!isPrepared) connection.parse({ name, text: statement.text });
        prepared.add(name);
        connection.bind({ statement: name, values });
        connection.describe({ type: 'P' });
        connection.execute({});
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  #lookAt(place: number): void {
    const statement = this.#steps[place]?.statement;
    this.name = statement === undefined ? UNNAMED : this.#nameOf(statement);
    this.text = statement?.text ?? '';
  }

  #nameOf({ name, isOneOff }: Step['statement']): string {
    return this.#isPooled || isOneOff ? UNNAMED : name;
  }
}
