import type { TrustRuleDraft } from '../federation/trust-rule.ts';
import type { Permission } from '../identity/callers.ts';
import type { RequestRule } from '../requests/rules/request-rule.ts';
import type { RoleFileNow } from '../roles/role-file.ts';
import type { WebhookDraft } from '../webhooks/webhook.ts';

export interface StoredMember {
  readonly id: bigint;
  readonly login: string;
  readonly expiresAt: Date | null;
  /** An identity provider put them into the team, and takes them out again. */
  readonly isProvided: boolean;
}

export interface StoredTeam {
  readonly id: bigint;
  readonly name: string;
  readonly description: string;
  readonly permission: Permission;
  readonly isBuiltIn: boolean;
  /** Its members come by SCIM. */
  readonly isScim: boolean;
  readonly members: readonly StoredMember[];
}

/** What its limits name has the names of now. */
export interface StoredTrustRule extends TrustRuleDraft {
  readonly id: bigint;
}

export interface StoredRobot {
  readonly id: bigint;
  readonly name: string;
  readonly description: string;
  readonly trustRules: readonly StoredTrustRule[];
}

export interface StoredWebhook extends WebhookDraft {
  readonly id: bigint;
}

/** As far as a file can say it. */
export interface StoredTokenPolicy {
  readonly maxDays: number | null;
  readonly expiryRequired: boolean;
}

/** An account that the file names. */
export interface Account {
  readonly id: bigint;
  readonly login: string;
}

/** Everything that a file is about, at one moment. */
export interface OrganizationNow {
  readonly id: bigint;
  readonly name: string;
  readonly teams: readonly StoredTeam[];
  readonly robots: readonly StoredRobot[];
  readonly roleFile: RoleFileNow;
  readonly requestRules: readonly RequestRule[];
  readonly webhooks: readonly StoredWebhook[];
  readonly tokenPolicy: StoredTokenPolicy;
  readonly secondFactor: boolean;
  /** By login in lower case: those that the file names. */
  readonly accounts: ReadonlyMap<string, Account>;
}
