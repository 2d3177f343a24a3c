/** OpenFGA rejects these in every key and text of a context, and the other half of a surrogate pair is not JSON. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f]/;

const MAX_DEPTH = 100;
/** A context is one object per request, and its conditions may be evaluated often. */
const known = new WeakMap<object, string | undefined>();

/** Why no condition can be evaluated with this context, whatever it asks for. */
export function contextFault(context: object | undefined): string | undefined {
  if (context === undefined) return undefined;
  if (known.has(context)) return known.get(context);
  const fault = faultOf(context, 0);
  known.set(context, fault);
  return fault;
}

function faultOf(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return textFault(value);
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) return 'the context is nested too deeply';
  for (const [key, entry] of Object.entries(value)) {
    const fault = textFault(key) ?? faultOf(entry, depth + 1);
    if (fault !== undefined) return fault;
  }
  return;
}

function textFault(text: string): string | undefined {
  if (FORBIDDEN.test(text)) return 'the context contains control characters';
  return text.isWellFormed() ? undefined : 'the context is not well-formed Unicode';
}
