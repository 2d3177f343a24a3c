import type { Actor } from '../../changes/audit-entry.ts';
import type { TrustCaller } from '../../federation/trust-rules.ts';
import type { RequestRule } from '../../requests/rules/request-rule.ts';
import type { WebhookCreator } from '../../webhooks/webhook.ts';
import type { OrganizationNow, StoredTokenPolicy } from '../organization-now.ts';
import type { RobotPlan } from './robot-plan.ts';
import type { RolePartPlan, WantedRoleParts } from './role-part-plan.ts';
import type { TeamPlan } from './team-plan.ts';
import type { WebhookPlan } from './webhook-plan.ts';

/** What is done about a file. Undefined is what the file says nothing about, or nothing new. */
export interface OrganizationPlan {
  readonly organizationId: bigint;
  readonly today: Date;
  readonly teams: TeamPlan;
  readonly robots: RobotPlan;
  readonly roleParts: WantedRoleParts | undefined;
  /** The state that the plan of roles was made in, and the plan. */
  readonly after: OrganizationNow['roleFile'];
  readonly roles: RolePartPlan;
  readonly requestRules: readonly RequestRule[] | undefined;
  readonly webhooks: WebhookPlan;
  readonly tokenPolicy: StoredTokenPolicy | undefined;
  readonly secondFactor: { readonly required: boolean } | undefined;
}

/** Whose file it is, and who sent it. */
export interface FileCaller {
  readonly organizationId: bigint;
  readonly organizationName: string;
  readonly actor: Actor;
  /** Whose rights count for the webhooks that the file changes. */
  readonly creator: WebhookCreator;
  readonly isRobot: boolean;
  readonly hasSecondFactor: boolean;
  /** How far the credential goes, and for how long. */
  readonly credential: Pick<TrustCaller, 'person' | 'scopes' | 'limits' | 'until'>;
  /** Rejects a session that was not proven lately. */
  readonly requireProof: () => void;
}
