/**
 * Writes JSON values as block YAML that YAML 1.1 and 1.2 read alike.
 *
 * We write it ourselves because rendering must not block the server: the library that reads YAML elsewhere takes ten
 * times as long, and has no way to stop when a text becomes too long.
 *
 * 1. A string is plain only if no version of YAML could read it as anything else; otherwise it is quoted.
 * 2. A text of several lines is a literal block if every reader gives it back unchanged; otherwise it is quoted.
 * 3. Every part of the text is reported to `spend` before it is added, so that it can throw.
 */
export function toYaml(root: object, spend: (characters: number) => void): string {
  let text = '';
  if (Array.isArray(root)) writeItems(root, '', '');
  else writeFields(root, Object.keys(root), '', '');
  return text || `${Array.isArray(root) ? '[]' : '{}'}\n`;

  function write(part: string): void {
    spend(part.length);
    text += part;
  }

  /** The first item follows `lead` instead of the indentation. */
  function writeItems(list: readonly unknown[], indent: string, lead: string): void {
    let before = lead;
    for (const item of list) {
      writeNode(item, indent, `${before}-`, true);
      before = indent;
    }
  }

  function writeFields(value: object, keys: readonly string[], indent: string, lead: string): void {
    let before = lead;
    for (const key of keys) {
      const item = (value as Record<string, unknown>)[key];
      if (item === undefined) continue;
      writeNode(item, indent, startOf(key, before, indent), false);
      before = indent;
    }
  }

  /** What is in a list starts on the line of its dash; what belongs to a key starts on the next line. */
  function writeNode(node: unknown, indent: string, start: string, isItem: boolean): void {
    if (typeof node === 'string') writeString(node, indent, start);
    else if (typeof node === 'number') write(`${start} ${numberText(node)}\n`);
    else if (typeof node !== 'object' || node === null) write(`${start} ${String(node)}\n`);
    else writeBlock(node, indent, start, isItem);
  }

  function writeBlock(node: object, indent: string, start: string, isItem: boolean): void {
    const inner = `${indent}  `;
    const lead = isItem ? `${start} ` : inner;
    const keys = Array.isArray(node) ? [] : Object.keys(node);
    if (Array.isArray(node) ? node.length === 0 : keys.length === 0) {
      write(`${start} ${Array.isArray(node) ? '[]' : '{}'}\n`);
      return;
    }
    if (!isItem) write(`${start}\n`);
    if (Array.isArray(node)) writeItems(node, inner, lead);
    else writeFields(node, keys, inner, lead);
  }

  function writeString(value: string, indent: string, start: string): void {
    if (!isLiteral(value)) {
      write(`${start} ${quotedIfNeeded(value)}\n`);
      return;
    }
    const isEnded = value.endsWith('\n');
    write(`${start} ${isEnded ? '|' : '|-'}\n`);
    for (const line of (isEnded ? value.slice(0, -1) : value).split('\n')) write(line ? `${indent}  ${line}\n` : '\n');
  }
}

/** A key of a single line has at most 1024 characters in YAML; longer ones are marked as keys. */
const MAX_SIMPLE_KEY = 1000;

function startOf(key: string, before: string, indent: string): string {
  const text = quotedIfNeeded(key);
  return text.length > MAX_SIMPLE_KEY ? `${before}? ${text}\n${indent}:` : `${before}${text}:`;
}

/** YAML 1.1 requires a point in a number that has an exponent. */
function numberText(value: number): string {
  const text = Object.is(value, -0) ? '-0' : String(value);
  return text.includes('e') ? text.replace(/^(-?\d+)e/, '$1.0e') : text;
}

const PLAIN = /^[A-Za-z][\w./-]*(?: [\w./-]+)*$/;
/** What some reader of some version of YAML takes for a truth value, null or a number. */
const AMBIGUOUS = /^(?:y|n|yes|no|on|off|true|false|null|e[\d_.-]*)$/i;
/** Line breaks of YAML 1.1, the byte order mark, and what YAML does not allow in a text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not be written.
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/;
const ALL_UNSAFE = new RegExp(UNSAFE, 'g');

function quotedIfNeeded(text: string): string {
  if (PLAIN.test(text) && !AMBIGUOUS.test(text)) return text;
  const quoted = JSON.stringify(text);
  if (!UNSAFE.test(quoted)) return quoted;
  return quoted.replace(ALL_UNSAFE, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The readers find out the indentation from the first line, and some drop spaces and empty lines at the end. */
function isLiteral(text: string): boolean {
  return (
    text.includes('\n') && /^\S/.test(text) && !/[ \t]$/m.test(text) && !text.endsWith('\n\n') && !UNSAFE.test(text)
  );
}
