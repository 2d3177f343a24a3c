import { RebacError } from '../rebac-error.ts';
import type { ModelJson } from '../syntax.ts';
import { conditionFaults } from './condition-rules.ts';
import { entrypointFaults } from './entrypoints.ts';
import { type Fault, tableOf } from './model-faults.ts';
import { shapeFaults } from './model-shape.ts';
import type { Locate } from './model-source.ts';
import { moduleFaults, nameFaults, repeatedTypeFaults, schemaFaults } from './name-rules.ts';
import { duplicateFaults, relationFaults } from './relation-rules.ts';

/**
 * Rejects a model that OpenFGA's server or the checker of its language rejects, with the place of everything that is
 * wrong. The checker itself is not used, because it crashes on valid models, and because it accepts models that the
 * server rejects.
 */
export function validateModel(json: ModelJson, locate: Locate = () => undefined): void {
  const malformed = [...shapeFaults(json)];
  if (malformed.length > 0) throw invalidModel(malformed);
  const faults = faultsOf({ ...json, type_definitions: json.type_definitions ?? [] });
  if (faults.length === 0) return;
  throw invalidModel(
    faults.map((fault) => {
      const typeName = fault.type === undefined ? undefined : json.type_definitions[fault.type]?.type;
      return `${locate({ ...fault, ...(typeName === undefined ? {} : { typeName }) }) ?? nameOf(fault, typeName)}${fault.message}`;
    }),
  );
}

/** Later rules assume that earlier ones hold, so that one mistake is not reported several times. */
function faultsOf(json: ModelJson): readonly Fault[] {
  const table = tableOf(json);
  const faults = [...nameFaults(table.types), ...schemaFaults(json)];
  if (faults.length > 0) return faults;
  const repeated = [...repeatedTypeFaults(table.types)];
  if (repeated.length === 0) faults.push(...relationFaults(table));
  if (faults.length === 0) faults.push(...repeated, ...duplicateFaults(table));
  if (faults.length === 0) faults.push(...entrypointFaults(table));
  faults.push(...conditionFaults(json), ...moduleFaults(json));
  return faults;
}

/** Where there is no text, the names say what the fault is about. */
function nameOf({ relation, condition }: Fault, typeName: string | undefined): string {
  if (condition !== undefined) return `condition ${condition}: `;
  if (typeName === undefined) return '';
  return relation === undefined ? `type ${typeName}: ` : `${typeName}#${relation}: `;
}

function invalidModel(faults: readonly string[]): RebacError {
  return new RebacError('invalidModel', faults.join('; '));
}
