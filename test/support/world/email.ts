import assert from 'node:assert/strict';
import type { SmtpServer } from '../services/smtp.ts';

export interface ReadEmail {
  readonly to: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly html: string;
}

/** An email as a program for reading them understands it. It fails unless there is one text part and one HTML part. */
export function readEmail({ to, text: source }: SmtpServer['letters'][number]): ReadEmail {
  const { headers, body } = split(source);
  const boundary = /^multipart\/alternative;.*boundary="([^"]+)"/.exec(headers['content-type'] ?? '')?.[1];
  assert.ok(boundary, `two alternatives: ${headers['content-type']}`);
  const parts = body.split(`--${boundary}`).slice(1, -1).map(decode);
  assert.deepEqual(
    parts.map(({ type }) => type),
    ['text/plain; charset=utf-8', 'text/html; charset=utf-8'],
  );
  return { to, headers, text: parts[0]?.text ?? '', html: parts[1]?.text ?? '' };
}

function decode(source: string): { type: string; text: string } {
  const { headers, body } = split(source.replace(/^\n/, ''));
  const type = headers['content-type'] ?? '';
  const encoding = headers['content-transfer-encoding'] ?? '7bit';
  if (encoding === 'base64') return { type, text: Buffer.from(body, 'base64').toString('utf8') };
  if (encoding !== 'quoted-printable') return { type, text: body };
  const bytes = body
    .replace(/=\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return { type, text: Buffer.from(bytes, 'latin1').toString('utf8') };
}

function split(source: string): { headers: Record<string, string>; body: string } {
  const end = source.indexOf('\n\n');
  const lines = source
    .slice(0, end)
    .replace(/\n[ \t]+/g, ' ')
    .split('\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  return { headers, body: source.slice(end + 2) };
}
