import { useResource } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { Loading } from '../../parts/page.tsx';
import { changesBetween, type Draft, draftOf } from './role-draft.ts';

interface ConflictProps {
  readonly org: string;
  readonly roleId: bigint;
  /** What both started from. */
  readonly base: Draft;
  readonly mine: Draft;
  readonly onKeepMine: (etag: string | undefined) => void;
  readonly onTakeTheirs: (theirs: Draft, etag: string | undefined) => void;
}

/** Another user saved the role in the meantime. Neither change is lost without a decision. */
export function Conflict({ org, roleId, base, mine, onKeepMine, onTakeTheirs }: ConflictProps) {
  const { data, etag } = useResource('GET /authz/roles/{id}', { path: { id: roleId }, query: { org } });
  if (!data) return <Loading rows={2} />;
  const theirs = draftOf(data);
  return (
    <section class="note warn stack tight" role="alert" aria-label="Another user changed this role">
      <h3>Another user changed this role in the meantime</h3>
      <Side title="They changed" changes={changesBetween(base, theirs)} />
      <Side title="You changed" changes={changesBetween(base, mine)} />
      <div class="line">
        <Button onClick={() => onKeepMine(etag)}>Save mine over theirs</Button>
        <Button onClick={() => onTakeTheirs(theirs, etag)}>Take theirs</Button>
      </div>
    </section>
  );
}

function Side({ title, changes }: { title: string; changes: readonly string[] }) {
  return (
    <div>
      <span class="strong">{title}</span>
      <ul class="bullets">
        {changes.length === 0 ? <li>nothing</li> : changes.map((change) => <li key={change}>{change}</li>)}
      </ul>
    </div>
  );
}
