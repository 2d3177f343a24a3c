import { type AppError, reasonOf } from '../base/errors.ts';
import { escapeHtml } from '../base/escape-html.ts';

/** Shown by a browser that a provider has sent back, so there is no console to show it in. */
export const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const TITLES: Readonly<Partial<Record<string, string>>> = {
  sign_in_expired: 'Please sign in again',
  provider_refused: 'The provider did not sign you in',
  provider_failed: 'The provider does not answer',
  client_rejected: 'The provider does not know this server',
  sign_in_rejected: 'The answer of the provider is not accepted',
  email_unverified: 'Your email address is not verified',
  email_taken: 'Your email address belongs to another account',
  domain_not_allowed: 'Your email address cannot be used here',
  account_not_found: 'You have no account here',
  linking_off: 'Your account cannot be linked',
  already_linked: 'Linked to another user already',
  provider_not_found: 'There is no such provider',
  rate_limited: 'Too many attempts',
};

const STYLE = `
  :root { color-scheme: light dark; --ink: #1d2433; --soft: #5b657a; --paper: #f6f4ef; --card: #fff; --line: #e3ded3; --mark: #a24420; }
  @media (prefers-color-scheme: dark) { :root { --ink: #ece8df; --soft: #a7adba; --paper: #14171f; --card: #1b1f2a; --line: #2c3240; --mark: #e58a5e; } }
  body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, sans-serif; }
  main { max-width: 34rem; margin: 0 auto; padding: 14vh 1.5rem 4rem; }
  h1 { font: 600 1.8rem/1.2 Georgia, serif; margin: 0 0 1rem; }
  p { overflow-wrap: anywhere; } small { color: var(--soft); }
  a { color: var(--mark); font-weight: 600; }`;

/** Where to sign in with another account of the same provider. */
export interface AnotherAccount {
  readonly url: string;
  readonly displayName: string;
}

/** With another account, these may end otherwise. */
const BY_ACCOUNT = new Set([
  'provider_refused',
  'email_unverified',
  'email_taken',
  'domain_not_allowed',
  'account_not_found',
  'linking_off',
  'already_linked',
  'forbidden',
]);

/** The page about a sign-in that ended without a session: what is wrong, in words, and the reason, for support. */
export function faultPage(error: AppError, requestId: string, another?: AnotherAccount): string {
  const reason = reasonOf(error);
  const choice =
    another && BY_ACCOUNT.has(reason)
      ? `\n  <p><a href="${escapeHtml(another.url)}">Use another account of ${escapeHtml(another.displayName)}</a></p>`
      : '';
  const title = TITLES[reason] ?? 'You are not signed in';
  const message =
    error.kind === 'internal' || error.kind === 'unavailable' ? 'Something went wrong here.' : sentence(error);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – Atrium</title>
<link rel="icon" href="data:,">
<style>${STYLE}
</style>
</head>
<body>
<main>
  <h1>${escapeHtml(title)}</h1>
  <p>${escapeHtml(message)}</p>${choice}
  <p><a href="/signin">Back to sign-in</a></p>
  <p><small>Reason: <code>${escapeHtml(reason)}</code>, request <code>${escapeHtml(requestId)}</code></small></p>
</main>
</body>
</html>
`;
}

function sentence({ message }: AppError): string {
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`.replace(/\.\.$/, '.');
}
