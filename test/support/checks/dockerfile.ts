import { readFileSync } from 'node:fs';

/** One instruction of a Dockerfile, continued lines joined. */
export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

export interface Stage {
  readonly as: string | undefined;
  readonly instructions: readonly Instruction[];
}

export function readDockerfile(path: string): readonly Stage[] {
  const text = readFileSync(path, 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '');
  const stages: { as: string | undefined; instructions: Instruction[] }[] = [];
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push({ as: / AS (\S+)/.exec(rest)?.[1], instructions: [] });
    else stages.at(-1)?.instructions.push({ name, rest });
  }
  return stages;
}

/** The last value of an instruction in a stage. */
export function lastOf({ instructions }: Stage, name: string): string {
  return instructions.findLast((one) => one.name === name)?.rest ?? '';
}

/** The variables that a stage sets. */
export function environmentOf({ instructions }: Stage): Record<string, string> {
  const pairs = instructions.filter(({ name }) => name === 'ENV').flatMap(({ rest }) => rest.split(/\s+/));
  return Object.fromEntries(pairs.map((pair) => pair.split('=', 2)));
}

/** A shell word. */
export const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The shell commands that do what the stage says, in a root folder $root with the files of this machine under it. The
 * context of the build is $context, and earlier stages are $stage_NAME.
 */
export function commandsOf({ instructions }: Stage): string[] {
  let folder = '/';
  const variables: string[] = [];
  return instructions.flatMap(({ name, rest }): string[] => {
    if (name === 'WORKDIR') {
      folder = rest;
      return [`mkdir -p "$root${folder}"`];
    }
    if (name === 'ENV') variables.push(...rest.split(/\s+/));
    if (name === 'RUN') {
      return [`chroot "$root" env ${variables.join(' ')} sh -c ${quoted(`cd ${folder} && ${rest}`)}`];
    }
    if (name !== 'COPY') return [];
    const words = rest.split(/\s+/);
    const from = /^--from=(\S+)$/.exec(words[0] ?? '')?.[1];
    const names = from === undefined ? words : words.slice(1);
    const target = names.at(-1) ?? '';
    const into = `$root${target.startsWith('/') ? '' : `${folder}/`}${target.replace(/^\.\/$/, '')}`;
    const parent = target === './' ? into : into.replace(/\/[^/]*$/, '');
    return [
      `mkdir -p "${parent}"`,
      ...names
        .slice(0, -1)
        .map((one) => `cp -a "${from === undefined ? `$context/${one}` : `$stage_${from}${one}`}" "${into}"`),
    ];
  });
}
