import { BUS_USER_SEEDS } from './bus/bus-users.store.ts';
import { BUS_KEY_SEEDS } from './bus/keyring.store.ts';
import { CREDENTIAL_SPECS } from './credentials/credentials.store.ts';
import { TOTP_SECRETS } from './factors/totp.store.ts';
import { IDEMPOTENT_RESPONSES } from './idempotency/idempotency.store.ts';
import { CLUSTER_TOKEN_KEYS } from './kubernetes/signing-keys.store.ts';
import { INSTALLER_OPTIONS } from './marketplace/installers/sealed-options.store.ts';
import {
  PARKED_ID_TOKENS,
  PARKED_REFRESH_TOKENS,
  SESSION_REFRESH_TOKENS,
} from './providers/checks/session-checks.store.ts';
import { SESSION_ID_TOKENS } from './providers/provider-logout.store.ts';
import { PROVIDER_SECRETS } from './providers/providers.store.ts';
import type { SealedColumn } from './vault/rotation.ts';
import { WEBHOOK_KEYS } from './webhooks/webhook-keys.store.ts';
import { FORMER_WEBHOOK_SECRETS, WEBHOOK_SECRETS } from './webhooks/webhooks.store.ts';

/** Everything that is sealed: key rotation seals it again, and the doctor checks whether it opens. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  CREDENTIAL_SPECS,
  BUS_KEY_SEEDS,
  BUS_USER_SEEDS,
  INSTALLER_OPTIONS,
  IDEMPOTENT_RESPONSES,
  PROVIDER_SECRETS,
  SESSION_ID_TOKENS,
  SESSION_REFRESH_TOKENS,
  PARKED_ID_TOKENS,
  PARKED_REFRESH_TOKENS,
  TOTP_SECRETS,
  CLUSTER_TOKEN_KEYS,
  WEBHOOK_SECRETS,
  FORMER_WEBHOOK_SECRETS,
  WEBHOOK_KEYS,
];
