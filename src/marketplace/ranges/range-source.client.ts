import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readBody } from '../../base/outbound/response-body.ts';
import type { Fetched, KnownRanges } from './ranges.ts';

const TIMEOUT_MS = 30_000;
/** The published list has 2 MiB. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Reads the list from a file, or downloads it if it has changed. */
export async function fetchRanges(source: string, known: KnownRanges | undefined): Promise<Fetched> {
  if (!/^https?:/.test(source)) {
    const path = source.startsWith('file:') ? fileURLToPath(source) : resolve(source);
    return { changed: true, text: await readFile(path, 'utf8'), etag: null, lastModified: null };
  }
  const headers = {
    ...(known?.etag && { 'If-None-Match': known.etag }),
    ...(known?.lastModified && { 'If-Modified-Since': known.lastModified }),
  };
  const answer = await fetch(source, { headers, signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
  if (answer.status === 304) return { changed: false };
  if (answer.status !== 200) {
    await answer.body?.cancel();
    throw new Error(`the source of the address ranges answered ${answer.status}`);
  }
  return {
    changed: true,
    text: (await readBody(answer, MAX_BYTES)).toString('utf8'),
    etag: answer.headers.get('etag'),
    lastModified: answer.headers.get('last-modified'),
  };
}
