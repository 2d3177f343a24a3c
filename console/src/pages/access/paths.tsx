import { isOnePath, type Path, teamsOn, waysOf } from './proof.ts';
import { ProofPicture } from './proof-picture.tsx';

interface PathsProps {
  readonly user: string;
  readonly paths: readonly Path[];
  readonly hasMore: boolean;
}

/** Every way to a yes, as pictures, and what would be left without each team. */
export function Paths({ user, paths, hasMore }: PathsProps) {
  const [first] = paths;
  if (first === undefined) return null;
  const ways = waysOf(paths);
  if (paths.length === 1) return <Picture path={first} />;
  return (
    <>
      <h2>{hasMore ? `The first ${ways.length} ways` : ways.length === 1 ? '1 way' : `${ways.length} ways`}</h2>
      <ol class="ways">
        {ways.map(({ path, also }, place) => (
          <li key={keyOf(path)}>
            {ways.length > 1 && <h3>Way {place + 1}</h3>}
            <Picture path={path} />
            {also.length > 0 && <p class="quiet small">Also because {also.join('; ')}.</p>}
            <details>
              <summary>The rules and rows that say so</summary>
              <Rows steps={path} />
            </details>
          </li>
        ))}
      </ol>
      {!hasMore && <Without user={user} paths={paths} />}
    </>
  );
}

function Picture({ path }: { path: Path }) {
  if (!isOnePath(path)) return null;
  return (
    <div class="proof-box">
      <ProofPicture path={path} />
    </div>
  );
}

/** Could they still, if they were removed from a team? */
function Without({ user, paths }: Omit<PathsProps, 'hasMore'>) {
  const teams = teamsOn(paths);
  if (teams.length === 0) return null;
  return (
    <>
      <h2>If {user} were removed from a team</h2>
      <ul class="bullets">
        {teams.map(({ object, name, isNeeded }) => (
          <li key={object}>
            Without <bdi class="strong">{name}</bdi>: {isNeeded ? 'then no' : 'still yes'}
          </li>
        ))}
      </ul>
    </>
  );
}

export function Rows({ steps }: { steps: Path }) {
  return (
    <div class="table-box why-rows">
      <table>
        <caption class="only-read">Each line rests on the deeper ones after it</caption>
        <thead>
          <tr>
            <th scope="col">Says</th>
            <th scope="col">Row</th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <tr key={`${step.depth}${step.object}${step.relation}${step.subject}`}>
              <td>{step.text}</td>
              <td class="mono">
                {step.tuple === null
                  ? `rule: ${step.rule}`
                  : `${step.tuple.user} · ${step.tuple.relation} · ${step.tuple.object}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function keyOf(path: Path): string {
  return path.map(({ object, relation, subject }) => `${object}${relation}${subject}`).join(' ');
}
