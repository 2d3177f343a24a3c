import { parseAst } from 'rolldown/parseAst';

/** A part of a syntax tree. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly [part: string]: unknown;
}

/**
 * Finds lists of three or more object types that are written by hand: arrays, unions, arguments, keys of objects and
 * interfaces, cases, comparisons, and alternatives in patterns and SQL. An object
 * with a declared type is no such list, unless its keys are any text: the compiler finds what is missing in it.
 */
export function typeLists(path: string, text: string, types: Readonly<Record<string, readonly string[]>>): string[] {
  const forms = new Map(Object.entries(types).flatMap(([type, words]) => words.map((word) => [word, type] as const)));
  const isPlural = new Map(
    Object.values(types).flatMap((words) => words.map((word, at) => [word, at === words.length - 1])),
  );
  const known = new RegExp(`\\b(${[...forms.keys()].join('|')})\\b`, 'g');
  const distinct = (words: readonly string[]) =>
    new Set(words.map((word) => forms.get(word) ?? '').filter(Boolean)).size;
  if (distinct(text.match(known) ?? []) < 3) return [];

  const found: string[] = [];
  const visit = (node: Node, isComplete: boolean): void => {
    const words = isComplete ? [] : wordsIn(node).filter((word) => forms.has(word));
    // An object with an organization and its teams and roles is no list: a list has either singulars or plurals.
    const lists = [words.filter((word) => isPlural.get(word)), words.filter((word) => !isPlural.get(word))];
    const list = lists.find((one) => distinct(one) > 2);
    if (list) found.push(`${path}:${text.slice(0, node.start).split('\n').length} lists ${list.join(', ')}`);
    // The rest of a chain of comparisons is a part of this one.
    for (const part of list && node.type === 'LogicalExpression' ? [] : partsOf(node)) {
      visit(part, isComplete && isWrapped(node) ? true : isCompleteRecord(node, part));
    }
  };
  visit(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }, path) as unknown as Node, false);
  return found;
}

function wordsIn(node: Node): string[] {
  switch (node.type) {
    case 'ArrayExpression':
      return nodesIn(node, 'elements').flatMap((element) => {
        const inner = unwrapped(element);
        if (inner.type === 'ArrayExpression') return nodesIn(inner, 'elements').slice(0, 1).flatMap(textOf);
        if (inner.type !== 'ObjectExpression') return textOf(inner);
        return nodesIn(inner, 'properties').flatMap((one) => (one.value ? textOf(one.value as Node) : []));
      });
    case 'CallExpression':
      return nodesIn(node, 'arguments').flatMap(textOf);
    case 'ObjectExpression':
      // A shorthand is the name of a variable.
      return nodesIn(node, 'properties').flatMap((one) => (one.shorthand === true ? [] : keyOf(one)));
    case 'TSTypeLiteral':
      return nodesIn(node, 'members').flatMap(keyOf);
    case 'TSInterfaceBody':
      return nodesIn(node, 'body').flatMap(keyOf);
    case 'TSUnionType':
      return nodesIn(node, 'types').flatMap((one) => (one.literal ? textOf(one.literal as Node) : []));
    case 'SwitchStatement':
      return nodesIn(node, 'cases').flatMap((one) => (one.test ? textOf(one.test as Node) : []));
    case 'LogicalExpression':
      return comparedIn(node);
    case 'Literal':
      return alternativesIn((node.regex as { pattern: string } | undefined)?.pattern ?? textOf(node)[0] ?? '');
    case 'TemplateElement':
      return alternativesIn((node.value as { cooked: string | null }).cooked ?? '');
    default:
      return [];
  }
}

/** `(team|role|cluster)` and `'team', 'role', 'cluster'`. */
function alternativesIn(text: string): string[] {
  return [...text.matchAll(/(?:\w+\|){2,}\w+|(?:'\w+',\s*){2,}'\w+'/g)].flatMap(([list]) => list.split(/\W+/));
}

function comparedIn(node: Node): string[] {
  if (node.type === 'LogicalExpression') return [node.left, node.right].flatMap((side) => comparedIn(side as Node));
  return node.type === 'BinaryExpression' ? [node.left, node.right].flatMap((side) => textOf(side as Node)) : [];
}

function isWrapped(node: Node): boolean {
  return /^TS(As|Satisfies|NonNull)Expression$/.test(node.type);
}

function unwrapped(node: Node): Node {
  return isWrapped(node) ? unwrapped(node.expression as Node) : node;
}

function textOf(node: Node): string[] {
  const { type, value } = unwrapped(node);
  return type === 'Literal' && typeof value === 'string' ? [value] : [];
}

function keyOf(node: Node): string[] {
  const key = node.key as Node | undefined;
  if (!key || node.computed === true) return [];
  return key.type === 'Identifier' ? [String(key.name)] : textOf(key);
}

/** Whether the part is an object that must have every key of its type. */
function isCompleteRecord(node: Node, part: Node): boolean {
  if (unwrapped(part).type !== 'ObjectExpression') return false;
  const declared = node.type === 'TSSatisfiesExpression' ? node : (node.id as Node | undefined);
  const pending = [declared?.typeAnnotation as Node | null | undefined];
  for (let type = pending.pop(); type; type = pending.pop()) {
    const name = (type.typeName as Node | undefined)?.name;
    const inner = type.typeArguments ? nodesIn(type.typeArguments as Node, 'params') : [];
    if (type.type === 'TSTypeAnnotation') pending.push(type.typeAnnotation as Node);
    if (type.type === 'TSIntersectionType') pending.push(...nodesIn(type, 'types'));
    if (name === 'Readonly') pending.push(inner[0]);
    const isLoose = name === 'Readonly' || name === 'Partial' || inner[0]?.type === 'TSStringKeyword';
    if (type.type === 'TSTypeReference' && !isLoose) return true;
  }
  return false;
}

function nodesIn(node: Node, part: string): Node[] {
  return (node[part] as (Node | null)[]).filter((one) => one !== null);
}

function partsOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value): value is Node => typeof value === 'object' && value !== null && 'type' in value);
}
