import { titleOf } from '../../../client/object-kinds.ts';
import { objectPath } from '../data/principal.ts';
import { Chip } from './bits.tsx';

interface MarkedNameProps {
  readonly of: { readonly type?: string; readonly name: string; readonly active?: boolean };
}

/** A user or a robot in an answer about who may do what. A deactivated user cannot use what they hold. */
export function MarkedName({ of: { type, name, active } }: MarkedNameProps) {
  return (
    <>
      <bdi>{name}</bdi>
      {type === 'robot_ac' && <Chip>robot</Chip>}
      {active === false && <Chip tone="warn">deactivated</Chip>}
    </>
  );
}

interface ObjectLinkProps {
  readonly org: string;
  readonly of: { readonly type?: string; readonly id: number | bigint | null; readonly name: string };
  /** Says what it is, such as "cluster prod". Of users, the name is enough. */
  readonly isKindShown?: boolean;
}

/** Its name, with a link to its page if it has one. */
export function ObjectLink({ org, of, isKindShown }: ObjectLinkProps) {
  const { type = 'user', name } = of;
  const path = objectPath(org, of);
  return (
    <span class="object">
      {(isKindShown || type === 'team') && <span class="quiet">{titleOf(type)}</span>}{' '}
      {path === undefined ? (
        <bdi>{name}</bdi>
      ) : (
        <a href={path}>
          <bdi>{name}</bdi>
        </a>
      )}
      {type === 'robot_ac' && !isKindShown && <Chip>robot</Chip>}
    </span>
  );
}
