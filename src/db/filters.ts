import { hash } from 'node:crypto';
import { type Statement, sql } from './statement.ts';

/**
 * The filters of a list. Every set of filters is a statement of its own, so that each condition in it can be a position
 * in an index: `$1 is null or …` never is.
 */
export interface Filters {
  /** A parameter with this value, such as `$3`. */
  place(value: unknown): string;
  /** Does nothing if there is no value. `word` tells the statement apart from those with other filters. */
  add(word: string, value: unknown, condition: (parameter: string) => string): void;
  /** A condition without a value of its own. */
  require(word: string, condition: string): void;
  /** `compose` gets the conditions as a `where` clause, which is empty if there are none. */
  statement(name: string, compose: (where: string) => string): Statement;
  readonly values: readonly unknown[];
}

/** `first` are the values of `$1` and so on, which every statement has. */
export function createFilters(...first: readonly unknown[]): Filters {
  const values: unknown[] = [...first];
  const conditions: string[] = [];
  const words: string[] = [];
  return { place, add, require, statement, values };

  function place(value: unknown): string {
    return `$${values.push(value)}`;
  }

  function add(word: string, value: unknown, condition: (parameter: string) => string): void {
    if (value !== undefined) require(word, condition(place(value)));
  }

  function require(word: string, condition: string): void {
    words.push(word);
    conditions.push(condition);
  }

  function statement(name: string, compose: (where: string) => string): Statement {
    const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
    return sql(nameOf(name, words), compose(where));
  }
}

/** PostgreSQL cuts longer names off, and then two statements could have the same one. */
const MAX_NAME = 63;

function nameOf(name: string, words: readonly string[]): string {
  const whole = [name, ...words].join('.');
  return whole.length <= MAX_NAME ? whole : `${name}.${hash('sha256', words.join('.'), 'hex').slice(0, 16)}`;
}
