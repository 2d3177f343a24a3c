import { orgPath } from '../../data/org.ts';
import { Card } from '../../parts/bits.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { ShareBar } from '../../parts/share-bar.tsx';
import { Table } from '../../parts/table.tsx';
import { type Overview, unusedSentence } from './overview-words.ts';

const KINDS = [
  { kind: 'memberships', title: 'Memberships of teams' },
  { kind: 'assignments', title: 'Assignments of roles' },
  { kind: 'permissions', title: 'Permissions of roles' },
] as const;

/** How much of the access is not used. Nothing if all of it is used, or if that is not known yet. */
export function DormantAccess({ org, overview }: { org: string; overview: Overview }) {
  const { unused_access: unused } = overview;
  const sentence = unusedSentence(overview);
  if (unused === undefined || sentence === undefined) return null;
  return (
    <Card title="Unused access">
      <p>{sentence}</p>
      <Table
        caption="Unused access by kind"
        rows={KINDS.filter(({ kind }) => unused.all[kind] > 0)}
        keyOf={({ kind }) => kind}
        columns={[
          { key: 'kind', title: 'Kind', cell: ({ title }) => title },
          { key: 'unused', title: 'Unused', cell: ({ kind }) => unused[kind], isNumber: true },
          { key: 'all', title: 'All', cell: ({ kind }) => unused.all[kind], isNumber: true },
          {
            key: 'share',
            title: 'Share',
            cell: ({ kind }) => <ShareBar part={unused[kind]} all={unused.all[kind]} tone="warn" />,
            isMinor: true,
          },
        ]}
      />
      <div>
        <LinkButton href={orgPath(org, '/reviews?start=unused')}>Review it</LinkButton>
      </div>
    </Card>
  );
}
