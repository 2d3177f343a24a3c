import { useEffect } from 'preact/hooks';
import { calls } from '../data/calls.ts';
import { viewing } from '../data/view-as.ts';
import { Icon } from '../icons/icon.tsx';
import { Copy } from '../parts/copy.tsx';

/** What this page asked the server, ready to repeat with curl. */
export function ApiDrawer({ onClose }: { onClose: () => void }) {
  // It is no dialog, because the page stays usable next to it; so Escape is up to us.
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) onClose();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <section class="drawer stack tight" aria-label="API calls">
      <header class="line apart">
        <h2>API calls of this page</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <table>
        <caption class="only-read">Newest first</caption>
        <thead>
          <tr>
            <th scope="col">Call</th>
            <th scope="col">Status</th>
            <th scope="col">Time</th>
            <th scope="col">curl</th>
          </tr>
        </thead>
        <tbody>
          {calls.value.map((call) => (
            <tr key={call.id}>
              <th scope="row" class="mono">
                {call.method} {call.path}
              </th>
              <td>{call.status}</td>
              <td>{Math.round(call.ms)} ms</td>
              <td>
                <Copy text={curlOf(call)} label="Copy as curl" isHidden />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** The token stays a variable: the console never has one. */
export function curlOf({ method, path, body }: { method: string; path: string; body: string | undefined }): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  return [
    'curl',
    ...(method === 'GET' ? [] : ['-X', method]),
    '-H "Authorization: token $TOKEN"',
    ...(viewing.value === undefined ? [] : ['-H', quoted(`Sudo: ${viewing.value.name}`)]),
    ...(body === undefined ? [] : ['--json', quoted(body)]),
    quoted(`${location.origin}${path}`),
  ].join(' ');
}
