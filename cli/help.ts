import type { Args, Option } from './arguments.ts';
import { CATALOGUE, HEADINGS } from './catalogue.ts';
import {
  type Command,
  type Group,
  globalOptionsOf,
  isGroup,
  isOnServer,
  type Node,
  optionsOf,
  type ServerCommand,
} from './command.ts';
import type { Style } from './output.ts';

/** The help of the program, a group or a command, line by line. */
export function help(path: readonly string[], node: Node | undefined, style: Style): string[] {
  if (!node) return programHelp(style);
  if (isOnServer(node)) return serverHelp(path, node, style);
  return isGroup(node) ? groupHelp(path, node, style) : commandHelp(path, node, style);
}

function programHelp(style: Style): string[] {
  const sections = Object.entries(HEADINGS).flatMap(([heading, title]) => {
    const entries = Object.entries(CATALOGUE).filter(([, entry]) => entry.heading === heading);
    return ['', style.bold(title), ...columns(entries.map(([name, entry]) => [name, entry.about]))];
  });
  return [
    'atrium COMMAND, the command line of Atrium. Commands call a server over HTTP unless noted otherwise.',
    ...sections,
    '',
    'Run atrium COMMAND --help for details.',
    'Options of every command, such as --org, can also come before the command.',
    'Exit codes: 0 done or yes, 1 rejected or no, 2 wrong usage, 3 server unreachable. For can, only no is 1.',
    'A watch ends with Ctrl-C, and then with 130.',
    'ATRIUM_CONTEXT selects a context; ATRIUM_URL, ATRIUM_TOKEN and ATRIUM_ORG override it. NO_COLOR turns off colors.',
  ];
}

function serverHelp(path: readonly string[], node: ServerCommand, style: Style): string[] {
  const { summary, usage, options = [], examples = [] } = node;
  const rows = options.map(({ name, value, help: about }) => [value ? `${name} ${value}` : name, about] as const);
  return [
    `atrium ${path.join(' ')}: ${summary}`,
    "Runs on the server's own machine, with the server's settings.",
    '',
    ...usage.map((line) => `  atrium ${line}`),
    ...(rows.length > 0 ? ['', style.bold('Options'), ...columns(rows)] : []),
    ...(examples.length > 0 ? ['', style.bold('Examples'), ...examples.map((example) => `  ${example}`)] : []),
  ];
}

function groupHelp(path: readonly string[], group: Group, style: Style): string[] {
  const rows = Object.entries(group.commands).map(([name, node]): [string, string] => [
    name,
    isOnServer(node) ? `${node.summary} (on the server's own machine)` : node.summary,
  ]);
  const here = ['atrium', ...path].join(' ');
  return [
    `${here}: ${group.summary}`,
    ...(group.byDefault === undefined ? [] : [`Without a command, it is ${here} ${group.byDefault}.`]),
    ...(group.otherwise === undefined ? [] : [`Any other word begins ${here} ${group.otherwise}.`]),
    '',
    style.bold('Commands'),
    ...columns(rows),
    '',
    `Run ${here} COMMAND --help for details.`,
  ];
}

function commandHelp(path: readonly string[], command: Command, style: Style): string[] {
  const { summary, details, args = {}, examples } = command;
  return [
    usageOf(path, command),
    '',
    `${capital(summary)}.${details ? ` ${details}` : ''}`,
    ...section('Arguments', argumentRows(args)),
    ...section('Options', optionRows(optionsOf(command))),
    ...section('Global options', optionRows(globalOptionsOf(command))),
    '',
    style.bold('Examples'),
    ...examples.map((example) => `  ${example}`),
  ];

  function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
    return rows.length === 0 ? [] : ['', style.bold(title), ...columns(rows)];
  }
}

/** `atrium team add TEAM USER… [options]` */
export function usageOf(path: readonly string[], command: Command): string {
  const { args = {} } = command;
  const words = Object.entries(args).map(([name, { optional, many }]) => {
    const word = `${argumentName(name)}${many ? '…' : ''}`;
    return optional ? `[${word}]` : word;
  });
  return ['atrium', ...path, ...words, ...(Object.keys(optionsOf(command)).length > 0 ? ['[options]'] : [])].join(' ');
}

export function argumentRows(args: Args): [string, string][] {
  return Object.entries(args).map(([name, { about, choices }]) => [argumentName(name), withChoices(about, choices)]);
}

export function optionRows(options: Readonly<Record<string, Option>>): [string, string][] {
  return Object.entries(options).map(([name, { about, value, short, many, choices, optionalValue }]) => {
    const given = value ? (optionalValue ? `[=${value}]` : ` ${value}`) : '';
    const shown = `${short ? `-${short}, ` : ''}--${name}${given}`;
    return [shown, `${withChoices(about, choices)}${many ? '; can be repeated' : ''}`];
  });
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function argumentName(name: string): string {
  return name.toUpperCase();
}

function withChoices(about: string, choices: readonly string[] | undefined): string {
  return choices ? `${about}: ${choices.join(', ')}` : about;
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`);
}
