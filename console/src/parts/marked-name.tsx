import { Chip } from './bits.tsx';

interface MarkedNameProps {
  readonly of: { readonly type?: string; readonly name: string; readonly active?: boolean };
}

/** A user or a robot in an answer about who may do what. Whoever is deactivated cannot use what they hold. */
export function MarkedName({ of: { type, name, active } }: MarkedNameProps) {
  return (
    <>
      <bdi>{name}</bdi>
      {type === 'robot_ac' && <Chip>robot</Chip>}
      {active === false && <Chip tone="warn">deactivated</Chip>}
    </>
  );
}
