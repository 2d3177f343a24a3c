import { type Config, ConfigError } from '../base/config/config.ts';
import { AppError } from '../base/errors.ts';
import { lacksOpenFiles, OPEN_FILES_ADVICE } from '../base/open-files.ts';

type Ports = Pick<Config, 'ADMIN_PORT' | 'MARKETPLACE_PORT'>;
type SystemError = NodeJS.ErrnoException & { readonly port?: number; readonly address?: string };

/** What went wrong, in words that an operator can act on. Only a fault of ours comes with a stack trace. */
export function describeFailure(error: unknown, ports?: Ports): string {
  if (error instanceof ConfigError || error instanceof AppError) return error.message;
  if (lacksOpenFiles(error)) return `this process may not open enough files: ${OPEN_FILES_ADVICE}`;
  if (!(error instanceof Error)) return String(error);
  const { code, syscall, port, address, message, stack } = error as SystemError;
  const isAdmin = port !== undefined && port === ports?.ADMIN_PORT;
  const isListener = port !== undefined && port === ports?.MARKETPLACE_PORT;
  const setting = isAdmin ? 'ADMIN_PORT' : isListener ? 'MARKETPLACE_PORT' : 'PORT';
  if (code === 'EADDRINUSE') {
    return `port ${port} of ${address} is in use; stop the program that uses it, or choose another with ${setting}`;
  }
  if (code === 'EACCES' && port !== undefined) {
    return `this user may not open port ${port}; choose one above 1023 with ${setting}`;
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return `${address ?? message} is not an address of this machine; set ${isAdmin ? 'ADMIN_HOST' : 'HOST'}`;
  }
  if (isDatabaseError(error)) {
    return `the database rejected a statement: ${message} (${code}); run "atrium doctor", and restore a backup if the data is damaged`;
  }
  // The operating system rejected an operation on a file or folder, and the message names it.
  if (code !== undefined && syscall !== undefined) return `${message} (check DATA_DIR and its files)`;
  return stack ?? String(error);
}

/** 3: the database cannot be reached, and trying again later may help. */
export function exitCodeOf(error: unknown): number {
  return error instanceof AppError && error.kind === 'unavailable' && error.detail.retryAfter !== undefined ? 3 : 1;
}

/** Both drivers attach the SQLSTATE and the severity. */
function isDatabaseError(error: Error): boolean {
  return 'severity' in error && 'code' in error && /^[0-9A-Z]{5}$/.test(String(error.code));
}
