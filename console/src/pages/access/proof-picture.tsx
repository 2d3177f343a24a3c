import { Fragment } from 'preact';
import { useOrgName } from '../../data/org.ts';
import { objectPath } from '../../data/principal.ts';
import { chainOf, type Node, type Path } from './proof.ts';

/** Person, team, role, organization, object: the rows of the database that the answer rests on. */
export function ProofPicture({ path }: { path: Path }) {
  const { start, links } = chainOf(path);
  if (start === undefined) return null;
  return (
    <ol class="proof" aria-label="The path from the person to the object">
      <Box node={start} />
      {links.map(({ node, verb }) => (
        <Fragment key={`${verb}${node.object}`}>
          <Arrow verb={verb} />
          <Box node={node} verb={verb} />
        </Fragment>
      ))}
    </ol>
  );
}

export function Arrow({ verb, isMissing = false }: { verb: string; isMissing?: boolean }) {
  return (
    <li class={isMissing ? 'link missing' : 'link'} aria-hidden="true">
      <span>{verb}</span>
      <svg aria-hidden="true" viewBox="0 0 40 10" preserveAspectRatio="none">
        <path d="M0 5H40" />
      </svg>
      <i />
    </li>
  );
}

interface BoxProps {
  readonly node: Node;
  readonly verb?: string;
  /** Nothing leads here yet. */
  readonly isMissing?: boolean;
}

export function Box({ node, verb, isMissing = false }: BoxProps) {
  const org = useOrgName();
  const [type = '', id = ''] = node.object.split(':');
  const href = /^\d+$/.test(id) ? objectPath(org, { type, id: BigInt(id), name: node.name }) : undefined;
  return (
    <li class={isMissing ? 'box missing' : 'box'} data-kind={node.kind}>
      {verb && <span class="only-read">{verb}</span>}
      {href === undefined ? (
        <bdi class="strong">{node.name}</bdi>
      ) : (
        <a class="strong" href={href}>
          <bdi>{node.name}</bdi>
        </a>
      )}
      <span class="mono quiet small">{node.kind}</span>
    </li>
  );
}
