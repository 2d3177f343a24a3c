import { type Config, ConfigError, readConfig } from '../../base/config.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** All faults of the settings at once, or the settings themselves if there are none. */
export function examineSettings(env: Environment): { config?: Config; findings: Finding[] } {
  try {
    const config = readConfig(env);
    return {
      config,
      findings: [ok('settings', 'every setting can be read'), ...examineAddress(config), ...examineMode(config)],
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
    if (LOOPBACK.test(HOST)) return [ok(check, `none is set, and the server is for this machine alone (${HOST})`)];
    const advice = 'Set BASE_URL to the address that clients use: it stands in links, letters and cookies.';
    return [warning(check, `none is set, but the server listens on ${HOST}`, advice)];
  }
  const url = new URL(BASE_URL);
  if (url.search || url.hash || url.username || url.password) {
    return [
      fault(check, `${url.host} comes with more than an address`, 'Set BASE_URL to scheme, host and port alone.'),
    ];
  }
  if (RUN_MODE === 'prod' && url.protocol !== 'https:' && !LOOPBACK.test(url.hostname)) {
    const advice = 'Put a proxy with TLS before the server and set BASE_URL to its https:// address.';
    return [fault(check, `${url.origin} is not https: passwords and tokens travel in the clear`, advice)];
  }
  return [ok(check, url.origin)];
}

function examineMode({ RUN_MODE, OPENFGA_URL, EMAIL_CONFIRMATION, SMTP_URL }: Config): Finding[] {
  const findings: Finding[] = [];
  if (RUN_MODE === 'dev') {
    findings.push(
      warning('settings', 'RUN_MODE=dev relaxes checks', 'Set RUN_MODE=prod where anybody else can reach the server.'),
    );
  }
  if (OPENFGA_URL !== undefined) {
    findings.push(
      warning(
        'settings',
        'OPENFGA_URL is set, but this version answers with its own engine only',
        'Take OPENFGA_URL away.',
      ),
    );
  }
  if (EMAIL_CONFIRMATION && SMTP_URL === undefined) {
    findings.push(
      fault(
        'mail',
        'addresses must be confirmed by a letter, but there is no SMTP_URL',
        'Set SMTP_URL, or EMAIL_CONFIRMATION=false.',
      ),
    );
  }
  return findings;
}
