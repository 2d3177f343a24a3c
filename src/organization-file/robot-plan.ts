import { AppError } from '../base/errors.ts';
import { readResourceName } from '../base/fields.ts';
import type { CallerRights } from './caller-rights.ts';
import { createFaults, type FileChange, matchNames, quote } from './file-change.ts';
import type { RobotEntry, Section } from './organization-document.ts';
import type { StoredRobot } from './organization-now.ts';

/** A robot as it is after the file. One that the file creates has a number below zero. */
export interface RobotAfter {
  readonly id: bigint;
  readonly current: StoredRobot | undefined;
  readonly name: string;
  readonly description: string;
}

export interface RobotPlan {
  readonly robots: readonly RobotAfter[];
  readonly deletes: readonly StoredRobot[];
  readonly changes: readonly FileChange[];
  readonly unchanged: number;
  readonly unmanaged: readonly string[];
}

const MAX_DESCRIPTION = 1000;

/** Without the section, everything stays. */
export function planRobots(
  stored: readonly StoredRobot[],
  section: Section<RobotEntry> | undefined,
  rights: CallerRights,
): RobotPlan {
  const faults = createFaults();
  const { pairs, others } = matchNames('robots', section?.items ?? [], stored, faults, (name) => name);
  let fresh = 0n;
  const named = pairs.map(({ entry, place, current }): RobotAfter => {
    const description = entry.description ?? current?.description ?? '';
    if ([...description].length > MAX_DESCRIPTION) {
      faults.add(`robots[${place}].description`, `must have at most ${MAX_DESCRIPTION} characters`);
    }
    const name = entry.name === current?.name ? entry.name : nameOf(entry.name, place);
    return { id: current?.id ?? --fresh, current, name, description };
  });
  faults.settle();
  const deletes = section?.prunes ? others : [];
  const kept = section?.prunes ? [] : others;
  const changes = [...named.flatMap(changeOf), ...deletes.map(deletionOf)];
  return {
    ...{ robots: [...named, ...kept.map((current) => ({ ...current, current }))], deletes, changes },
    unchanged: named.length + deletes.length - changes.length,
    unmanaged: section ? kept.map(({ name }) => name) : [],
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

  function changeOf({ id, current, name, description }: RobotAfter): FileChange[] {
    if (current && current.name === name && current.description === description) return [];
    const words = [
      ...(current && current.name !== name ? [`name ${quote(current.name)} → ${quote(name)}`] : []),
      ...(description === (current?.description ?? '') ? [] : [`description ${quote(description)}`]),
    ];
    const rule = () => {
      if (current) rights.requireRobot(id, 'can_edit', 'edit:robot_ac');
      else rights.require('can_create_robots', 'create_robots:org');
    };
    return [{ section: 'robots', name, kind: current ? 'update' : 'create', words, rule }];
  }

  function deletionOf({ id, name }: StoredRobot): FileChange {
    const rule = () => rights.requireRobot(id, 'can_delete', 'delete:robot_ac');
    return { section: 'robots', name, kind: 'delete', words: [], rule };
  }
}
