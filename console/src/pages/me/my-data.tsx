import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { me } from '../../data/session.ts';
import { viewing } from '../../data/view-as.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';

/** Everything that the server knows about the user, as one file. */
export function MyData() {
  const download = useAction(async () => {
    const parts: BlobPart[] = [];
    for await (const part of api.bytes('GET /user/export')) parts.push(part as Uint8Array<ArrayBuffer>);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob(parts, { type: 'application/gzip' }));
    link.download = `atrium-${me.value?.login ?? 'me'}.tar.gz`;
    link.click();
    URL.revokeObjectURL(link.href);
  });
  return (
    <Card
      title="Your data"
      actions={
        <Button
          isBusy={download.isRunning}
          busyLabel="Collecting"
          disabledBecause={viewing.value && 'People export their data themselves.'}
          onClick={() => void download.run()}
        >
          Download my data
        </Button>
      }
    >
      <p>
        One archive with everything that is stored about you: your profile, addresses, organizations, teams, access,
        requests, tokens and sessions, and the audit log about you and of what you did. It has no secrets.
      </p>
      <p class="quiet small">
        If you want to be erased, ask a site administrator: they see what is removed, and what stays and why.
      </p>
      <Fault error={download.error} />
    </Card>
  );
}
