/** A named prepared statement: parsed and planned once per connection, then called by name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Its text depends on what was asked: parsed each time, and remembered by no connection. */
  readonly isOneOff?: true;
}

const NAME = /^[a-z][\w.:-]{0,62}$/i;
const texts = new Map<string, string>();

/**
 * A connection keeps one text per name, so a name must mean one text in the whole server: a second text would return
 * the rows of the first. PostgreSQL truncates names at 63 bytes, which would merge two long names into one.
 */
export function sql(name: string, text: string): Statement {
  if (!NAME.test(name)) throw new Error(`invalid statement name "${name}": at most 63 letters, digits and _ . : -`);
  const known = texts.get(name);
  if (known !== undefined && known !== text) throw new Error(`two statements are named "${name}"`);
  texts.set(name, text);
  return { name, text };
}

/**
 * A statement whose text has too many forms to be prepared by name: every form would stay in the memory of every
 * connection. Values are parameters here as well, so nothing that a caller sends is ever part of the text.
 */
export function oneOff(name: string, text: string): Statement {
  return { name, text, isOneOff: true };
}
