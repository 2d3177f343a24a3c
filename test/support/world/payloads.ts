import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * The folder of sample payloads: named by the environment, otherwise next to this checkout or above it; undefined if
 * absent.
 */
export function payloadFolder(): string | undefined {
  const named = process.env.MARKETPLACE_PAYLOADS;
  if (named) return named;
  for (let folder = resolve('.'); ; folder = dirname(folder)) {
    const found = join(folder, 'shared', 'marketplace-payloads');
    if (existsSync(join(found, 'MANIFEST.json'))) return found;
    if (folder === dirname(folder)) return undefined;
  }
}

export interface Payload {
  readonly file: string;
  readonly note: string;
  readonly kind: string;
  readonly sha256: string;
  readonly text: string;
}

export function readPayloads(folder: string): Payload[] {
  const manifest = JSON.parse(readFileSync(join(folder, 'MANIFEST.json'), 'utf8')) as Omit<Payload, 'text'>[];
  return manifest.map((entry) => ({ ...entry, text: readFileSync(join(folder, entry.file), 'utf8') }));
}
