import { useSignal } from '@preact/signals';
import type { ChainResult } from '../../../../client/audit-chain.ts';
import type { Reply } from '../../../../client/client.ts';
import { api } from '../../data/api.ts';
import { Button } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Fault } from '../../parts/fault.tsx';

type Found = Pick<ChainResult, 'entries' | 'firstBroken' | 'lastHash'>;

interface Verdict extends Found {
  readonly by: 'browser' | 'server';
  /** Nothing but that people were erased from entries is in doubt. */
  readonly isUnattested?: boolean;
  /** Since when entries are kept, if earlier ones are archived. */
  readonly archivedBefore?: string | undefined;
}

/** Where a log comes from. */
interface Log {
  /** Every entry, as a line of the export. */
  readonly read: () => AsyncIterable<string>;
  /** The headers of a page of it. */
  readonly look: () => Promise<Pick<Reply<unknown>, 'headers'>>;
  /** Asks the server, for browsers that cannot hash. */
  readonly ask?: ((query: { from?: 'beginning' }) => Promise<Omit<Found, 'lastHash'>>) | undefined;
}

export interface LogCheck {
  readonly run: () => Promise<void>;
  readonly isRunning: boolean;
  readonly whyNot: string | undefined;
  readonly checked: number;
  readonly verdict: Verdict | undefined;
  readonly error: unknown;
}

/** Browsers hash only on pages that came by https, or from the machine itself. */
const canHash = () => globalThis.crypto?.subtle !== undefined;

export function useLogCheck({ read, look, ask }: Log): LogCheck {
  const checked = useSignal(0);
  const isRunning = useSignal(false);
  const verdict = useSignal<Verdict | undefined>(undefined);
  const error = useSignal<unknown>(undefined);

  async function check(): Promise<Verdict> {
    if (canHash() || !ask) {
      const { headers } = await look();
      const archivedBefore = headers.get('X-Archived-Before') ?? undefined;
      const start = headers.get('X-Archived-Hash') ?? undefined;
      const { keys } = await api.call('GET /.well-known/webhook-keys');
      // Most readers of a log do not verify it.
      const { attestationsBy, checkChain } = await import('../../../../client/audit-chain.ts');
      const attests = await attestationsBy(keys.flatMap(({ use, public_key: key }) => (use === 'audit' ? [key] : [])));
      const found = await checkChain(read(), (entries) => (checked.value = entries), start, attests);
      // Where the browser does not know the signatures, the server can look into the deployment's log.
      if (ask && found.firstUnattested !== undefined && !found.isChanged) {
        return { by: 'server', archivedBefore, lastHash: found.lastHash, ...(await ask({ from: 'beginning' })) };
      }
      const isUnattested = found.firstUnattested !== undefined && !found.isChanged;
      return { by: 'browser', archivedBefore, isUnattested, ...found };
    }
    return { by: 'server', lastHash: undefined, ...(await ask({})) };
  }

  async function run(): Promise<void> {
    if (isRunning.peek()) return;
    isRunning.value = true;
    checked.value = 0;
    error.value = verdict.value = undefined;
    try {
      verdict.value = await check();
    } catch (fault) {
      error.value = fault;
    } finally {
      isRunning.value = false;
    }
  }

  return {
    run,
    isRunning: isRunning.value,
    whyNot: canHash() || ask ? undefined : 'Your browser can check it only if the page came by https.',
    checked: checked.value,
    verdict: verdict.value,
    error: error.value,
  };
}

export function CheckButton({ check }: { check: LogCheck }) {
  return (
    <Button
      isBusy={check.isRunning}
      busyLabel="Checking"
      disabledBecause={check.whyNot}
      onClick={() => void check.run()}
    >
      Verify integrity
    </Button>
  );
}

export function CheckOutcome({ check }: { check: LogCheck }) {
  const { isRunning, checked, verdict, error } = check;
  return (
    <>
      <div role="status">
        {isRunning && <p class="quiet">{inWords(checked)} checked</p>}
        {verdict && <Finding verdict={verdict} />}
      </div>
      <Fault error={error} />
    </>
  );
}

function Finding({ verdict }: { verdict: Verdict }) {
  const { by, entries, firstBroken, lastHash, archivedBefore } = verdict;
  const checker = by === 'browser' ? 'checked by your browser' : 'says the server';
  if (verdict.isUnattested) {
    return (
      <div class="note stack tight">
        <p class="strong">A person was erased from entry {firstBroken}, and maybe from later ones.</p>
        <p>
          Their hashes cover texts that are gone. The log of the deployment attests what was erased: a site
          administrator can verify it. All else is intact, {checker}.
        </p>
      </div>
    );
  }
  if (firstBroken !== undefined) {
    return (
      <div class="note bad stack tight">
        <p class="strong">Entry {firstBroken} does not follow from the one before it.</p>
        <p>
          It was changed, or an entry before it was removed or inserted: {checker}. Compare the log with a backup, and
          find out who can write to the database.
        </p>
      </div>
    );
  }
  return (
    <div class="note ok stack tight">
      <p class="strong">
        All {inWords(entries)} entries are intact, {checker}.
      </p>
      {archivedBefore && (
        <p>
          Earlier entries, before {archivedBefore.slice(0, 10)}, are archived: the first entry here follows from them.
        </p>
      )}
      {by === 'server' && !canHash() && <p>Your browser can check it for itself only if the page came by https.</p>}
      {lastHash !== undefined && (
        <>
          <p>Keep the hash of the last entry elsewhere. If it is missing later, the end of the log was cut off.</p>
          <Copy text={lastHash} label="Copy the last hash" />
        </>
      )}
    </div>
  );
}

function inWords(count: number): string {
  return count.toLocaleString('en');
}
