/** The rules for names of users and organizations, which share one namespace. */
export type NameVerdict = 'VALID' | 'RESERVED' | 'INVALID';

/** Why an account cannot have a valid name: another account has it, or had it until recently. */
export type NameConflict = 'name taken' | 'name reserved';

const SHAPE = /^[0-9A-Za-z][-.\w]*$/;
const ODD_PUNCTUATION = /[-._]{2}|[-._]$/;
const MOST = 40;
const RESERVED_ENDINGS = ['.keys', '.gpg', '.rss', '.atom', '.png'];
const RESERVED = new Set(
  `.well-known admin api assets atrium attachments authz avatar avatars captcha commits console css debug docs error
   explore favicon.ico ghost gitea-actions healthz help img install invite issues js less links login logout
   manifest.json marketplace metrics milestones new notifications openapi.json openapi3.v1.json org plugins pulls raw
   readyz repo repo-avatars robots.txt scim search serviceworker.js settings signin signout sitemap.xml ssh_info stars
   swagger.v1.json template user users v2 vendor version`.split(/\s+/),
);

export function judgeName(name: string): NameVerdict {
  if (name.length > MOST || !SHAPE.test(name) || ODD_PUNCTUATION.test(name)) return 'INVALID';
  const key = name.toLowerCase();
  if (RESERVED.has(key) || RESERVED_ENDINGS.some((ending) => key.endsWith(ending))) return 'RESERVED';
  return 'VALID';
}

/**
 * The name in lower case, as it is stored. A text that cannot be a name has no key: characters beyond ASCII can turn
 * into ASCII when their case is changed, and would find another account.
 */
export function nameKey(name: string): string {
  return SHAPE.test(name) ? name.toLowerCase() : '';
}
