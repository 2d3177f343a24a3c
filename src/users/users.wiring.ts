import type { Config } from '../base/config/config.ts';
import { createMailer } from '../base/mail/mailer.ts';
import { createBackgroundWork } from '../base/scheduling/background-work.ts';
import { createSignedTexts } from '../base/signed-text.ts';
import { createCookies } from '../http/cookies.ts';
import { createAllowance } from '../http/limits/allowance.ts';
import type { Brake } from '../http/limits/brake.ts';
import { createPublicCalls } from '../http/limits/public-calls.ts';
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
import { createEmailCodes } from './emails/email-code.ts';
import { createDomainRule } from './emails/email-domains.ts';
import { emailRoutes } from './emails/emails.routes.ts';
import { createEmailStore } from './emails/emails.store.ts';
import { createEmails } from './emails/emails.ts';
import { createFingerprint, ERASED_PEOPLE } from './erasure/erased-identifiers.ts';
import { createErasureStore } from './erasure/erasure.store.ts';
import { createErasure } from './erasure/erasure.ts';
import { createErasureList } from './erasure/erasure-list.ts';
import { legalHoldRoutes } from './erasure/legal-holds.routes.ts';
import { followRoutes } from './follows/follows.routes.ts';
import { createFollowStore } from './follows/follows.store.ts';
import { createFollows } from './follows/follows.ts';
import { myDataRoutes } from './my-data/my-data.routes.ts';
import { nameCheckRoutes } from './name-check/name-check.routes.ts';
import { createNameCheckStore } from './name-check/name-check.store.ts';
import { createNameCheck } from './name-check/name-check.ts';
import { passwordResetRoutes } from './password-resets/password-resets.routes.ts';
import { createPasswordResetStore } from './password-resets/password-resets.store.ts';
import { createPasswordResets } from './password-resets/password-resets.ts';
import { signInRoutes } from './sign-in.routes.ts';
import { createSignIn } from './sign-in.ts';
import { signUpRoutes } from './sign-ups/sign-ups.routes.ts';
import { createSignUpStore } from './sign-ups/sign-ups.store.ts';
import { createSignUps, type SignUpPolicy } from './sign-ups/sign-ups.ts';
import { userSessionRoutes } from './user-sessions.routes.ts';
import { userRoutes } from './users.routes.ts';
import { createUserStore } from './users.store.ts';
import { createUsers } from './users.ts';

/** Emails that one network may ask for: enough for an office in which many people have forgotten their passwords. */
const EMAILS = 60;
const EMAILS_MS = 10 * 60_000;
/** Wrong codes, as for passwords: a network has the allowance of ten people. */
const PEOPLE_A_NETWORK = 10;
const A_MINUTE_MS = 60_000;
const FAILURES_MS = 5 * 60_000;

export function wireUsers(infrastructure: Infrastructure, { callers, sessions, tickets }: Identity, brake: Brake) {
  const { config, keys, db, revisions, quotas, log, share, baseUrl } = infrastructure;
  const isDomainAllowed = createDomainRule(config.EMAIL_ALLOWED_DOMAINS, config.EMAIL_BLOCKED_DOMAINS);
  const links = createConfirmationLinks(createSignedTexts(keys.derive('email confirmation')), baseUrl);
  const policy = {
    confirm: config.EMAIL_CONFIRMATION,
    confirmationsPerHour: quotas.limits.confirmationEmailsPerHour,
    isDomainAllowed,
  };
  const mailer = createMailer(config, log);
  const background = createBackgroundWork(log);
  const hasPasswords = config.PASSWORDS === 'on';
  const users = createUsers(createUserStore(db, revisions.write), hasPasswords);
  const erasureStore = createErasureStore(db, revisions.write, createFingerprint(keys.derive(ERASED_PEOPLE)));
  const erasureList = createErasureList({
    dataDir: config.DATA_DIR,
    erasedAfter: erasureStore.erasedAfter,
    onFailure: (error, path) => log.warn({ err: error }, `${path} cannot be written: note elsewhere who is erased`),
  });
  const erasure = createErasure(erasureStore, erasureList);
  const emails = createEmails(createEmailStore(db, revisions.write, quotas), policy, links, mailer);
  const resets = createPasswordResets({
    store: createPasswordResetStore(db, revisions.write),
    codes: createEmailCodes(keys.derive('password code')),
    send: mailer.send,
    baseUrl,
    hasPasswords,
  });
  const signUps = createSignUps({
    store: createSignUpStore(db, revisions.write),
    codes: createEmailCodes(keys.derive('sign-up code')),
    policy: signUpPolicy(config, isDomainAllowed),
    send: mailer.send,
    baseUrl,
  });
  const follows = createFollows(createFollowStore(db, quotas));
  const signIn = createSignIn(callers, users, sessions, tickets);
  const cookies = createCookies(() => baseUrl().startsWith('https:'));
  const addUp = () => addUpCounts(db.query);
  return { users, erasure, emails, background, follows, signIn, cookies, isDomainAllowed, addUp, mount, mountRoot };

  function mount(scope: Scope): void {
    const changePassword = createPasswordChange(
      createPasswordChangeStore(revisions.write),
      brake.password,
      hasPasswords,
    );
    const calls = createPublicCalls(
      {
        emails: share('emails requested', createAllowance(EMAILS, EMAILS_MS)),
        wrongCodes: share('wrong email codes', createAllowance(config.AUTH_FAILURES * PEOPLE_A_NETWORK, FAILURES_MS)),
      },
      background,
    );
    accountRoutes(scope, { users, changePassword, baseUrl });
    signInRoutes(scope, { signIn, brake, cookies, baseUrl });
    emailRoutes(scope, emails);
    passwordResetRoutes(scope, resets, calls);
    signUpRoutes(scope, signUps, calls, baseUrl);
    followRoutes(scope, follows, baseUrl);
    nameCheckRoutes(scope, createNameCheck(createNameCheckStore(db), isDomainAllowed, createAssignedNames(config)));
    userRoutes(scope, users, baseUrl);
    adminUserRoutes(scope, users, erasure, baseUrl);
    legalHoldRoutes(scope, erasure, baseUrl);
    myDataRoutes(scope, share('data exported', createAllowance(1, A_MINUTE_MS)));
    userSessionRoutes(scope, { sessions, users, cookies, baseUrl });
  }

  /** Routes outside /api/v1. */
  function mountRoot(scope: Scope): void {
    avatarRoutes(scope);
  }
}

/** An address must be of a domain for signing up, of one that is allowed at all, and of none that an organization has. */
function signUpPolicy(config: Config, isAllowed: (address: string) => boolean): SignUpPolicy {
  const isForSignUp = createDomainRule(config.REGISTRATION_DOMAINS, []);
  const assigned = config.SCIM_DOMAINS.map(({ domain }) => domain);
  const isAssigned = assigned.length === 0 ? () => false : createDomainRule(assigned, []);
  return {
    isOpen: config.REGISTRATION === 'domains',
    hasPasswords: config.PASSWORDS === 'on',
    isDomainAllowed: (address) => isForSignUp(address) && isAllowed(address) && !isAssigned(address),
  };
}
