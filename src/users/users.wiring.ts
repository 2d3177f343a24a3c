import { createMailer } from '../base/mail.ts';
import { createSignedTexts } from '../base/signed-text.ts';
import { createCookies } from '../http/cookies.ts';
import type { Brake } from '../http/limits/brake.ts';
import type { Scope } from '../http/server.ts';
import { createAssignedNames } from '../identity/account-names/assigned-names.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import { createPasswordChangeStore } from '../identity/passwords/password-change.store.ts';
import { createPasswordChange } from '../identity/passwords/password-change.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { accountRoutes } from './account.routes.ts';
import { addUpCounts } from './account-counts.store.ts';
import { adminUserRoutes } from './admin-users.routes.ts';
import { avatarRoutes } from './avatars.routes.ts';
import { createConfirmationLinks } from './emails/confirmation-links.ts';
import { createDomainRule } from './emails/email-domains.ts';
import { emailRoutes } from './emails/emails.routes.ts';
import { createEmailStore } from './emails/emails.store.ts';
import { createEmails } from './emails/emails.ts';
import { followRoutes } from './follows/follows.routes.ts';
import { createFollowStore } from './follows/follows.store.ts';
import { createFollows } from './follows/follows.ts';
import { nameCheckRoutes } from './name-check/name-check.routes.ts';
import { createNameCheckStore } from './name-check/name-check.store.ts';
import { createNameCheck } from './name-check/name-check.ts';
import { signInRoutes } from './sign-in.routes.ts';
import { createSignIn } from './sign-in.ts';
import { userSessionRoutes } from './user-sessions.routes.ts';
import { userRoutes } from './users.routes.ts';
import { createUserStore } from './users.store.ts';
import { createUsers } from './users.ts';

export function wireUsers(infrastructure: Infrastructure, { callers, sessions, tickets }: Identity, brake: Brake) {
  const { config, keys, db, revisions, quotas, log, baseUrl } = infrastructure;
  const isDomainAllowed = createDomainRule(config.EMAIL_ALLOWED_DOMAINS, config.EMAIL_BLOCKED_DOMAINS);
  const links = createConfirmationLinks(createSignedTexts(keys.derive('email confirmation')), baseUrl);
  const policy = {
    confirm: config.EMAIL_CONFIRMATION,
    confirmationsPerHour: quotas.limits.confirmationEmailsPerHour,
    isDomainAllowed,
  };
  const hasPasswords = config.PASSWORDS === 'on';
  const users = createUsers(createUserStore(db, revisions.write), hasPasswords);
  const emails = createEmails(createEmailStore(db, revisions.write, quotas), policy, links, createMailer(config, log));
  const follows = createFollows(createFollowStore(db, quotas));
  const signIn = createSignIn(callers, users, sessions, tickets);
  const cookies = createCookies(() => baseUrl().startsWith('https:'));
  const addUp = () => addUpCounts(db.query);
  return { users, emails, follows, signIn, cookies, isDomainAllowed, addUp, mount, mountRoot };

  function mount(scope: Scope): void {
    const changePassword = createPasswordChange(
      createPasswordChangeStore(revisions.write),
      brake.password,
      hasPasswords,
    );
    accountRoutes(scope, { users, changePassword, baseUrl });
    signInRoutes(scope, { signIn, brake, cookies, baseUrl });
    emailRoutes(scope, emails);
    followRoutes(scope, follows, baseUrl);
    nameCheckRoutes(scope, createNameCheck(createNameCheckStore(db), isDomainAllowed, createAssignedNames(config)));
    userRoutes(scope, users, baseUrl);
    adminUserRoutes(scope, users, baseUrl);
    userSessionRoutes(scope, { sessions, users, cookies, baseUrl });
  }

  /** Routes outside /api/v1. */
  function mountRoot(scope: Scope): void {
    avatarRoutes(scope);
  }
}
