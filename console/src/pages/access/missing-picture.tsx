import { Fragment } from 'preact';
import { chainOfMissing, type MissingChain } from './missing-chain.ts';
import type { Explanation } from './proof.ts';
import { Arrow, Box } from './proof-picture.tsx';
import './missing-picture.css';

interface MissingPictureProps {
  readonly explanation: Explanation;
  /** The ID of the element that describes a remedy in words. */
  readonly idOf: (place: number) => string;
}

/**
 * What lies between the person and the object: the links that exist, the missing one as a dashed line, and below it each
 * remedy as a ghost line of its own, which leads to its words.
 */
export function MissingPicture({ explanation, idOf }: MissingPictureProps) {
  const chain = chainOfMissing(explanation);
  if (chain === undefined) return null;
  const { start, links, end } = chain;
  return (
    <figure class="missing-picture">
      <div class="proof-box">
        <ol class="proof" aria-label="What is missing between the person and the object">
          <Box node={start} />
          {links.map(({ node, verb, isMissing }) => (
            <Fragment key={`${verb}${node.object}`}>
              <Arrow verb={verb} isMissing={isMissing} />
              <Box node={node} verb={isMissing ? `is missing: ${verb}` : verb} isMissing={isMissing} />
            </Fragment>
          ))}
        </ol>
      </div>
      <Ghosts chain={chain} explanation={explanation} idOf={idOf} />
      <figcaption class="quiet small">
        A dashed line does not exist{end === undefined ? '' : ', and each remedy would draw it differently'}.
      </figcaption>
      <details>
        <summary class="small">As a table</summary>
        <MissingTable explanation={explanation} />
      </details>
    </figure>
  );
}

function Ghosts({ chain, explanation, idOf }: MissingPictureProps & { readonly chain: MissingChain }) {
  const { remedies = [] } = explanation;
  const { start, end } = chain;
  if (remedies.length === 0 || end === undefined) return null;
  return (
    <ol class="ghosts" aria-label="What would lead there, the least first">
      {remedies.map(({ sentence }, place) => (
        <li key={sentence}>
          <bdi class="ghost-end">{start.name}</bdi>
          <svg class="ghost-line" aria-hidden="true" viewBox="0 0 40 10" preserveAspectRatio="none">
            <path d="M0 5H40" />
          </svg>
          <a href={`#${idOf(place)}`} onClick={(event) => focusOn(event, idOf(place))}>
            {sentence}
          </a>
          <svg class="ghost-line" aria-hidden="true" viewBox="0 0 40 10" preserveAspectRatio="none">
            <path d="M0 5H40" />
          </svg>
          <bdi class="ghost-end">{end.name}</bdi>
        </li>
      ))}
    </ol>
  );
}

function MissingTable({ explanation: { trail, needs } }: { explanation: Explanation }) {
  const rows = [
    ...needs.map((one) => ({ ...one, state: 'is missing' })),
    ...[...trail].reverse().map((one) => ({ ...one, state: 'exists' })),
  ];
  return (
    <div class="table-box why-rows">
      <table>
        <caption class="only-read">The relationships between the person and the object</caption>
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">Relation</th>
            <th scope="col">To</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ user, user_name, relation, object, object_name, state }) => (
            <tr key={`${user}${relation}${object}`}>
              <th scope="row">
                <bdi>{user_name}</bdi> <span class="mono quiet">{user}</span>
              </th>
              <td>{relation}</td>
              <td>
                <bdi>{object_name}</bdi> <span class="mono quiet">{object}</span>
              </td>
              <td>{state}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The address keeps the question, so the focus moves instead of the address. */
function focusOn(event: Event, id: string): void {
  event.preventDefault();
  const found = document.getElementById(id);
  found?.scrollIntoView({ block: 'nearest' });
  found?.focus();
}
