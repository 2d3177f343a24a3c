import { useSignal } from '@preact/signals';
import type { Answer, Item } from '../../../../client/client.ts';
import { api } from '../../data/api.ts';
import { usePageObject } from '../../data/org.ts';
import { useList } from '../../data/resource.ts';
import { Card, Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Empty, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { scopeInWords } from '../../parts/token-scopes.ts';
import { When } from '../../parts/when.tsx';
import { NewTrustRule } from './new-trust-rule.tsx';
import { TryToken } from './try-token.tsx';

type Robot = Answer<'GET /robots/{id}'>;
type Rule = Item<'GET /robots/{id}/trust_rules'>;

/** Which tokens of build platforms and clusters the robot accepts in place of a stored one. */
export function TrustRules({ robot }: { robot: Robot }) {
  const { whyNot } = usePageObject();
  // Loaded when the user asks: most robots have none, and the page makes calls enough.
  const isOpen = useSignal(false);
  const rules = useList(isOpen.value ? 'GET /robots/{id}/trust_rules' : undefined, { path: { id: robot.id } });
  const dialog = useSignal<'new' | 'try' | undefined>(undefined);
  const deleted = useSignal<Rule | undefined>(undefined);
  const close = () => (dialog.value = undefined);
  return (
    <Card
      title="Trust rules"
      actions={
        <span class="line">
          <Button whyNot={whyNot('can_edit', 'try a token')} onClick={() => (dialog.value = 'try')}>
            Try a token
          </Button>
          <Button
            icon="plus"
            whyNot={whyNot('can_edit', 'add trust rules to this robot')}
            onClick={() => (dialog.value = 'new')}
          >
            New trust rule
          </Button>
        </span>
      }
    >
      {!isOpen.value && <Button onClick={() => (isOpen.value = true)}>Show trust rules</Button>}
      {isOpen.value && (
        <Show of={rules}>
          {(all) =>
            all.length === 0 ? (
              <Empty text="No trust rule yet. With one, a pipeline or a service account signs in as this robot without a stored token." />
            ) : (
              <Table
                caption="Trust rules"
                rows={all}
                keyOf={(rule) => String(rule.id)}
                total={rules.total}
                columns={[
                  { key: 'name', title: 'Name', cell: (rule) => <bdi class="strong">{rule.name}</bdi> },
                  { key: 'issuer', title: 'Issuer', cell: (rule) => <bdi>{rule.issuer}</bdi>, isMinor: true },
                  { key: 'claims', title: 'Claims', cell: (rule) => <Claims of={rule.claims} /> },
                  { key: 'scopes', title: 'May', cell: (rule) => <Scopes of={rule.scopes} />, isMinor: true },
                  { key: 'live', title: 'Live tokens', cell: (rule) => rule.live_tokens, isMinor: true },
                  {
                    key: 'used',
                    title: 'Last used',
                    cell: (rule) => (rule.last_used_at === null ? 'never' : <When at={rule.last_used_at} />),
                  },
                  {
                    key: 'delete',
                    title: '',
                    cell: (rule) => (
                      <Button
                        kind="danger"
                        label={`Delete the trust rule ${rule.name}`}
                        whyNot={whyNot('can_edit', 'delete trust rules of this robot')}
                        onClick={() => (deleted.value = rule)}
                      >
                        Delete
                      </Button>
                    ),
                  },
                ]}
              />
            )
          }
        </Show>
      )}
      {dialog.value === 'new' && <NewTrustRule robot={robot} onClose={close} onCreated={() => (isOpen.value = true)} />}
      {dialog.value === 'try' && <TryToken robot={robot} onClose={close} />}
      {deleted.value && (
        <Confirm
          title={`Delete the trust rule ${deleted.value.name}?`}
          verb="Delete trust rule"
          done={`The trust rule ${deleted.value.name} was deleted.`}
          change={() =>
            api.call('DELETE /robots/{id}/trust_rules/{rule}', {
              path: { id: robot.id, rule: String(deleted.value?.id ?? 0n) },
            })
          }
          onClose={() => (deleted.value = undefined)}
        >
          <p>Tokens that it has issued end immediately, and no program can sign in with it any more.</p>
        </Confirm>
      )}
    </Card>
  );
}

function Claims({ of }: { of: Rule['claims'] }) {
  return (
    <span class="line">
      {Object.entries(of).map(([claim, value]) => (
        <code key={claim}>
          {claim}={value}
        </code>
      ))}
    </span>
  );
}

function Scopes({ of }: { of: Rule['scopes'] }) {
  return (
    <span class="line">
      {of.map((scope) => (
        <Chip key={scope} tone={scope === 'all' ? 'warn' : 'quiet'}>
          {scopeInWords(scope)}
        </Chip>
      ))}
    </span>
  );
}
