import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { accepts } from '../wire/compression.ts';

/** One file of the built console, as `scripts/console.mjs` lists it. */
interface Listed {
  readonly path: string;
  readonly type: string;
  /** Which compressed forms are next to it. */
  readonly encodings: readonly Encoding[];
}

type Encoding = 'br' | 'gzip';

export interface ConsoleFile {
  readonly type: string;
  readonly encoding: Encoding | undefined;
  readonly content: Buffer;
}

const SUFFIX: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz' };

/** Undefined if the console has not been built: everything else works without it. */
export function openConsoleFiles(folder: string) {
  const built = readBuilt(folder);
  if (built === undefined) return undefined;
  const files = new Map(built.files.map((file) => [file.path, file]));
  const loaded = new Map<string, Promise<Buffer>>();
  return { page: built.page, find };

  /** The file in the best form that the browser accepts. Each form is read once. */
  async function find(path: string, accepted: string): Promise<ConsoleFile | undefined> {
    const file = files.get(path);
    if (file === undefined) return undefined;
    const encoding = file.encodings.find((one) => accepts(accepted, one));
    const name = path.slice(1) + (encoding === undefined ? '' : SUFFIX[encoding]);
    const content = loaded.get(name) ?? readFile(join(folder, name));
    loaded.set(name, content);
    return { type: file.type, encoding, content: await content };
  }
}

export type ConsoleFiles = NonNullable<ReturnType<typeof openConsoleFiles>>;

function readBuilt(folder: string): { page: string; files: readonly Listed[] } | undefined {
  try {
    const files = JSON.parse(readFileSync(join(folder, 'files.json'), 'utf8')) as readonly Listed[];
    return { page: readFileSync(join(folder, 'index.html'), 'utf8'), files };
  } catch {
    return undefined;
  }
}
