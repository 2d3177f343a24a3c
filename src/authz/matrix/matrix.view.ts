import { csvField } from '../../base/csv.ts';
import { writeJson, writeLongListInSlices } from '../../base/json.ts';
import { mapInSlices } from '../../base/scheduling/slices.ts';
import { isRobotPrincipal } from '../../changes/principal.ts';
import { plainId } from '../../http/wire/schemas.ts';
import { presentMarked } from '../explain/marked-user.view.ts';
import type { ObjectName } from '../explain/what-can.ts';
import type { PersonRef } from '../explain/who-can.ts';
import { isSet, type Row } from './cells.ts';
import type { Matrix } from './matrix.ts';

/** Users who are alike share a row, so each row becomes text once: there may be a hundred thousand cells. */
export async function writeMatrix(type: string, at: string, found: Matrix, since?: object): Promise<string> {
  const { relations, users, objects, rows, leftOut, whole } = found;
  const texts = textOnce((row) => `[${row.join()}]`);
  const cells = await mapInSlices(rows, texts);
  const parts = [
    `"type":${writeJson(type)},"at":${writeJson(at)},"relations":${writeJson(relations)}`,
    `"users":${await writeLongListInSlices(users, person)},"objects":${await writeLongListInSlices(objects, plain)}`,
    `"cells":[${cells.join()}]`,
  ];
  if (leftOut) parts.push(`"left_out":${writeJson({ ...leftOut, common: leftOut.common ?? [] })}`);
  if (whole) parts.push(`"whole":${writeJson(whole)}`);
  if (since) parts.push(`"changed_since":${writeJson(since)}`);
  return `{${parts.join()}}`;
}

function plain({ id, name }: ObjectName) {
  return { id: plainId(id), name };
}

function person({ active, ...one }: PersonRef) {
  const { id, ...rest } = presentMarked(one);
  return { ...rest, id: plainId(id), ...(active === false && { active }) };
}

/** A row for each user, a column for each object, and in each cell the relations, separated by spaces. */
export async function writeCsv({ relations, users, objects, rows }: Matrix): Promise<string> {
  const words = new Map<number, string>();
  const word = (cell: number) => {
    const known = words.get(cell) ?? relations.filter((_, index) => isSet(cell, index)).join(' ');
    words.set(cell, known);
    return known;
  };
  const texts = textOnce((row) => row.map((cell) => `,${word(cell)}`).join(''));
  const counts = Map.groupBy(objects, ({ name }) => name);
  const heads = objects.map(({ id, name }) =>
    counts.get(name)?.length === 1 && name !== '' ? name : `${name} #${id}`,
  );
  const lines = await mapInSlices(users, (user, place) => `${csvField(nameOf(user))}${texts(rows[place] ?? [])}`);
  return `${[['user', ...heads].map(csvField).join(), ...lines].join('\r\n')}\r\n`;
}

/** A robot is named as in questions, because a user can have the same name. */
function nameOf({ id, name }: PersonRef): string {
  return isRobotPrincipal(id) ? `robot:${name}` : name;
}

function textOnce(write: (row: Row) => string): (row: Row) => string {
  const texts = new Map<Row, string>();
  return (row) => {
    const text = texts.get(row) ?? write(row);
    texts.set(row, text);
    return text;
  };
}
