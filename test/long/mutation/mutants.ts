import { readFileSync } from 'node:fs';

/** One small change of one file. */
export interface Mutant {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The line and the change, for people. */
  readonly what: string;
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
  [/ \+ /g, () => ' - '],
  [/\btrue\b/g, () => 'false'],
  [/\bfalse\b/g, () => 'true'],
  [/(?<=\bif \()(?=[^!])/g, () => '!'],
  [/(?<=\breturn )[^;{(]+(?=;$)/g, () => 'undefined'],
  [/(?<=[ (])\d[\d_]*(?=[;,) ])/g, (number) => String(Number(number.replaceAll('_', '')) + 1)],
];
/** A call whose result nobody uses. */
const STATEMENT = /^\s*(await )?[\w.#]+\(.*\);$/;
/** Comments, imports, and what types say: a change there is none. */
const IGNORED = /^\s*(\/?\*|\/\/|import |export (type|interface|\{)|type |interface |readonly |\| )/;

/** Every change that the operators make in a file. */
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
      const changed = `${line.slice(0, from)}${text}${line.slice(from + length)}`.trim();
      const what = `${file}:${index + 1}: ${line.trim()}  →  ${changed === '' ? '(nothing)' : changed}`;
      found.push({ file, start: start + from, end: start + from + length, text, what });
    };
    if (!isInterface && !IGNORED.test(line)) {
      for (const [operator, by] of OPERATORS) {
        for (const match of code.matchAll(operator)) {
          if (!isInText(code, match.index)) add(match.index, match[0].length, by(match[0]));
        }
      }
      if (STATEMENT.test(code)) add(0, code.length, '');
    }
    start += line.length + 1;
  }
  return found;
}

/** Inside quotes that begin on the same line. SQL and messages are not mutated. */
function isInText(line: string, place: number): boolean {
  return (line.slice(0, place).match(/['`"]/g) ?? []).length % 2 === 1;
}
