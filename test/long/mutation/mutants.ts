import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';

/** One small change of one file. */
export interface Mutant {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The line and the change, for people. It does not change if lines are added above. */
  readonly what: string;
  readonly line: number;
}

/** What is replaced, and by what. The sources are formatted, so operators stand between spaces. */
const OPERATORS: readonly (readonly [found: RegExp, by: (match: string) => string])[] = [
  [/ === /g, () => ' !== '],
  [/ !== /g, () => ' === '],
  [/ <= /g, () => ' > '],
  [/ >= /g, () => ' < '],
  [/ < /g, () => ' >= '],
  [/ > /g, () => ' <= '],
  [/ && /g, () => ' || '],
  [/ \|\| /g, () => ' && '],
  [/ \?\? /g, () => ' && '],
  [/ \+ /g, () => ' - '],
  [/\btrue\b/g, () => 'false'],
  [/\bfalse\b/g, () => 'true'],
  [/(?<=[ (])!(?=[\w(])/g, () => ''],
  [/(?<=\breturn )[^;{(]+(?=;$)/g, () => 'undefined'],
  // A limit of some hundred or thousand is a matter of taste, and no promise depends on one more.
  // What a comparison returns has a sign and no size.
  [/(?<=(?<!\bselect|\? -1 :)[ (-])\d\d?(?=[;,) ])(?! : 1\))/g, (number) => String(Number(number) + 1)],
];
const CONDITION = /\bif \(/g;
/** A call whose result nobody uses. */
const STATEMENT = /^\s*(await )?[\w.#]+\(.*\);$/;
/** Comments, imports, and what types say: a change there is none. */
const IGNORED = /^\s*(\/?\*|\/\/|import |export (type|interface|\{)|type |interface |readonly |\| )/;

/** All changes of these files, in a fixed order. */
export function mutantsIn(patterns: readonly string[]): Mutant[] {
  return patterns
    .flatMap((pattern) => globSync(pattern))
    .sort()
    .flatMap(mutantsOf);
}

/** Every change that the operators make in a file, as far as the result is a program. */
export function mutantsOf(file: string): Mutant[] {
  const source = readFileSync(file, 'utf8');
  const found: Mutant[] = [];
  let start = 0;
  let isInterface = false;
  for (const [index, line] of source.split('\n').entries()) {
    isInterface = /^(export )?(interface|type) .*[{=]$/.test(line) || (isInterface && !/^[})]/.test(line));
    const comment = line.indexOf(' // ');
    const code = comment < 0 ? line : line.slice(0, comment);
    const add = (from: number, length: number, text: string) => {
      if (line.slice(from, from + length) === text) return;
      const changed = `${line.slice(0, from)}${text}${line.slice(from + length)}`.trim();
      const what = `${file}: ${line.trim()}  →  ${changed === '' ? '(nothing)' : changed}`;
      found.push({ file, start: start + from, end: start + from + length, text, what, line: index + 1 });
    };
    if (!isInterface && !IGNORED.test(line)) {
      for (const [operator, by] of OPERATORS) {
        for (const match of code.matchAll(operator)) {
          if (!isInText(code, match.index)) add(match.index, match[0].length, by(match[0]));
        }
      }
      for (const { index: at } of code.matchAll(CONDITION)) {
        const condition = inParentheses(code, at + 'if '.length);
        // Without its exclamation mark, it is changed above already.
        if (condition !== undefined && !/^!(\w|[.#])+$/.test(condition)) {
          add(at + 'if ('.length, condition.length, `!(${condition})`);
        }
      }
      if (STATEMENT.test(code)) add(0, code.length, '');
    }
    start += line.length + 1;
  }
  return found.filter((mutant) => isProgram(applyTo(source, mutant)));
}

export function applyTo(source: string, { start, end, text }: Pick<Mutant, 'start' | 'end' | 'text'>): string {
  return `${source.slice(0, start)}${text}${source.slice(end)}`;
}

function isProgram(source: string): boolean {
  try {
    stripTypeScriptTypes(source);
    return true;
  } catch {
    return false;
  }
}

/** What is between the parenthesis at this place and the one that closes it, if that is on the same line. */
function inParentheses(line: string, open: number): string | undefined {
  let depth = 0;
  for (let at = open; at < line.length; at++) {
    if (line[at] === '(') depth += 1;
    if (line[at] === ')') depth -= 1;
    if (depth === 0) return line.slice(open + 1, at);
  }
  return undefined;
}

/** Inside quotes that begin on the same line. SQL and messages are not mutated. */
function isInText(line: string, place: number): boolean {
  return (line.slice(0, place).match(/['`"]/g) ?? []).length % 2 === 1;
}
