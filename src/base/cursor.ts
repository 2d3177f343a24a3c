import { AppError } from './errors.ts';

/** A position in a list, opaque to callers so that its content can change. */
export function writeCursor(place: string): string {
  return Buffer.from(place).toString('base64url');
}

/** `read` returns undefined for a text that this server does not write. */
export function readCursor<Place>(cursor: string, read: (text: string) => Place | undefined): Place {
  const place = read(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (place === undefined) throw new AppError('invalid', 'cursor was not issued by this server');
  return place;
}
