import { askedName } from '../../data/principal.ts';
import type { List } from '../../data/resource.ts';
import { Chip } from '../../parts/bits.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { type AccessRequest, askedFor, requestPath, STATE_TONES } from './request-words.ts';

interface RequestTableProps {
  readonly caption: string;
  readonly of: List<AccessRequest>;
  readonly rows: readonly AccessRequest[];
  /** Of several organizations. */
  readonly hasOrganization?: boolean;
}

export function RequestTable({ caption, of, rows, hasOrganization = false }: RequestTableProps) {
  return (
    <Table
      caption={caption}
      rows={rows}
      keyOf={({ id, organization }) => `${organization}/${id}`}
      hrefOf={requestPath}
      total={of.total}
      hasMore={of.hasMore}
      onMore={of.loadMore}
      columns={[
        { key: 'asks', title: 'Asks for', cell: (row) => <bdi>{askedFor(row)}</bdi> },
        { key: 'by', title: 'Requester', cell: ({ by }) => <bdi>{askedName(by)}</bdi> },
        ...(hasOrganization
          ? [{ key: 'org', title: 'Organization', cell: (row: AccessRequest) => <bdi>{row.organization}</bdi> }]
          : []),
        { key: 'state', title: 'State', cell: (row) => <RequestState of={row} /> },
        { key: 'reason', title: 'Reason', cell: ({ reason }) => <bdi class="cut">{reason}</bdi>, isMinor: true },
        { key: 'until', title: 'Access ends', cell: ({ until }) => <When at={until} />, isMinor: true },
      ]}
    />
  );
}

export function RequestState({ of: { state, break_glass: taken } }: { of: AccessRequest }) {
  return (
    <span class="line">
      <Chip tone={STATE_TONES[state]}>{state}</Chip>
      {taken && <Chip tone="warn">{taken.acknowledged_at ? 'break glass' : 'break glass, not acknowledged'}</Chip>}
    </span>
  );
}
