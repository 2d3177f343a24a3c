/**
 * Programs that are not npm packages. `npm test` installs them if it may, and names those that it could not install.
 */
export type Requirement = 'postgresql' | 'nats-server' | 'shellcheck' | 'chromium' | 'firefox-esr' | 'pgbouncer';

const missing = new Set((process.env.TEST_WITHOUT ?? '').split(','));

/** A reason to skip, for the options of `describe` and `it`; false if the program is installed. */
export function lacks(name: Requirement): string | false {
  return missing.has(name) ? `${name} is not installed` : false;
}
