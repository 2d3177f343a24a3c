import { readFile } from 'node:fs/promises';
import { parse as parseYaml } from 'yaml';
import type { Tuple } from '../src/rebac.ts';

/**
 * Reads a tuple file of a store: YAML or JSON (a subset of YAML), one JSON object per line, or CSV with OpenFGA's
 * column names.
 */
export async function readTuples(path: string): Promise<Tuple[]> {
  const text = await readFile(path, 'utf8');
  if (path.endsWith('.csv')) return fromCsv(text);
  if (path.endsWith('.jsonl'))
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line));
  return (parseYaml(text) as Tuple[] | null) ?? [];
}

function fromCsv(text: string): Tuple[] {
  const [header, ...rows] = parseCsv(text);
  return rows.map((cells) => {
    const cell = (name: string): string => cells[header?.indexOf(name) ?? -1] ?? '';
    const relation = cell('user_relation');
    const context = cell('condition_context');
    return {
      user: `${cell('user_type')}:${cell('user_id')}${relation === '' ? '' : `#${relation}`}`,
      relation: cell('relation'),
      object: `${cell('object_type')}:${cell('object_id')}`,
      ...(cell('condition_name') !== '' && {
        condition: { name: cell('condition_name'), ...(context !== '' && { context: JSON.parse(context) }) },
      }),
    };
  });
}

function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue;
    const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)];
    rows.push(
      cells.map(([, quoted, bare]) => (quoted === undefined ? (bare ?? '') : quoted.replaceAll('""', '"')).trim()),
    );
  }
  return rows;
}
