import { hash } from 'node:crypto';
import { type Statement, sql } from '../../../src/db/statement.ts';

/** Ad-hoc SQL of a test, named by its own text. */
export function statement(text: string): Statement {
  return sql(`test.${hash('sha1', text)}`, text);
}
