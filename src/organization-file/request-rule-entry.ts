import type { RuleInput } from '../requests/rules/request-rules.ts';
import type { FieldReader } from './field-reader.ts';
import { readObject } from './trust-rule-entry.ts';

const KEYS = ['name', 'match', 'longest', 'approvals', 'approvers', 'allow', 'break_glass'];
const MATCH = ['relations', 'objects', 'cluster_sets', 'roles', 'requesters'];

/** A rule for access requests, as the file has it. What is wrong with its values is told by the rules for requests. */
export function readRequestRule(reader: FieldReader, item: unknown, path: string, place: number): RuleInput {
  const rule = reader.entry(item, path, KEYS);
  const match = reader.entry(rule.match ?? {}, `${path}.match`, MATCH);
  const approvals = rule.approvals ?? undefined;
  if (approvals !== undefined && typeof approvals !== 'number') reader.fault(`${path}.approvals`, 'must be a number');
  const objects = match.objects ?? undefined;
  if (objects !== undefined && !Array.isArray(objects)) reader.fault(`${path}.match.objects`, 'must be a list');
  return {
    // Rules are in order and always whole, so the place of one that has no name is a name.
    name: reader.text(rule, `${path}.`, 'name') ?? `rule ${place + 1}`,
    match: {
      relations: reader.texts(match, `${path}.match`, 'relations'),
      clusterSets: reader.texts(match, `${path}.match`, 'cluster_sets'),
      roles: reader.texts(match, `${path}.match`, 'roles'),
      objects: Array.isArray(objects)
        ? objects.map((one, place) => readObject(reader, one, `${path}.match.objects[${place}]`))
        : undefined,
      ...(match.requesters !== undefined && { requesters: match.requesters }),
    },
    longest: reader.text(rule, `${path}.`, 'longest'),
    approvals: typeof approvals === 'number' ? approvals : undefined,
    approvers: rule.approvers,
    allow: reader.flag(rule, path, 'allow'),
    breakGlass: reader.flag(rule, path, 'break_glass'),
  };
}
