import { AppError } from '../../base/errors.ts';
import { readResourceName } from '../../base/fields.ts';
import type { TrustRuleDraft } from '../../federation/trust-rule.ts';
import type { CallerRights } from '../caller-rights.ts';
import type { RobotEntry, Section } from '../organization-document.ts';
import type { StoredRobot } from '../organization-now.ts';
import { createFaults, type FileChange, matchNames, quote } from './file-change.ts';
import { planTrustRules, type TrustRulePlan, type TrustRuleReader } from './trust-rule-plan.ts';

/** A robot as it is after the file. One that the file creates has a number below zero. */
export interface RobotAfter {
  readonly id: bigint;
  readonly current: StoredRobot | undefined;
  readonly name: string;
  readonly description: string;
  readonly trustRules: TrustRulePlan;
}

export interface RobotPlan {
  readonly robots: readonly RobotAfter[];
  readonly deletes: readonly StoredRobot[];
  readonly changes: readonly FileChange[];
  readonly unchanged: number;
  readonly unmanaged: readonly string[];
}

/** Who may change the trust rules of a robot, and what they may be. */
export interface RobotTrust {
  readonly reader: TrustRuleReader;
  /** Rejects a caller who may not store these. The robot is undefined if the file creates it. */
  requireChange(robotId: bigint | undefined, drafts: readonly TrustRuleDraft[]): Promise<void>;
}

const MAX_DESCRIPTION = 1000;

/** Without the section, everything stays. */
export async function planRobots(
  stored: readonly StoredRobot[],
  section: Section<RobotEntry> | undefined,
  rights: CallerRights,
  rules: RobotTrust,
): Promise<RobotPlan> {
  const faults = createFaults();
  const { pairs, others } = matchNames('robots', section?.items ?? [], stored, faults, (name) => name);
  let fresh = 0n;
  const named: RobotAfter[] = [];
  for (const { entry, place, current } of pairs) {
    const description = entry.description ?? current?.description ?? '';
    if ([...description].length > MAX_DESCRIPTION) {
      faults.add(`robots[${place}].description`, `must have at most ${MAX_DESCRIPTION} characters`);
    }
    const name = entry.name === current?.name ? entry.name : nameOf(entry.name, place);
    const options = { at: `robots[${place}]`, prunes: section?.prunes ?? false, faults, reader: rules.reader };
    const trustRules = await planTrustRules(current?.trustRules ?? [], entry.trustRules, options);
    named.push({ id: current?.id ?? --fresh, current, name, description, trustRules });
  }
  faults.settle();
  const deletes = section?.prunes ? others : [];
  const kept = section?.prunes ? [] : others;
  const changes = [...named.flatMap(changeOf), ...deletes.map(deletionOf)];
  const unnamed = kept.map((current): RobotAfter => ({ ...current, current, trustRules: unchangedRules(current) }));
  const ofNamed = named.flatMap(({ name, trustRules }) =>
    trustRules.unmanaged.map((rule) => `${name}: trust rule ${rule}`),
  );
  return {
    ...{ robots: [...named, ...unnamed], deletes, changes },
    unchanged: named.length + deletes.length - changes.length,
    unmanaged: section ? [...kept.map(({ name }) => name), ...ofNamed] : [],
  };

  function nameOf(text: string, place: number): string {
    try {
      return readResourceName(text);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      faults.add(`robots[${place}].name`, error.message);
      return text;
    }
  }

  function changeOf({ id, current, name, description, trustRules }: RobotAfter): FileChange[] {
    const isPut = !current || current.name !== name || current.description !== description;
    const { puts, deletes: ended, words: ruleWords } = trustRules;
    if (!isPut && ruleWords.length === 0) return [];
    const words = [
      ...(current && current.name !== name ? [`name ${quote(current.name)} → ${quote(name)}`] : []),
      ...(description === (current?.description ?? '') ? [] : [`description ${quote(description)}`]),
      ...ruleWords,
    ];
    const rule = async () => {
      if (current) rights.requireRobot(id, 'can_edit', 'edit:robot_ac');
      else rights.require('can_create_robots', 'create_robots:org');
      if (puts.length + ended.length === 0) return;
      if (!current) rights.require('can_edit_robots', 'edit_robots:org');
      await rules.requireChange(
        current?.id,
        puts.map(({ draft }) => draft),
      );
    };
    return [{ section: 'robots', name, kind: current ? 'update' : 'create', words, rule }];
  }

  function deletionOf({ id, name }: StoredRobot): FileChange {
    const rule = () => rights.requireRobot(id, 'can_delete', 'delete:robot_ac');
    return { section: 'robots', name, kind: 'delete', words: [], rule };
  }
}

function unchangedRules({ trustRules }: StoredRobot): TrustRulePlan {
  return { puts: [], deletes: [], count: trustRules.length, words: [], unmanaged: [] };
}
