import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Config } from '../../base/config/config.ts';
import { AppError } from '../../base/errors.ts';
import { databaseFolder, hasDatabase, openDb, rejectLostDatabase } from '../../db/db.ts';
import { isAddress } from '../../users/emails/email-address.ts';
import type { RunInServer } from '../command-socket.ts';
import { askServer } from '../command-socket.ts';
import { examineAbsence, type Finding, fault, type Level, look, ok } from '../doctor/finding.ts';
import { examineFolder, examineKeyFile } from '../doctor/folder.ts';
import { examineInside } from '../doctor/inside.ts';
import { examinePorts } from '../doctor/ports.ts';
import { examineCentralService, examineMailService } from '../doctor/service-checks.ts';
import { examineSettings } from '../doctor/setting-checks.ts';
import type { Terminal } from './terminal.ts';

const OPTIONS = { json: { type: 'boolean' }, new: { type: 'boolean' }, mail: { type: 'string' } } as const;

/** `atrium doctor`: runs every check, whatever the others found. Returns the exit code. */
export async function runDoctor(args: readonly string[], env: NodeJS.ProcessEnv, { say }: Terminal): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  if (values.mail !== undefined && !isAddress(values.mail)) {
    throw new AppError('invalid', `--mail needs an email address, got ${JSON.stringify(values.mail)}`);
  }
  const { config, findings } = examineSettings(env);
  if (config) findings.push(...(await examineAll(config, values.new ?? false, values.mail)));
  const count = (level: Level) => findings.filter((finding) => finding.level === level).length;
  const faults = count('fault');
  if (values.json) say(JSON.stringify({ healthy: faults === 0, findings }, undefined, 2));
  else {
    for (const finding of findings) for (const line of describe(finding)) say(line);
    say(`${count('ok')} ok, ${counted(count('warning'), 'warning')}, ${counted(faults, 'fault')}`);
  }
  return faults === 0 ? 0 : 1;
}

/** The checks that only the process with the database can do. */
export function examineIn(): RunInServer {
  return async ({ db, config }, print) => {
    for (const finding of await examineInside(db, config)) print(JSON.stringify(finding));
  };
}

async function examineAll(config: Config, isNew: boolean, mailTo: string | undefined): Promise<Finding[]> {
  const outside = [
    look('data folder', () => examineFolder(config.DATA_DIR)),
    look('key file', async () => examineKeyFile(config.DATA_DIR, config.ATRIUM_KEY !== undefined)),
    look('database', () => examineDatabase(config, isNew)),
    look('ports', async () => (await examinePorts(config)).findings),
    look('mail', () => examineMailService(config, mailTo)),
    look('central server', () => examineCentralService(config)),
  ];
  return (await Promise.all(outside)).flat();
}

/** Runs in the server that has the built-in database open, otherwise in this process. */
async function examineDatabase(config: Config, isNew: boolean): Promise<Finding[]> {
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir } = config;
  const folder = databaseFolder(dataDir);
  if (databaseUrl === undefined) {
    try {
      rejectLostDatabase(dataDir);
      if (!hasDatabase(dataDir)) {
        return [examineAbsence('database', `there is no database in ${resolve(dataDir)}`, isNew)];
      }
    } catch (error) {
      if (error instanceof AppError) return [unreachable(error, false)];
      throw error;
    }
  }
  const told: Finding[] = [];
  if (databaseUrl === undefined && existsSync(join(dataDir, 'atrium.sock'))) {
    const isTold = await askServer(dataDir, { argv: ['doctor'] }, (line) => told.push(JSON.parse(line)));
    if (isTold) return [ok('locks', `a server is using the database in ${folder}, and responds`), ...told];
  }
  const isPooled = config.DATABASE_POOLER === 'transaction';
  const options = { databaseUrl, isPooled, dataDir, poolSize: 2, say: () => undefined };
  const db = await openDb(options).catch((error: unknown) => {
    if (error instanceof AppError) return error;
    throw error;
  });
  if (db instanceof AppError) return [unreachable(db, databaseUrl !== undefined)];
  try {
    return await examineInside(db, config, isNew);
  } finally {
    await db.close();
  }
}

function unreachable({ message, detail }: AppError, isPostgres: boolean): Finding {
  if (isPostgres)
    return fault('database', message, 'Start PostgreSQL, allow connections to it, or correct DATABASE_URL.');
  if (detail.reason === 'database_in_use') {
    return fault(
      'locks',
      message,
      'A process is using the database but does not respond: stop it, then start the server again.',
    );
  }
  if (detail.reason === 'database_incomplete') {
    return fault('database', message, 'Do not start the server before the database is back in its place.');
  }
  return fault('database', message, 'Restart the machine; if that does not help, restore a backup.');
}

function describe({ check, level, message, advice }: Finding): string[] {
  const color = { ok: '32', warning: '33', fault: '31' }[level];
  const mark = level.padEnd(8);
  const shown = process.stdout.isTTY && !process.env.NO_COLOR ? `\x1b[${color}m${mark}\x1b[0m` : mark;
  return [`${shown}${check.padEnd(15)} ${message}`, ...(advice === undefined ? [] : [`${' '.repeat(24)}→ ${advice}`])];
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
