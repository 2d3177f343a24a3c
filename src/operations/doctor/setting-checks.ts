import { type Config, ConfigError, readConfig } from '../../base/config/config.ts';
import { type Finding, fault, ok, warning } from './finding.ts';
import { examineWorkers } from './worker-checks.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** All faults of the settings together, or the settings themselves if there are none. */
export function examineSettings(env: Environment): { config?: Config; findings: Finding[] } {
  try {
    const config = readConfig(env);
    return {
      config,
      findings: [
        ok('settings', 'all settings are valid'),
        ...examineAddress(config),
        ...examineMode(config),
        ...examineWorkers(config),
      ],
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = 'Correct it in the environment or in .env; docs/configuration.md shows every setting.';
    return { findings: error.faults.map((text) => fault('settings', text, advice)) };
  }
}

const LOOPBACK = /^(localhost|127\.|\[?::1)/;

function examineAddress({ BASE_URL, HOST, RUN_MODE }: Config): Finding[] {
  const check = 'base url';
  if (BASE_URL === undefined) {
    if (LOOPBACK.test(HOST)) return [ok(check, `not set, and only this machine can reach the server (${HOST})`)];
    const advice = 'Set BASE_URL to the address that clients use: it is part of links, emails and cookies.';
    return [warning(check, `not set, but the server listens on ${HOST}`, advice)];
  }
  const url = new URL(BASE_URL);
  if (url.search || url.hash || url.username || url.password) {
    return [fault(check, `${url.host} has more than an address`, 'Set BASE_URL to scheme, host and port only.')];
  }
  if (RUN_MODE === 'prod' && url.protocol !== 'https:' && !LOOPBACK.test(url.hostname)) {
    const advice = 'Put a proxy with TLS in front of the server and set BASE_URL to its https:// address.';
    return [fault(check, `${url.origin} is not https: passwords and tokens are sent unencrypted`, advice)];
  }
  return [ok(check, url.origin)];
}

function examineMode(config: Config): Finding[] {
  const { RUN_MODE, OPENFGA_URL, EMAIL_CONFIRMATION, SMTP_URL, SCIM_DOMAINS, OIDC_PROVIDERS } = config;
  const findings: Finding[] = [];
  if (RUN_MODE === 'dev') {
    findings.push(
      warning('settings', 'RUN_MODE=dev relaxes checks', 'Set RUN_MODE=prod if others can reach the server.'),
    );
  }
  if (OPENFGA_URL !== undefined) {
    findings.push(
      warning('settings', 'OPENFGA_URL is set, but this version uses only its own engine', 'Remove OPENFGA_URL.'),
    );
  }
  if (!EMAIL_CONFIRMATION && (SCIM_DOMAINS.length > 0 || OIDC_PROVIDERS.length > 0)) {
    findings.push(
      warning(
        'email',
        'users can add the addresses of others, which then cannot be provisioned or signed in with',
        'Set EMAIL_CONFIRMATION=true.',
      ),
    );
  }
  if (EMAIL_CONFIRMATION && SMTP_URL === undefined) {
    findings.push(
      fault(
        'mail',
        'addresses must be confirmed by email, but SMTP_URL is not set',
        'Set SMTP_URL, or EMAIL_CONFIRMATION=false.',
      ),
    );
  }
  return findings;
}
