const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s;
const ATTRIBUTES = 'target_session_attrs';
/** What we need in any case. Other values would let us end up on a standby. */
const PRIMARY = ['read-write', 'primary', 'any'];

/**
 * One URL per host. As with libpq, `postgres://user@one:5432,two:5432/db` names several servers, of which one is the
 * primary. Throws an Error whose message completes the sentence "DATABASE_URL …", and that does not repeat the URL,
 * because it may contain a password.
 */
export function databaseUrlsOf(databaseUrl: string): string[] {
  const [, start = '', hosts = '', rest = ''] = PARTS.exec(databaseUrl) ?? [];
  const urls = hosts.split(',').map((host) => URL.parse(`${start}${host}${rest}`));
  return urls.map((url) => {
    if (url === null || start === '') throw new Error('must be a URL that starts with postgres:// or postgresql://');
    const attributes = url.searchParams.get(ATTRIBUTES) ?? 'any';
    if (!PRIMARY.includes(attributes)) throw new Error(`must not ask for ${ATTRIBUTES}=${attributes}: use read-write`);
    if (url.searchParams.has(ATTRIBUTES)) url.searchParams.delete(ATTRIBUTES);
    return url.href;
  });
}
