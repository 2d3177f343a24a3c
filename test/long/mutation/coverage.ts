import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** For each process, the ranges of each source file that V8 counted, outer ones first. */
export type Coverage = readonly ReadonlyMap<string, readonly Range[]>[];

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface Report {
  readonly result: readonly { readonly url: string; readonly functions: readonly { readonly ranges: Range[] }[] }[];
}

/** What Node wrote to the folder `NODE_V8_COVERAGE`. Offsets are those of the source, because types become spaces. */
export function readCoverage(folder: string): Coverage {
  return readdirSync(folder).map((name) => {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Report;
    const sources = result.filter(({ url }) => url.startsWith('file:') && url.includes('/src/'));
    return new Map(
      sources.map(({ url, functions }) => [
        relative('.', fileURLToPath(url)),
        functions.flatMap(({ ranges }) => ranges).sort((one, other) => lengthOf(other) - lengthOf(one)),
      ]),
    );
  });
}

/** Whether the code at this place has run: the smallest range around it decides. */
export function reaches(coverage: Coverage, file: string, place: number): boolean {
  return coverage.some((ranges) => {
    const around = ranges.get(file)?.filter((range) => range.startOffset <= place && place < range.endOffset);
    return (around?.at(-1)?.count ?? 0) > 0;
  });
}

function lengthOf({ startOffset, endOffset }: Range): number {
  return endOffset - startOffset;
}
