import type { Item } from '../../../client/client.ts';
import { serverNow } from '../data/server-time.ts';
import { Chip } from './bits.tsx';
import { Button } from './button.tsx';
import { Table } from './table.tsx';
import { scopeInWords } from './token-scopes.ts';
import { hasNotHappened, When } from './when.tsx';

type Token = Item<'GET /robots/{id}/tokens'>;

const OLD_MS = 90 * 86_400_000;

interface TokenTableProps {
  readonly tokens: readonly Token[];
  readonly total?: number | undefined;
  readonly hasMore?: boolean | undefined;
  readonly onMore?: (() => void) | undefined;
  readonly onRevoke: (token: Token) => void;
  /** Absent if the viewer cannot rotate them. */
  readonly onRotate?: ((token: Token) => void) | undefined;
}

/** Tokens never show their text; the last eight characters tell them apart. */
export function TokenTable({ tokens, total, hasMore, onMore, onRevoke, onRotate }: TokenTableProps) {
  return (
    <Table
      caption="Access tokens"
      rows={tokens}
      keyOf={(token) => String(token.id)}
      total={total}
      hasMore={hasMore}
      onMore={onMore}
      columns={[
        { key: 'name', title: 'Name', cell: (token) => <bdi class="strong">{token.name}</bdi> },
        { key: 'last', title: 'Ends in', cell: (token) => <code>{token.token_last_eight}</code>, isMinor: true },
        {
          key: 'scopes',
          title: 'May',
          cell: (token) => (
            <span class="line">
              {token.scopes.map((scope) => (
                <Chip key={scope} tone={scope === 'all' ? 'warn' : 'quiet'}>
                  {scopeInWords(scope)}
                </Chip>
              ))}
              {token.delegated && <Chip>agent</Chip>}
              {token.limits && <Chip tone="quiet">only {limitsInWords(token.limits)}</Chip>}
            </span>
          ),
          isMinor: true,
        },
        {
          key: 'used',
          title: 'Last used',
          cell: (token) =>
            isOld(token) ? (
              <Chip tone="warn">
                <When at={token.last_used_at} />
              </Chip>
            ) : (
              <When at={token.last_used_at} />
            ),
          isMinor: true,
        },
        {
          key: 'expires',
          title: 'Expires',
          cell: (token) => (
            <span class="line">
              {token.expires_soon ? (
                <Chip tone="warn">
                  <When at={token.expires_at} />
                </Chip>
              ) : (
                <When at={token.expires_at} never="never" />
              )}
              {token.replaced_by !== undefined && <Chip tone="quiet">replaced</Chip>}
              {token.beyond_policy.length > 0 && <Chip tone="warn">longer than the rules allow</Chip>}
            </span>
          ),
        },
        {
          key: 'revoke',
          title: '',
          isNumber: true,
          cell: (token) => (
            <span class="line end">
              {onRotate && token.replaced_by === undefined && !token.delegated && (
                <Button label={`Rotate ${token.name}`} onClick={() => onRotate(token)}>
                  Rotate
                </Button>
              )}
              <Button label={`Revoke ${token.name}`} onClick={() => onRevoke(token)}>
                Revoke
              </Button>
            </span>
          ),
        },
      ]}
    />
  );
}

/** Names as they were when the token was created. */
function limitsInWords({ organizations, objects }: NonNullable<Token['limits']>): string {
  return [...organizations.map(({ name }) => name), ...objects.map(({ name }) => name)].join(', ');
}

function isOld({ last_used_at }: Token): boolean {
  return !hasNotHappened(last_used_at) && serverNow() - Date.parse(last_used_at) > OLD_MS;
}
