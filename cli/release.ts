import { readFileSync } from 'node:fs';

/** The version of this program. package.json is one folder above cli/, and two above dist/cli/. */
export function ownVersion(): string {
  for (const place of ['../package.json', '../../package.json']) {
    try {
      return (JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as { version: string }).version;
    } catch {}
  }
  return '0.0.0';
}
