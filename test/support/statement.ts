import { hash } from 'node:crypto';
import { type Statement, sql } from '../../src/db/statement.ts';

/** SQL that a test says in passing, named by its own text. */
export function statement(text: string): Statement {
  return sql(`test.${hash('sha1', text)}`, text);
}
