import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso';
import { useResource } from '../../data/resource.ts';
import { Card, Facts } from '../../parts/bits.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Empty, Show } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import type { CredentialSummary } from './credential-kinds.ts';
import { type CredentialAct, CredentialActions, CredentialDialog, Replaced } from './credentials.tsx';
import { MePage } from './me-page.tsx';

/** One cloud credential. It is found in the list, which has no secrets: the credential itself has them. */
export function CredentialPage() {
  const name = useRoute().params.name ?? '';
  const { route } = useLocation();
  const credentials = useResource('GET /user/credentials', { query: { summary: 'true' } });
  const opened = useSignal<CredentialAct | undefined>(undefined);
  const list = '/me/credentials';
  return (
    <MePage title={name} lead="A cloud credential, sealed on the server." isStale={credentials.isStale}>
      <Show of={credentials}>
        {(all) => {
          const one = (all as unknown as readonly CredentialSummary[]).find((other) => other.name === name);
          if (one === undefined) {
            return (
              <Empty
                text="You have no cloud credential of this name."
                action={<LinkButton href={list}>All credentials</LinkButton>}
              />
            );
          }
          return (
            <Card actions={<CredentialActions one={one} onOpen={(what) => (opened.value = what)} />}>
              <Facts
                of={[
                  { name: 'Type', value: one.type },
                  { name: 'Created', value: <When at={one.creationTimestamp} /> },
                  { name: 'Replaced', value: <Replaced one={one} /> },
                ]}
              />
              {opened.value !== undefined && (
                <CredentialDialog
                  what={opened.value}
                  one={one}
                  onClose={() => (opened.value = undefined)}
                  onDeleted={() => route(list)}
                />
              )}
            </Card>
          );
        }}
      </Show>
    </MePage>
  );
}
