import { Chip } from './bits.tsx';

/** A user in an answer about who may do what. Whoever is deactivated cannot use what they hold. */
export function MarkedName({ of: { name, active } }: { of: { readonly name: string; readonly active?: boolean } }) {
  return (
    <>
      <bdi>{name}</bdi>
      {active === false && <Chip tone="warn">deactivated</Chip>}
    </>
  );
}
