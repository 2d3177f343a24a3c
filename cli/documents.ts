import { misuse } from './failure.ts';

export interface Document {
  readonly text: string;
  readonly type: 'application/json' | 'application/yaml';
}

/**
 * Passes JSON on as it is; anything else must be YAML. Reports a syntax error with its position before anything is
 * sent.
 */
export async function readDocument(text: string, file: string): Promise<Document> {
  const where = file === '-' ? 'standard input' : file;
  if (text.trim() === '') throw misuse(`${where} is empty`);
  if (/^\s*[[{]/.test(text)) {
    try {
      JSON.parse(text);
      return { text, type: 'application/json' };
    } catch (error) {
      if (!/\.ya?ml$/.test(file)) throw misuse(`${where} is not valid JSON: ${firstLine((error as Error).message)}`);
    }
  }
  const { parseDocument } = await import('yaml');
  const [fault] = parseDocument(text, { prettyErrors: true, uniqueKeys: true }).errors;
  if (fault) throw misuse(`${where} is not valid YAML: ${firstLine(fault.message)}`);
  return { text, type: 'application/yaml' };
}

/** The same content as JSON, with every number exactly as written. */
export async function toJson({ text, type }: Document): Promise<string> {
  if (type === 'application/json') return text;
  const { parseDocument, isScalar, visit } = await import('yaml');
  const document = parseDocument(text, { intAsBigInt: true });
  visit(document, {
    Scalar(_key, node) {
      const isNumber =
        typeof node.value === 'number' && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(node.source ?? '');
      if (isScalar(node) && isNumber) node.value = JSON.rawJSON(node.source ?? '');
    },
  });
  const { writeJson } = await import('../client/json.ts');
  return writeJson(document.toJS());
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').replace(/:$/, '');
}
