import { LIMITS, type LimitSetting } from './limits.ts';
import {
  bucket,
  databaseUrl,
  days,
  flag,
  folderOrBucket,
  headers,
  list,
  networks,
  oneOf,
  origins,
  period,
  port,
  proxies,
  ratio,
  rootKey,
  type Setting,
  scimDomains,
  storedCredential,
  text,
  url,
  urls,
  whole,
  words,
  workers,
} from './setting-kinds.ts';

const limitSettings = Object.fromEntries(
  Object.values(LIMITS).map(({ setting, fallback, of }) => [
    setting,
    whole(1, 1_000_000_000)(String(fallback), `Maximum number of ${of}`),
  ]),
) as Readonly<Record<LimitSetting, Setting<number>>>;

/**
 * Every setting of the server is in this table once: its name, how it is read, its default and one line of help.
 * `.env.example` and docs/configuration.md are generated from it, and code uses the same name for a setting as the
 * operator.
 */
export const SETTINGS = {
  HOST: text('127.0.0.1', 'Address that the server listens on.'),
  PORT: port('3000', 'Port of the API. 0 picks any free port.'),
  ADMIN_HOST: text('127.0.0.1', 'Address that the admin port listens on. Do not make it public.'),
  ADMIN_PORT: port('3001', 'Port of /healthz, /readyz and /metrics. 0 turns it off.'),
  BASE_URL: url('http', 'https')(undefined, 'URL at which clients reach the server. By default, http://HOST:PORT.'),
  DATA_DIR: text('./data', 'Folder for the built-in database, the key file and demo.json.'),
  DATABASE_URL: databaseUrl(
    undefined,
    'PostgreSQL database to use instead of the built-in one. Several hosts are separated by commas.',
  ),
  DATABASE_POOLER: oneOf('none', 'transaction')(
    'none',
    'transaction if DATABASE_URL leads to PgBouncer, or to another pooler, in transaction mode.',
  ),
  DATABASE_POOL: whole(1, 500)(
    '10',
    'Maximum number of PostgreSQL connections of each worker, plus one for revision queries.',
  ),
  DATABASE_TIMEOUT_MS: whole(100, 600_000)(
    '10000',
    'Queries that take longer fail. A database that does not answer at all is noticed after 2 s.',
  ),
  WORKERS: workers('1', 'Processes that serve requests. auto: one for each core. Needs PostgreSQL if more than one.'),
  SHUTDOWN_DELAY_MS: whole(0, 600_000)(
    '3000',
    'How long SIGTERM keeps the server open after /readyz fails, so that load balancers notice first.',
  ),
  DEPLOYMENT: oneOf('standard', 'hosted', 'marketplace')('standard', 'Decides which routes exist.'),
  RUN_MODE: oneOf('dev', 'prod')('prod', 'dev relaxes checks that require a public network. Not for production.'),
  ATRIUM_KEY: rootKey(undefined, 'Root key of all secrets. If unset, the first start creates a key file in DATA_DIR.'),
  ATRIUM_NEXT_KEY: rootKey(undefined, 'Only for rotate-keys: the root key that replaces the current one.'),
  LOG_LEVEL: oneOf('debug', 'info', 'warn', 'error')('info', 'Lowest level to log. debug also logs every request.'),
  RATE_LIMIT: whole(0, 1_000_000_000)(
    '600000',
    'Maximum requests per minute for each credential, or each address (IPv6: /64) if there is none. 0 means no limit.',
  ),
  REQUEST_CPU_MS: whole(100, 600_000)(
    '5000',
    'Maximum processor time of a request that reads or previews, in milliseconds. Beyond it, the request is rejected.',
  ),
  EVENT_STREAMS: whole(1, 100_000)(
    '5000',
    'Maximum of open event streams (GET /events) in each process. A user can have 20 of them.',
  ),
  AUTH_FAILURES: whole(1, 1_000_000)(
    '20',
    'Wrong passwords per name and address (IPv6: /64) before further attempts must wait. Ten times as many per address.',
  ),
  SECOND_FACTOR: oneOf(
    'optional',
    'administrators',
    'everyone',
  )('optional', 'Who must have a second factor. Organizations can require one of their members in any case.'),
  REAUTHENTICATION_MINUTES: whole(1, 10_080)(
    '15',
    'How long after a sign-in a session may do what is sensitive, before its user has to prove again who they are.',
  ),
  SESSION_HOURS: whole(1, 8760)('24', 'How long a session lasts. A provider can shorten it for its own.'),
  SESSION_REMEMBERED_DAYS: whole(0, 3650)(
    '31',
    'How long a session lasts with "Keep me signed in". 0: that is not offered.',
  ),
  SESSION_IDLE_MINUTES: whole(0, 525_600)(
    '0',
    'Sessions that are not used for this long end, to within two minutes. 0: they do not. A provider can say otherwise.',
  ),
  PROVIDER_RECHECK_MINUTES: whole(0, 525_600)(
    '60',
    'How soon a session ends here after its account at the provider is disabled or deleted. 0: it does not.',
  ),
  PROVIDER_GRACE_MINUTES: whole(0, 525_600)(
    '60',
    'How much longer such a session lasts while the provider cannot be reached.',
  ),
  QUERY_TOKENS: flag('true', 'Accept ?token= where the specification allows it.'),
  CORS_ORIGINS: origins('', 'Origins whose pages may call the API from a browser. By default, none; * means any.'),
  RESPONSE_COMPRESSION: flag(
    'true',
    'JSON of at least 1 KB is compressed if the client accepts it. false if a proxy compresses.',
  ),
  CORS_CREDENTIALS: flag('false', 'Pages of CORS_ORIGINS may also send cookies. Not with *.'),
  EMAIL_CONFIRMATION: flag('false', 'New email addresses must be confirmed with a link sent by email.'),
  EMAIL_ALLOWED_DOMAINS: words('', 'If set, only these email domains are allowed. * matches any text.'),
  EMAIL_BLOCKED_DOMAINS: words('', 'Email domains that are rejected. Ignored if EMAIL_ALLOWED_DOMAINS is set.'),
  REGISTRATION: oneOf('invited', 'domains')(
    'invited',
    'Who can create an account: invited people only, or also people with an address of REGISTRATION_DOMAINS.',
  ),
  REGISTRATION_DOMAINS: words(
    '',
    'Email domains whose people create their own accounts. Needs REGISTRATION=domains and SMTP_URL. * matches any text.',
  ),
  SCIM_DOMAINS: scimDomains(
    '',
    'Email domains that belong to organizations, such as acme:acme.example, or acme#12:acme.example with the ID. In these, an identity provider may create accounts and own them. * matches any text.',
  ),
  SMTP_URL: url('smtp', 'smtps')(undefined, 'SMTP server for outgoing email, with user and password in the URL.'),
  MAIL_FROM: text('atrium@localhost', 'Sender address of emails.'),
  TOKEN_NOTICE_DAYS: days(
    '14,3,1',
    'How many days before a token expires its owner gets an email. Requests with it have a header from the first of them.',
  ),
  PASSWORDS: oneOf('on', 'off')(
    'on',
    'off: users cannot sign in with a password, or set one. Needs another way to sign in, such as OIDC_PROVIDERS.',
  ),
  OIDC_PROVIDERS: list('[]', 'OpenID Connect providers to sign in with, as docs/sign-in.md describes them.'),
  OIDC_ALLOWED_NETWORKS: networks(
    '',
    'Private networks where OpenID Connect providers may be called. By default, only the public internet is.',
  ),
  TRUSTED_PROXIES: proxies('', 'Proxies whose X-Forwarded-For header is trusted.'),
  BUCKET_ALLOWED_NETWORKS: networks(
    '',
    'Private networks where storage services may be called. By default, only the public internet is.',
  ),
  WEBHOOK_ALLOWED_NETWORKS: networks(
    '',
    'Private networks where receivers of webhooks may be, also without TLS. By default, only the public internet is.',
  ),
  EVENT_RETENTION: whole(1, 365)(
    '7',
    'Days for which events are kept for webhooks, to be sent again. Deliveries are listed for 30 days.',
  ),
  AUDIT_RETENTION: period(
    undefined,
    'For how long entries of the audit log are kept in the database. Once a day, older ones are moved to AUDIT_ARCHIVE. By default, all are kept for ever.',
  ),
  AUDIT_ARCHIVE: folderOrBucket(
    undefined,
    'Where the archives of AUDIT_RETENTION go: a folder that exists, or a bucket such as s3://backups/atrium.',
  ),
  AUDIT_CREDENTIAL: storedCredential(
    undefined,
    'Credential for these buckets, of any service that speaks the protocol of S3: a site administrator and the name of one of their credentials, such as root/archive.',
  ),
  AUDIT_PUSH: bucket(
    undefined,
    'Bucket that gets the audit log as events of OCSF, such as s3://siem/atrium, with AUDIT_CREDENTIAL.',
  ),
  AUDIT_PUSH_MINUTES: whole(1, 1440)('60', 'How often new entries of the audit log are pushed to AUDIT_PUSH.'),
  BUS_URL: urls('nats', 'tls')(
    'nats://127.0.0.1:4222',
    'URL at which clients reach the message bus. If it is a cluster, that of each server.',
  ),
  BUS_WS_URL: urls('ws', 'wss')(undefined, 'WebSocket URL of the message bus, or of each of its servers.'),
  BUS_CREDENTIALS_MINUTES: whole(1, 10_080)('60', 'Lifetime of message bus credentials. Clients must renew them.'),
  OPENFGA_URL: url('http', 'https')(
    undefined,
    'OpenFGA server that decides who may do what. By default, the engine in this process does.',
  ),
  OPENFGA_API_TOKEN: text(undefined, 'Key that the OpenFGA server expects, if it was started with preshared keys.'),
  CENTRAL_MARKETPLACE_URL: url('http', 'https')(undefined, 'Central marketplace server that provides the claim rules.'),
  MARKETPLACE_PORT: port(undefined, 'Separate port for the marketplace listener. By default, it is on PORT.'),
  CLOUD_A_RANGES: text(undefined, 'Published address ranges of marketplace A: a file or a download URL.'),
  CLOUD_A_ALLOW: networks('', 'Additional addresses that marketplace A may call from.'),
  CLOUD_B_SECRETS: words('', 'Valid secrets of marketplace B. List two while one replaces the other.'),
  CLOUD_C_SECRETS: words('', 'Valid secrets of marketplace C. List two while one replaces the other.'),
  CLOUD_C_TEST_INSTALLER: text(undefined, 'ID of a test installer, which marketplace C may bind without a secret.'),
  MARKETPLACE_EVENTS_URL: url('http', 'https')(undefined, 'Webhook for bound installers and changed subscriptions.'),
  MARKETPLACE_EVENTS_SECRET: text(undefined, 'Base64 key that signs requests to MARKETPLACE_EVENTS_URL.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('http', 'https')(
    undefined,
    'OpenTelemetry collector that gets traces (OTLP over HTTP, usually port 4318). By default, none does.',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: headers('', 'Headers for the collector, such as a key.'),
  OTEL_SERVICE_NAME: text('atrium', 'Name of this service in traces.'),
  OTEL_TRACES_SAMPLER_ARG: ratio('1', 'Share of the requests to trace, unless the caller has decided.'),
  ...limitSettings,
} satisfies Record<string, Setting<unknown>>;
