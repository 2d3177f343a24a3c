import { asJson, asYaml, type Format, namesIn, pickFields, type Shown, type Style } from './output.ts';
import { harmless } from './text.ts';

const ESCAPE = '\u001b[';

/** What a user or a script sees: results on standard output, everything else on standard error. */
export function createScreen(env: NodeJS.ProcessEnv) {
  const { stdout, stderr } = process;
  // A reader that stops early, such as head, is not an error.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    const reason = error.code === 'ENOSPC' ? 'no space left on the device' : (error.code ?? error.message);
    complain(`cannot write the output: ${reason}`);
    process.exit(1);
  });
  stderr.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  const hasColours = (stream: { isTTY?: boolean }) => Boolean(stream.isTTY) && !env.NO_COLOR && env.TERM !== 'dumb';
  const style = styleFor(hasColours(stdout), stdout.isTTY ? stdout.columns || undefined : undefined);
  return {
    show,
    write,
    writeDocument,
    note,
    complain,
    style,
    isInteractive: Boolean(process.stdin.isTTY && stderr.isTTY),
  };

  async function show(shown: Shown, format: Format, fields?: readonly string[]): Promise<void> {
    if (format === 'text') for (const line of shown.lay(style)) write(line);
    else if (format === 'wide') for (const line of shown.lay({ ...style, width: undefined })) write(line);
    else if (format === 'name') for (const line of namesIn(shown)) write(line);
    else if (format === 'csv') writeDocument((shown.csv ?? '').trimEnd());
    else if (shown.data !== undefined) {
      const data = fields === undefined ? shown.data : pickFields(shown.data, fields);
      writeDocument(format === 'json' ? asJson(data) : await asYaml(data));
    }
  }

  function write(line: string): void {
    stdout.write(`${line}\n`);
  }

  /**
   * Writes the text unchanged for programs; on a terminal, with control characters escaped. Returns false if the reader
   * is behind.
   */
  function writeDocument(text: string): boolean {
    return stdout.write(`${stdout.isTTY ? harmless(text) : text}\n`);
  }

  function note(line: string): void {
    stderr.write(`${line}\n`);
  }

  function complain(line: string): void {
    stderr.write(`${styleFor(hasColours(stderr), undefined).bad('atrium:')} ${line}\n`);
  }
}

export type Screen = ReturnType<typeof createScreen>;

function styleFor(colours: boolean, width: number | undefined): Style {
  const paint = (code: number, end: number) => (text: string) =>
    colours ? `${ESCAPE}${code}m${text}${ESCAPE}${end}m` : text;
  return { width, bold: paint(1, 22), dim: paint(2, 22), good: paint(32, 39), bad: paint(31, 39) };
}
