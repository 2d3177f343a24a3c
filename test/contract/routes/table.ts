import { ACCESS } from './access.ts';
import { ACCESS_REQUESTS } from './access-requests.ts';
import { ADMINISTRATION } from './administration.ts';
import { ASSIGNMENTS } from './assignments.ts';
import { AUDIT } from './audit.ts';
import { AUTHZEN } from './authzen.ts';
import { BUS } from './bus.ts';
import { CLUSTERS } from './clusters.ts';
import { CONTRACTS } from './contracts.ts';
import { CREDENTIALS } from './credentials.ts';
import { DEVICES } from './devices.ts';
import { EMAILS } from './emails.ts';
import { FACTORS } from './factors.ts';
import { FOLLOWING } from './following.ts';
import { FORWARD } from './forward.ts';
import { GUARDRAILS } from './guardrails.ts';
import { HOSTED } from './hosted.ts';
import { INVITATIONS } from './invitations.ts';
import { KUBERNETES } from './kubernetes.ts';
import { LINKED_ACCOUNTS } from './linked-accounts.ts';
import { MARKETPLACE } from './marketplace.ts';
import { ME } from './me.ts';
import { MEMBERS } from './members.ts';
import { ORDERS } from './orders.ts';
import { ORGANIZATION_FILE } from './organization-file.ts';
import { ORGANIZATIONS } from './organizations.ts';
import { OWN_DATA } from './own-data.ts';
import { PAGES } from './pages.ts';
import { PASSWORDS } from './passwords.ts';
import { PROVIDERS } from './providers.ts';
import { REVIEWS } from './reviews.ts';
import { ROBOTS } from './robots.ts';
import { ROLES } from './roles.ts';
import type { Routes } from './route.ts';
import { SCIM } from './scim.ts';
import { SESSIONS } from './sessions.ts';
import { SIGN_IN } from './sign-in.ts';
import { TEAMS } from './teams.ts';
import { TOKENS } from './tokens.ts';
import { USERS } from './users.ts';
import { VERSION } from './version.ts';
import { WEBHOOKS } from './webhooks.ts';

/** In the order in which the examples are sent to one server: what one needs, an earlier one has created. */
export const NOUNS: readonly Routes[] = [
  ASSIGNMENTS,
  ACCESS_REQUESTS,
  VERSION,
  ME,
  EMAILS,
  FOLLOWING,
  USERS,
  TOKENS,
  SIGN_IN,
  FACTORS,
  SESSIONS,
  DEVICES,
  LINKED_ACCOUNTS,
  PASSWORDS,
  OWN_DATA,
  CREDENTIALS,
  ORDERS,
  BUS,
  FORWARD,
  ACCESS,
  ROLES,
  GUARDRAILS,
  ORGANIZATION_FILE,
  ORGANIZATIONS,
  MEMBERS,
  TEAMS,
  PROVIDERS,
  CLUSTERS,
  CONTRACTS,
  ROBOTS,
  AUDIT,
  ADMINISTRATION,
  MARKETPLACE,
  REVIEWS,
  WEBHOOKS,
  INVITATIONS,
  KUBERNETES,
  HOSTED,
  SCIM,
  AUTHZEN,
  PAGES,
];

/** Every route of every deployment, by method and path. */
export const ROUTES: Routes = Object.fromEntries(NOUNS.flatMap((noun) => Object.entries(noun)));
