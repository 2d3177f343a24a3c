import { AppError, invalidField } from '../base/errors.ts';
import { readResourceName } from '../base/fields.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';

export interface RobotDraft {
  readonly name: string;
  readonly description: string;
}

export interface Robot extends RobotDraft {
  readonly id: bigint;
  readonly ownerId: bigint;
  readonly createdAt: Date;
  readonly version: number;
}

export interface RobotInput {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
}

export interface RobotStore {
  /** `among` are the only ones that may be shown, if not all may. */
  list(
    ownerId: bigint,
    name: string | undefined,
    request: PageRequest,
    among?: readonly bigint[],
  ): Promise<Page<Robot>>;
  get(ownerId: bigint, id: bigint): Promise<Robot | undefined>;
  create(
    ownerId: bigint,
    draft: RobotDraft,
    actor: Actor,
    once?: Once<Robot>,
  ): Promise<Robot | 'name taken' | undefined>;
  update(
    ownerId: bigint,
    id: bigint,
    decide: (current: Robot) => RobotDraft,
    actor: Actor,
  ): Promise<Robot | 'name taken' | undefined>;
  /** Also removes its tokens. */
  remove(ownerId: bigint, id: bigint, decide: (current: Robot) => void, actor: Actor): Promise<boolean>;
}

export type Robots = ReturnType<typeof createRobots>;

const MAX_DESCRIPTION = 1000;

/** Robots: accounts that programs of an organization use to call us. */
export function createRobots(store: RobotStore) {
  return { list: store.list, get, create, update, remove };

  async function get(ownerId: bigint, id: bigint): Promise<Robot> {
    return settled(await store.get(ownerId, id));
  }

  async function create(
    ownerId: bigint,
    input: RobotInput & { name: string },
    actor: Actor,
    once?: Once<Robot>,
  ): Promise<Robot> {
    const made = await store.create(ownerId, draftOf({ name: '', description: '' }, input), actor, once);
    if (!made) throw new AppError('notFound', 'organization does not exist', { reason: 'organization_not_found' });
    return settled(made);
  }

  async function update(
    ownerId: bigint,
    id: bigint,
    input: RobotInput,
    precondition: (current: Robot) => void,
    actor: Actor,
  ): Promise<Robot> {
    const decide = (current: Robot) => {
      precondition(current);
      return draftOf(current, input);
    };
    return settled(await store.update(ownerId, id, decide, actor));
  }

  async function remove(
    ownerId: bigint,
    id: bigint,
    precondition: (current: Robot) => void,
    actor: Actor,
  ): Promise<void> {
    if (!(await store.remove(ownerId, id, precondition, actor))) throw notFound();
  }
}

function draftOf(current: RobotDraft, { name, description }: RobotInput): RobotDraft {
  if (description !== undefined && [...description].length > MAX_DESCRIPTION) {
    throw invalidField('description', `description must have at most ${MAX_DESCRIPTION} characters`);
  }
  return {
    name: name === undefined ? current.name : readResourceName(name),
    description: description ?? current.description,
  };
}

function settled(outcome: Robot | 'name taken' | undefined): Robot {
  if (outcome === undefined) throw notFound();
  if (outcome === 'name taken')
    throw invalidField('name', 'name is taken by another robot account of the organization', 'name_taken');
  return outcome;
}

function notFound(): AppError {
  return new AppError('notFound', 'robot_ac does not exist', { reason: 'robot_not_found' });
}
