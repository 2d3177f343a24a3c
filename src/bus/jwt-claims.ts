import { createHash } from 'node:crypto';
import { base32, type NkeyPair } from './nkeys.ts';

/** The content of a signed text for NATS: who issues it, whom it is about, and what they may do. */
interface Claims {
  readonly name: string;
  readonly subject: string;
  /** Whole seconds since 1970, as everywhere in these texts. */
  readonly issuedAt: number;
  readonly expiresAt?: number;
  readonly nats: object;
}

export interface OperatorClaims {
  readonly name: string;
  readonly issuedAt: number;
  readonly systemAccount: string;
}

export interface AccountClaims {
  readonly name: string;
  readonly account: string;
  readonly issuedAt: number;
  readonly jetStream?: boolean;
  /** User key → everything issued to it up to this second is rejected. */
  readonly revoked?: ReadonlyMap<string, number>;
  readonly exports?: readonly Passage[];
  readonly imports?: readonly (Passage & { readonly account: string; readonly localSubject?: string })[];
}

/** Subjects that one account lets others subscribe to (`stream`) or call (`service`). */
export interface Passage {
  readonly name: string;
  readonly subject: string;
  readonly type: 'stream' | 'service';
}

export interface UserClaims {
  readonly name: string;
  readonly user: string;
  readonly issuedAt: number;
  readonly expiresAt?: number;
  /** Never empty: to NATS an empty list means that everything is allowed. */
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

const HEADER = encode({ typ: 'JWT', alg: 'ed25519-nkey' });
const VERSION = 2;
const UNLIMITED = -1;
/** Without explicit limits, the server treats every limit as zero and drops the connections. */
const ACCOUNT_LIMITS = {
  subs: -1,
  data: -1,
  payload: -1,
  imports: -1,
  exports: -1,
  wildcards: true,
  conn: -1,
  leaf: -1,
};
const STORAGE = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
const NO_STORAGE = { mem_storage: 0, disk_storage: 0, streams: 0, consumer: 0 };
/** A client that receives a request may answer it once within a minute, on whatever subject the answer goes to. */
const ANSWERS = { max: 1, ttl: 60_000_000_000 };

export function operatorJwt(operator: NkeyPair, { name, issuedAt, systemAccount }: OperatorClaims): string {
  const nats = { system_account: systemAccount, type: 'operator', version: VERSION };
  return sign(operator, { name, subject: operator.publicKey, issuedAt, nats });
}

export function accountJwt(operator: NkeyPair, claims: AccountClaims): string {
  const { name, account, issuedAt, jetStream = false, revoked = new Map(), exports = [], imports = [] } = claims;
  const nats = {
    ...(imports.length > 0 && {
      imports: imports.map(({ localSubject, ...one }) => ({
        ...one,
        ...(localSubject !== undefined && { local_subject: localSubject }),
      })),
    }),
    ...(exports.length > 0 && { exports }),
    limits: { ...ACCOUNT_LIMITS, ...(jetStream ? STORAGE : NO_STORAGE) },
    ...(revoked.size > 0 && { revocations: Object.fromEntries(revoked) }),
    default_permissions: { pub: {}, sub: {} },
    type: 'account',
    version: VERSION,
  };
  return sign(operator, { name, subject: account, issuedAt, nats });
}

export function userJwt(account: NkeyPair, claims: UserClaims): string {
  const { name, user, issuedAt, expiresAt, publish, subscribe } = claims;
  const nats = {
    pub: { allow: publish },
    sub: { allow: subscribe },
    resp: ANSWERS,
    subs: UNLIMITED,
    data: UNLIMITED,
    payload: UNLIMITED,
    type: 'user',
    version: VERSION,
  };
  return sign(account, { name, subject: user, issuedAt, ...(expiresAt !== undefined && { expiresAt }), nats });
}

/** The ID of the text is a hash of its content, so the same claims always give the same text. */
function sign(issuer: NkeyPair, { name, subject, issuedAt, expiresAt, nats }: Claims): string {
  const body = { iat: issuedAt, iss: issuer.publicKey, name, sub: subject, ...(expiresAt && { exp: expiresAt }), nats };
  const jti = base32(createHash('sha512-256').update(JSON.stringify(body)).digest());
  const said = `${HEADER}.${encode({ jti, ...body })}`;
  return `${said}.${issuer.sign(said).toString('base64url')}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
